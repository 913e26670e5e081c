#include <doctest/doctest.h>

#include <algorithm>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

using namespace knn::test;

TEST_CASE("help of the program and of each command") {
    const RunResult all = program({"--help"});
    CHECK(all.exit_code == 0);
    CHECK(all.err.empty());
    CHECK(all.out.find("  evaluate") != std::string::npos);
    CHECK(all.out.find("  info") != std::string::npos);
    for (const std::string command :
         {"evaluate", "classify", "draw", "view", "graph", "condense", "audit", "tune", "compare", "info"}) {
        const RunResult one = program({command, "--help"});
        CHECK(one.exit_code == 0);
        CHECK(one.err.empty());
        CHECK(one.out.find("--data DIR") != std::string::npos);
        CHECK(one.out.find("-h, --help") != std::string::npos);
        CHECK(one.out == program({"help", command}).out);
        CHECK(one.out == program({command, "-h"}).out);
        for (const std::string& line : lines_of(one.out))
            CHECK(line.size() <= 88);
        CHECK(std::all_of(one.out.begin(), one.out.end(), [](char c) { return c > 0; }));  // any locale
    }
}

TEST_CASE("the version") {
    const RunResult version = program({"--version"});
    CHECK(version.exit_code == 0);
    CHECK(version.out.starts_with("mnist-knn "));
    CHECK(lines_of(version.out).size() == 1);
}

TEST_CASE("a wrong command line exits 2 with one error line and the usage") {
    const std::vector<std::vector<std::string>> wrong = {
        {},
        {"evalute"},
        {"--version", "evalute"},
        {"--version", "--foo"},
        {"--help", "--foo"},
        {"evaluate", "--engin", "cpu"},
        {"evaluate", "--eng", "cpu"},  // no abbreviations
        {"evaluate", "-k", "0"},
        {"evaluate", "-k", "-1"},
        {"evaluate", "-k", "5.5"},
        {"evaluate", "-k", "abc"},
        {"evaluate", "-k", "99999999999"},
        {"evaluate", "-k", ""},
        {"evaluate", "-k"},
        {"evaluate", "-k", "1025"},
        {"evaluate", "--vote", "class-mean", "--metric", "cosine"},
        {"classify", "--reject", "50.1%", "x.png"},
        {"classify", "--reject", "5", "x.png"},
        {"classify", "--reject", "%", "x.png"},
        {"evaluate", "-k", "3", "-k", "5"},
        {"evaluate", "--limit-train", "0"},
        {"evaluate", "--limit-test", "-5"},
        {"evaluate", "--batch", "0"},
        {"evaluate", "--threads", "0"},
        {"evaluate", "--engine", "quantum"},
        {"evaluate", "--metric", "l7"},
        {"evaluate", "--weights", "heavy"},
        {"evaluate", "--tie", "bow"},
        {"evaluate", "--device", "tpu"},
        {"evaluate", "--device", "gpu:"},
        {"evaluate", "--color", "red"},
        {"evaluate", "--engine", "classic", "--device", "cpu"},
        {"evaluate", "--engine", "cpu", "--device", "gpu"},
        {"evaluate", "--distance", "float4", "--device", "cpu"},
        {"evaluate", "--select", "bitonic", "--device", "cpu"},
        {"evaluate", "--distance", "no-such-kernel"},
        {"evaluate", "--json", "-", "--predictions", "-"},
        {"evaluate", "--json", "/tmp/a", "--neighbors-csv", "/tmp/../tmp/a"},
        {"evaluate", "surprise"},
        {"evaluate", "--="},
        {"evaluate", "--=5"},
        {"evaluate", "-q-k"},
        {"--="},
        {"-c-sv"},
        {"classify", "--=x", "a.png"},
        {"evaluate", "--tie", "\xff\xfe"},
        {"info", "-k", "3"},
    };
    for (const auto& words : wrong)
        check_usage_error(words);
    CHECK(program({"evaluate", "--engine", "clasic"}).err.find("did you mean classic?") != std::string::npos);
    CHECK(contains(program({"evaluate", "-K", "3"}).err, "-K: unknown option; did you mean '-k'?"));
    CHECK(contains(program({"evaluate", "--batch", "99999999999999999999"}).err,
                   "expected a whole number from 1 to 9223372036854775807"));
    CHECK(program({"evalaute"}).err.find("did you mean 'evaluate'?") != std::string::npos);
    CHECK(program({"evaluate", "--=5"}).err.starts_with("mnist-knn: error: --=5: unknown option; "));
    CHECK(program({"evaluate", "--tie", "\xff\xfe"}).err.starts_with("mnist-knn: error: --tie ??: "));
    CHECK(
        program({"evaluate", "--tie", "a\u202eb\u2028c"}).err.starts_with("mnist-knn: error: --tie a?b?c: "));
    CHECK(program({"evaluate", "-qk", "x"}).err.starts_with("mnist-knn: error: -k x: "));
    CHECK(program({"evaluate", "--neighbours-csv", "x"}).err.find("'--neighbors-csv'") != std::string::npos);
}

TEST_CASE("one training image is an error of the data, or of the --limit-train that leaves it") {
    const Folder folder;
    SmallSet set;
    set.train = 1;
    set.write(folder.path);
    for (const std::vector<std::string>& words : {std::vector<std::string>{"tune"},
                                                  {"graph", "-k", "1"},
                                                  {"audit", "-k", "1"},
                                                  {"condense", "-k", "1", "--out", folder / "new"}}) {
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--device", "cpu", "--data", folder / ""});
        const RunResult result = program(all);
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        all.insert(all.end(), {"--limit-train", "1"});
        check_usage_error(all);
    }
    CHECK(folder.names().size() == 4);
}

TEST_CASE("where memory or threads run out, the error says so") {
    const Folder folder;
    SmallSet().write(folder.path);
    for (const std::string limit : {"45000", "60000", "80000"})  // KiB of addresses; a thread takes 8 MiB
        for (const std::string words : {" evaluate", " evaluate --device cpu --threads 9", " info"}) {
            const std::string command =
                "ulimit -v " + limit + "; exec '" MNIST_KNN_BINARY "'" + words + " --data '" + (folder / "'");
            const RunResult result = run({"/bin/sh", "-c", command});
            if (result.exit_code == 127 || result.err.find("Sanitizer") != std::string::npos)
                return skip("this build does not start in so little memory");
            CAPTURE(result.err);
            CHECK((result.exit_code == 0 || result.exit_code == 1));
            CHECK(result.err.find("temporarily") == std::string::npos);
            CHECK(result.err.find("expected an IDX file") == std::string::npos);
            if (result.exit_code == 1) CHECK(result.err.find("memory") != std::string::npos);
        }
}

TEST_CASE("data, files and devices that fail exit 1 with one error line, before the search") {
    const Folder folder;
    SmallSet().write(folder.path);
    const std::string images = folder / "train-images-idx3-ubyte";
    const Folder large;  // images whose distances do not fit 32 bits
    SmallSet set;
    set.rows = set.cols = 300;
    set.train = set.test = 3;
    set.write(large.path);
    const std::vector<std::vector<std::string>> failing = {
        {"evaluate", "--data", "/nonexistent"},
        {"evaluate", "--data", "two\nlines"},
        {"evaluate", "--data", folder / "", "--test-images", images + "x"},
        {"evaluate", "--data", folder / "", "--test-images", folder / "train-labels-idx1-ubyte"},
        {"evaluate", "--device", "gpu:77"},
        {"evaluate", "--data", folder / "", "--report", images},
        {"evaluate", "--data", folder / "", "--report", images + "/below"},
        {"evaluate", "--data", folder / "", "--json", images + "/below"},
        {"info", "--data", folder / "", "--write-synthetic", images},
        {"evaluate", "--data", large / "", "--device", "cpu", "-k", "1"},
        {"view", "--data", large / "", "--device", "cpu", "-k", "1", "--text"},
        {"classify", "--data", large / "", "a.png"},
        {"info", "--data", large / ""},
    };
    for (const auto& words : failing) {
        const RunResult result = program(words);
        std::string line;
        for (const std::string& word : words)
            line += word + " ";
        CAPTURE(line);
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
    }
    CHECK(folder.names().size() == 4);  // nothing was added
}
