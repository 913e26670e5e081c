/// Help, and the errors of every command line that is refused, over one table.

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

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
        for (const std::string& line : lines_of(one))
            CHECK(line.size() <= 88);
        CHECK(std::ranges::all_of(one, [](char c) { return c > 0; }));  // any locale
    }
    check_contains(program("classify --help").out, {"(default accurate)"});
    check_contains(program("evaluate --help").out, {"(default raw)"});
}

namespace {

/// Unknown words, and what a parser of values refuses, are in unit tests: app/cli/values_test.cpp and option_table_test.cpp,
/// app/bench/plan_test.cpp, data/transform/spec_test.cpp.
struct Mistake {
    Words words;
    std::string part = "";      ///< of the error line
    bool needs_opencv = false;  ///< a build without it says that first
};

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = {
        {{}},
        {"--version evalute"},
        {"--version --foo"},
        {"--="},
        {"-c-sv"},
        {"evaluate --eng cpu"},  // no abbreviations
        {"evaluate --="},
        {"evaluate --=5", "error: --=5: unknown option; "},
        {"evaluate -q-k"},
        {"evaluate -qk x", "error: -k x: "},
        {"evaluate -K 3", "-K: unknown option; did you mean '-k'?"},
        {"classify --=x a.png"},
        // Values.
        {"evaluate --data . -k 41", "k = "},
        {"evaluate --data . -k 9 --limit-train 8", "k = "},
        {"evaluate --limit-train 0"},
        {"evaluate --batch 99999999999999999999", "expected a whole number from 1 to 9223372036854775807"},
        {{"evaluate", "--tie", "\xff\xfe"}, "error: --tie ??: "},
        {{"evaluate", "--tie", "a\u202eb\u2028c"}, "error: --tie a?b?c: "},
        {"evaluate --color red"},
        {"evaluate --spread both"},
        // Engines and devices.
        {"evaluate --device gpu:"},
        {"evaluate --device gpu:0,"},
        {"evaluate --device gpu:0,0"},
        {"evaluate --device gpu:,1"},
        {"evaluate --device gpu:0,x"},
        {"evaluate --device gpu:all,1"},
        {"evaluate --engine cpu --device gpu"},
        {"evaluate --distance float4 --device cpu"},
        {"evaluate --select bitonic --device cpu"},
        {"evaluate --select nth_element --device gpu"},
        // Metrics.
        {"evaluate --metric lp", "expected --p P"},
        {"evaluate --metric l2 --p 3"},
        {"evaluate --metric cosine --p 2"},
        {"evaluate --p 2"},
        {"evaluate --metric lp --p 16"},
        {"view --metric lp"},
        {"classify --metric lp a.png"},
        {"classify --p 3 a.png"},
        // Methods, transforms, re-rankers.
        {{"evaluate", "--method", ""}},
        {"evaluate --method raw --method gradients"},
        {"evaluate --transform deskew --transform blur"},
        {"evaluate --data . --transform pca:41",
         "error: transform pca: 41 components of 40 images of 99 bytes; expected 1 to 40\n"},
        {"evaluate --data . --transform pca:10 --limit-train 9"},
        {"graph --data . --transform pca:41"},
        {"view --data . --transform pca:41 --text"},
        {"evaluate --rerank both --candidates 10 -k 50"},
        {"evaluate --data . --device cpu --metric cosine --rerank spread",
         "--rerank spread: scales integers, which distances by cosine are not"},
        {"tune --rerank spread:3:mean:times:2"},
        // Outputs.
        {"evaluate --json - --predictions -"},
        {"evaluate --json /tmp/a --neighbors-csv /tmp/../tmp/a"},
        {"info --write-synthetic new --json -"},
        {"view --html /dev/stdout --text"},
        {"view --sheet x.jpg", "what is written is PNG; expected a name in .png", true},
        {"view --from nowhere --sheet x", "what is written is PNG; expected a name in .png", true},
        {"view --from r --text --html -"},
        {"view --from r --text --sheet -", "", true},
        {"view --from r --text --sheet x.png --html x.png", "", true},
        {"classify a.pgm --explain x.jpg", "what is written is PNG; expected a name in .png"},
        {"classify a.pgm --json x.png --explain ./x.png"},
        {"classify a.pgm --json /dev/stdout --explain -"},
        {"condense --out -"},
        {"compare a b --json x --csv x"},
        // What a command takes.
        {"view --from r --text --true 256"},
        {"view --from r --text --predicted 5"},  // no label of this data set
        {"view --from r --text --index 17"},
        {"view --from r --text --order size"},
        {"view --from r --text --limit 0"},
        {"view --from r --text -k 5"},
        {"view --from r --text --weights distance"},
        {"view --from r --text --limit-test 5"},
        {"view --from r --text --from again"},
        {"view --from r --text --json -"},
        {"view --from r --metric l1"},
        {"view --from r --p 3"},
        {"view --from r --transform deskew"},
        {"view --from r --method gradients"},
        {"classify"},
        {"classify - -", "", true},
        {"classify a.pgm --limit-test 5"},
        {"classify a.pgm --rotate 45"},
        {"classify a.pgm --pixels"},
        {"classify a.pgm --report r2"},
        {"classify a.pgm --expected --many"},
        {"classify a.pgm --reject 0.5"},
        {"classify a.pgm --reject 5"},
        {"classify a.pgm --reject maybe"},
        {"classify a.pgm --reject -1%"},
        {"classify a.pgm --reject 50.1%"},
        {"classify a.pgm --reject %"},
        {"classify a.pgm --reject x%"},
        {"classify a.pgm --reject nan%"},
        {{"classify", "a.pgm", "--reject", ""}},
        {"compare"},
        {"compare a"},
        {"compare a b c"},
        {"condense"},
        {"condense --out x --rule hart"},
        {"graph --form mutual --npy g"},
        {"graph --npy -"},
        {"graph --images train-images-idx3-ubyte --data ."},
        {"audit --data . --limit-train 1"},
        {"audit --data . --plant 41"},
        {"audit --data . --csv x --html ./x"},
        {"tune --data . -k 0"},
        {"tune --data . -k 5-3"},
        {"tune --data . -k 1-2000"},
        {"tune --data . -k 1-"},
        {"tune --data . -k 1-40", "expected at most 39"},
        {"tune --data . --metric lp"},
        {"tune --data . --p 3"},
        {"tune --data . --method none"},
        {"tune --data . --vote class-mean --metric cosine"},
        {"tune --data . --candidates 20 --vote majority"},
        {"tune --data . --candidates 20 --metric cosine"},
        {"tune --data . --limit-train 1"},
        {"tune --data . --limit-test 3"},
        {"tune --data . extra"},
        {"tune --data . --json x --csv ./x"},
        {"tune --data . --save raw"},  // --method would not read the file
        {"tune --data . --save gradients"},
        {"tune --data . --save accurate"},
        {"tune --data . --rerank both --candidates 12 -k 1-13", "-k 13"},
        {"tune --data . --rerank both --candidates 12 -k 1-13", "expected at most 12"},
        // bench.
        {"bench --case garrett --device gpu:all"},
        {"bench --case graph --device gpu:all"},
        {"bench --case rerank --device gpu:all"},
        {"bench --case graph --data . --device cpu -k 40", "expected at most 39"},
        {"bench --plot x.png", "what is written is SVG; expected a name in .svg"},
        {"bench --dim 70000 --n-train 5 --n-query 5", "out of range"},
        {"bench --json a --csv a", "the same place"},
        {"bench --metric lp", "expected --p P with it"},
        {"bench --limit-train 3", "--limit-train: unknown option; did you mean '--n-train'?"},
        {"bench --limit-test=3", "--limit-test=3: unknown option; did you mean '--n-query'?"},
        {"bench --data . --device cpu --n-train 30 --n-query 9 -k 31"},
        {"bench --data . --device cpu --n-train 41", "the data set has 40"},
    };
    return all;
}

}  // namespace

TEST_CASE("a wrong command line exits 2 with one error line and the usage, and writes nothing") {
    const Work work({.rows = 11, .cols = 9});
    work.output("evaluate --report r");
    const auto before = work.folder.names();
    for (const Mistake& one : mistakes()) {
        if (one.needs_opencv && !has_opencv) continue;
        CAPTURE(one.words.line());
        check_error(work.plain(one.words), 2, one.part);
    }
    if (!has_cuda) check_error(program("bench --only multiselect"), 2);  // no such name
    CHECK(work.folder.names() == before);
}

TEST_CASE("one training image is an error of the data, or of the --limit-train that leaves it") {
    const Work work({.train = 1});
    for (const Words words : {"tune", "graph -k 1", "audit -k 1", "condense -k 1 --out new"}) {
        CAPTURE(words.line());
        check_error(work.run(words), 1);
        check_error(work.run(words + "--limit-train 1"), 2);
    }
    CHECK(work.folder.names().size() == 4);
}

TEST_CASE("where memory or threads run out, the error says so") {
    const Work work;
    for (const std::string limit : {"45000", "60000", "80000"})  // KiB of addresses; a thread takes 8 MiB
        for (const std::string words : {" evaluate", " evaluate --device cpu --threads 9", " info"}) {
            const std::string command = "ulimit -v " + limit + "; exec '" MNIST_KNN_BINARY "'" + words +
                                        " --data '" + (work.folder / "'");
            const RunResult result = run({"/bin/sh", "-c", command});
            if (result.exit_code == 127 || contains(result.err, "Sanitizer"))
                return skip("this build does not start in so little memory");
            CAPTURE(result.err);
            CHECK((result.exit_code == 0 || result.exit_code == 1));
            CHECK(!contains(result.err, "temporarily"));
            CHECK(!contains(result.err, "expected an IDX file"));
            if (result.exit_code == 1) CHECK(contains(result.err, "memory"));
        }
}

TEST_CASE("data, files and devices that fail exit 1 with one error line, before the search") {
    const Work work;
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
             "info --data . --write-synthetic " + images,
             "evaluate --device cpu -k 1 --data " + data,
             "view --device cpu -k 1 --text --data " + data,
             "classify a.png --data " + data,
             "tune --data none",
             "tune --train-images " + images + " --train-labels " + images,
         }) {
        CAPTURE(words.line());
        check_error(work.plain(words), 1);
    }
    const RunResult info = program("info --data " + data);  // tells all else
    CHECK(info.exit_code == 1);
    CHECK(is_one_error_line(info.err));
    check_error(program("bench --device gpu:99 --dim 4 --n-train 9 --n-query 2"), 1, "--device gpu:99: no ");
    CHECK(work.folder.names().size() == 4);  // nothing was added
}
