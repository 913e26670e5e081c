/// Help, and the errors of every command line that is refused, over one table.

#include "tests/cli/program.h"

using namespace knn::test;

TEST_CASE("the version, and help of the program and of each command") {
    CHECK(lines_of(silent_output(program("--version"))).size() == 1);
    check_contains(silent_output(program("--help")), {"  evaluate", "  info"});
    for (const std::string command :
         {"evaluate", "classify", "draw", "view", "graph", "condense", "audit", "tune", "compare", "info"}) {
        const std::string one = silent_output(program({command, "--help"}));
        check_contains(one, {"--data DIR", "-h, --help"});
        CHECK(one == program({"help", command}).out);
        CHECK(one == program({command, "-h"}).out);
        CHECK(one == program({command, "-hq"}).out);
        const std::string all = silent_output(program({command, "--help=all"}));
        CHECK(lines_of(all).size() >= lines_of(one).size());
        for (const std::string& line : lines_of(one + all))
            CHECK(line.size() <= 80);
        CHECK(std::ranges::all_of(one + all, [](char c) { return c > 0; }));  // any locale
    }
    CHECK(program("classify -rqh a.png").out == program("classify -h").out);
    check_error(program("classify -kh a.png"), 2, "-k h: not a whole number");
    check_error(program("classify -xh a.png"), 2, "-xh: unknown option");
    check_contains(program("classify --help").out, {"(default accurate)"});
    check_contains(program("evaluate --help").out, {"(default raw)"});
    for (const auto& [command, part] :
         {std::pair("graph", "64 MiB, or as much again as these, 40 bytes an image"),
          {"graph", "up to 24 k + 60 bytes an image"},
          {"classify", "field of a form"},
          {"evaluate", "(default 96, or -k"},
          {"tune", "(default 96; by class-mean without"}}) {
        std::string text;
        for (const std::string& word : Words(program({command, "--help=all"}).out))
            text += word + ' ';
        CHECK(contains(text, part));
    }
}

TEST_CASE_FIXTURE(Work, "defaults that depend on the machine are told as they are on this one") {
    RunOptions options;
    const auto help = [&](const Words& words) {
        std::string text;
        for (const std::string& word : Words(program(words, options).out))
            text += word + ' ';
        return text;
    };
    const auto info = nlohmann::json::parse(program("info --json -").out);
    const bool gpu = info["devices"][0]["kind"] == "gpu";
    const std::string here = "if not given, here: ", threads = info["devices"].back()["threads"].dump();
    for (const Words words : {"evaluate --help", "evaluate --help=all", "bench --help"}) {
        CHECK(contains(help(words), "--data DIR folder with the four IDX files, each plain or .gz"));
        CHECK(contains(help(words), here + "built-in synthetic digits "));
        CHECK(contains(help(words), "gpu:all; " + here + (gpu ? "gpu:0 " : "cpu ")));
    }
    check_contains(help("evaluate --help=all"),
                   {("(default: all); " + here + threads + " ").c_str(),
                    ("a named GPU engine needs a GPU; " + here + (gpu ? "classic " : "cpu ")).c_str()});
    options.environment["MNIST_KNN_DATA"] = folder.path().string();
    CHECK(contains(help("evaluate --help"), here + folder.path().string()));
    options.environment["MNIST_KNN_DATA"] = "/nonexistent";
    CHECK(contains(help("evaluate --help"), here + "none, "));
}

namespace {

/// What is refused after the words of a command line were read. Before: app/cli/option_table_test.cpp and values_test.cpp,
/// app/bench/plan_test.cpp, data/transform/spec_test.cpp.
struct Mistake {
    Words words;
    std::string part;           ///< of the error line
    bool needs_opencv = false;  ///< a build without it says that first
};

const std::vector<Mistake>& mistakes() {
    const std::string not_40 =
        "error: k = 40 is out of range; expected at most 39, the rows that can be neighbors";
    static const std::vector<Mistake> all = {
        {{}, ""},
        {"evaluate --data . -k 9 --limit-train 8", "k = "},
        {"evaluate --data . --device cpu --sketch 128 --metric l1",
         "sketches bound distances by l2, cosine and pearson; expected one of them, or --sketch auto"},
        {"evaluate --data . --device cpu --sketch 64 --select nth_element",
         "takes no sketches; expected --sketch auto"},
        {{"evaluate", "--tie", "\xff\xfe"}, "error: --tie ??: "},
        {{"evaluate", "--tie", "a\u202eb\u2028c"}, "error: --tie a?b?c: "},
        {"evaluate --data . --device cpu --memory 98",
         "error: --memory 98: no row fits; expected at least 99 bytes"},
        {"evaluate --data . --device cpu --memory 791 --transform zscore",
         "error: --memory 791: no row fits; expected at least 792 bytes"},
        {"evaluate --data . --transform pca:41",
         "error: transform pca: 41 components of 40 images of 99 bytes; expected 1 to 40\n"},
        {"evaluate --data . --device cpu --metric cosine --rerank spread",
         "--rerank spread: scales integers, which distances by cosine are not"},
        {"view --from r --text --sheet -", "", true},
        {"view --from r --text --sheet x.png --html x.png", "", true},
        {"classify - -", "", true},
        // k, with one message; "graph" has its own test.
        {"evaluate --data . -k 41", "error: k = 41 is out of range; expected at most 40, the rows"},
        {"audit --data . -k 40", not_40},
        {"tune --data . -k 40", not_40},
        {"condense --data . -k 40 --out x", not_40},
        {"audit --data . -k 30 --limit-train 20", "expected at most 19"},
        {"tune --data . -k 1-40", "expected at most 39"},
        {"tune --data . --rerank both --candidates 12 -k 1-13",
         "-k 13: more than the 12 candidates that are re-ranked; expected at most as many, or --candidates "
         "13"},
        {"evaluate --data . --rerank both --candidates 12 -k 13",
         "-k 13: more than the 12 candidates that are re-ranked; expected at most as many, or --candidates "
         "13"},
        {"bench --case graph --data . --device cpu -k 40", "expected at most 39"},
        {"bench --dim 70000 --n-train 5 --n-query 5", "out of range"},
        {"bench --json a --csv a", "the same place"},
        {"bench --case graph --train t.csv --test-labels l.csv",
         "--test-labels: the case graph takes no test set"},
        {"bench --case transforms --data . --test-images a",
         "--test-images: the case transforms takes no test set"},
        {"bench --select nth_element", has_cuda ? "unknown name" : "no GPU kernels; expected a build with"},
        {"bench --distance tensor_mma", has_cuda ? "unknown name" : "no GPU kernels; expected a build with"},
        {"bench --engine auto", "--engine auto: unknown name; expected tensor, classic or cpu"},
        {"bench --data . --device cpu --n-train 41", "the data set has 40"},
    };
    return all;
}

/// Beginnings and ends of command lines of which any error line will do.
const std::pair<std::string, const char*> refused[] = {
    {"evaluate ",
     "--engine cpu --device gpu;--distance float4 --device cpu;--select bitonic --device cpu;"
     "--select nth_element --device gpu;--data . --transform pca:10 --limit-train 9;--json - --predictions -;"
     "--json /tmp/a --neighbors-csv /tmp/../tmp/a"},
    {"graph ", "--data . --transform pca:41;--form mutual --npy g;--images train-images-idx3-ubyte --data ."},
    {"view ", "--data . --transform pca:41 --text;--html /dev/stdout --text"},
    {"view --from r ",  // 5 is no label of this data set
     "--text --html -;--text --predicted 5;--text --index 17;--text -k 5;--text --weights distance;"
     "--text --limit-test 5;--metric l1;--transform deskew;--method gradients"},
    {"classify a.pgm ",
     "--json x.png --explain ./x.png;--json /dev/stdout --explain -;--pixels;--json-version 1;"
     "--json - --json-version 3;--report r2;--expected --many;--expected --grid 9x9;--many --numbers;"
     "--grid 9x9 --template t.json"},
    {"info ", "--write-synthetic new --json -;--write-synthetic new --data ."},
    {"condense", "; --out -"},
    {"compare ", "a b --json x --csv x"},
    {"audit --data . ", "--plant 41;--csv x --html ./x"},
    {"tune --data . ",  // of the last three --method would not read the file
     "--vote class-mean --metric cosine;--candidates 20 --vote majority;--candidates 20 --metric cosine;"
     "--json x --csv ./x;--save raw;--save gradients;--save accurate"},
    {"bench ",
     "--case garrett --device gpu:all;--case graph --device gpu:all;--case rerank --device gpu:all;"
     "--data . --device cpu --n-train 30 --n-query 9 -k 31"},
};

}  // namespace

TEST_CASE("a wrong command line exits 2 with one error line and the usage, and writes nothing") {
    const Work work({.rows = 11, .cols = 9});
    work.output("evaluate --report r");
    const auto before = work.folder.names();
    for (const Mistake& one : mistakes()) {
        if (one.needs_opencv && !has_opencv) continue;
        check_error(work.plain(one.words), 2, one.part);
    }
    for (const auto& [begin, ends] : refused) {
        std::istringstream stream(ends);
        for (std::string end; std::getline(stream, end, ';');)
            check_error(work.plain(begin + end), 2);
    }
    if (!has_cuda) check_error(program("bench --only multiselect"), 2);  // no such name
    CHECK(work.folder.names() == before);
}

TEST_CASE("one training image is an error of the data, or of the --limit-train that leaves it") {
    const Work work({.train = 1});
    for (const Words words : {"tune", "graph -k 1", "audit --method raw -k 1", "condense -k 1 --out new"}) {
        check_error(work.run(words), 1);
        check_error(work.run(words + "--limit-train 1"), 2);
    }
    CHECK(work.folder.names().size() == 4);
}

TEST_CASE_FIXTURE(Work, "where memory or threads run out, the error says so") {
    for (const std::string limit : {"45000", "60000", "80000"})  // KiB of addresses; a thread takes 8 MiB
        for (const std::string words : {" evaluate", " evaluate --device cpu --threads 9", " info"}) {
            const std::string command =
                "ulimit -v " + limit + "; exec '" MNIST_KNN_BINARY "'" + words + " --data '" + (folder / "'");
            const RunResult result = knn::test::run({"/bin/sh", "-c", command});
            if (result.exit_code == 127 || contains(result.err, "Sanitizer"))
                return skip("this build does not start in so little memory");
            CHECK((result.exit_code == 0 || result.exit_code == 1));
            CHECK(!contains(result.err, "temporarily"));
            CHECK(!contains(result.err, "expected an IDX file"));
            if (result.exit_code == 1) CHECK(contains(result.err, "memory"));
        }
}

TEST_CASE_FIXTURE(Work, "data, files and devices that fail exit 1 with one error line, before the search") {
    // Images whose distances do not fit 32 bits.
    const Work large({.rows = 300, .cols = 300, .train = 3, .test = 3});
    const std::string images = "train-images-idx3-ubyte", data = large.folder / "";
    for (const Words& words : std::vector<Words>{
             "evaluate --data /nonexistent",
             {"evaluate", "--data", "two\nlines"},
             "evaluate --data . --test-images " + images + "x",
             "evaluate --data . --test-images train-labels-idx1-ubyte",
             "evaluate --device gpu:77",
             "evaluate --data . --report " + images,
             "evaluate --data . --report " + images + "/below",
             "evaluate --data . --json " + images + "/below",
             "info --write-synthetic " + images,
             "evaluate --device cpu -k 1 --data " + data,
             "view --device cpu -k 1 --text --data " + data,
             "classify a.png --data " + data,
             "tune --data none",
             "tune --train-images " + images + " --train-labels " + images,
         }) {
        check_error(plain(words), 1);
    }
    check_error(program("bench --device gpu:99 --dim 4 --n-train 9 --n-query 2"), 1, "--device gpu:99: no ");
    CHECK(folder.names().size() == 4);  // nothing was added
}
