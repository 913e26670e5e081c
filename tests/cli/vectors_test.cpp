/// Vectors of any kind as a user reads, searches and generates them.

#include "tests/cli/program.h"
#include "tests/support/npy_bytes.h"

using namespace knn::test;

namespace {

/// Three classes around (0, 0), (4, 0) and (0, 4), four columns.
std::string flowers(int each, int from, bool header = true) {
    const char* names[] = {"setosa", "versicolor", "virginica, late"};
    std::string text = header ? "a,b,c,d,species\n" : "";
    for (int i = from; i < from + each; ++i)
        for (int c = 0; c < 3; ++c) {
            const double x = (c == 1 ? 4 : 0) + 0.125 * (i % 7), y = (c == 2 ? 4 : 0) + 0.25 * (i % 5);
            text += std::to_string(x) + ',' + std::to_string(y) + ",0.5," + std::to_string(i % 3) + ",\"" +
                    names[c] + "\"\n";
        }
    return text;
}

struct Flowers {
    Flowers() {
        write(folder / "train.csv", flowers(20, 0));
        write(folder / "test.csv", flowers(5, 20));
    }
    RunResult run(const Words& words) const { return program(words, {.folder = folder.path().string()}); }
    std::string output(const Words& words) const { return output_of(run(words)); }
    std::string file(const std::string& name) const { return read_file(folder / name); }

    Folder folder;
};

const Words files = "--train train.csv --test test.csv --label-column species --device cpu";

/// Squared differences, as the program defines them for rows that are not uint8.
double distance(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    double sums[8] = {};
    for (std::size_t j = 0; j < 4; ++j) {
        const double d = std::stod(a[j]) - std::stod(b[j]);
        sums[j] = std::fma(d, d, sums[j]);
    }
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

TEST_CASE_FIXTURE(Flowers, "vectors: evaluate reads a CSV, and its classes keep their names") {
    const std::string text = output("evaluate -k 3 --report report --neighbors-csv n.csv" + files);
    check_contains(text, {"data      train: 60 training and 15 test rows of 4 float64 columns, 3 classes",
                          "accuracy 100.00 %: 15 of 15 right", "versicolor", "ms/row"});
    const auto report = nlohmann::json::parse(file("report/report.json"));
    const auto& dataset = report["dataset"];
    CHECK(dataset["name"] == "train");
    CHECK(dataset["type"] == "float64");
    CHECK(dataset["columns"] == 4);
    CHECK(dataset["train"] == 60);
    CHECK(dataset["label_column"] == "species");
    CHECK(dataset["files"] == nlohmann::json::array({"train.csv", "", "test.csv", ""}));
    CHECK(!dataset.contains("rows"));
    CHECK(report["result"]["labels"] == nlohmann::json::array({"setosa", "versicolor", "virginica, late"}));
    CHECK(report["result"]["per_class"][1]["label"] == "versicolor");
    const std::string predictions = file("report/predictions.csv");
    CHECK(contains(predictions, "\n0,setosa,setosa,"));
    CHECK(contains(predictions, "\n2,\"virginica, late\",\"virginica, late\","));
    check_contains(file("report/index.html"), {"versicolor", "virginica, late", ">Rows</th>", "µs / row"});
    CHECK(fs::exists(folder / "report/confusion.png") == has_opencv);

    const auto rows = csv_rows(file("n.csv")), train = csv_rows(file("train.csv")),
               test = csv_rows(file("test.csv"));
    REQUIRE(rows.size() == 1 + 15 * 3);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto query = std::stoul(rows[i][0]), index = std::stoul(rows[i][2]);
        CHECK(std::stod(rows[i].back()) == distance(test[query + 1], train[index + 1]));
    }
}

TEST_CASE_FIXTURE(Flowers, "vectors: the other commands take them") {
    const Words train = "--train train.csv --label-column species --device cpu";
    check_contains(output("tune -k 1-3" + train),
                   {"60 training rows of 4 float64 columns, 3 classes", "best:"});
    check_contains(output("graph -k 2 --npy g --json g.json --csv g.csv" + train),
                   {"60 rows of 4 float64 columns"});
    CHECK(contains(file("g-distances.npy"), "'<f8'"));
    const auto graph = nlohmann::json::parse(file("g.json"));
    CHECK(graph["data"]["columns"] == 4);
    CHECK(graph["graph"]["in_degree"]["hubs"][0]["label"].is_string());
    const auto rows = csv_rows(file("g.csv")), points = csv_rows(file("train.csv"));
    for (std::size_t i = 1; i < rows.size(); ++i)
        CHECK(std::stod(rows[i][3]) ==
              distance(points[std::stoul(rows[i][0]) + 1], points[std::stoul(rows[i][2]) + 1]));

    check_contains(output("audit -k 3 --csv a.csv --json a.json --plant 3" + train),
                   {"60 training rows of train.csv"});
    CHECK(contains(file("a.csv"), "setosa"));
    check_contains(output("condense -k 3 --out small" + train), {"60 rows from train.csv", "in small"});
    CHECK(contains(file("small/train.npy"), "'<f8'"));
    CHECK(contains(file("small/train-labels.csv"), "versicolor"));
    check_contains(
        output(
            "evaluate -q -k 1 --train small/train.npy --test test.csv --label-column species --device cpu"),
        {"15 of 15 right"});
    check_contains(output("bench -q --seconds 0.01 --repeat 3 --train train.csv --test test.csv "
                          "--label-column species --device cpu"),
                   {"train: 60 training and 15 test rows of 4 float64 columns"});
    check_contains(output("bench -q --seconds 0.01 --repeat 3 --case graph" + train),
                   {"train: 60 training rows of 4 float64 columns, each a query among all of them"});
}

TEST_CASE_FIXTURE(Flowers, "vectors: compare and view --from find the files again") {
    output("evaluate -q -k 1 --report a" + files);
    output("evaluate -q -k 60 --report b" + files);
    const std::string text = output("compare a b --csv c.csv --html c.html --json c.json");
    check_contains(text, {"only A right", "setosa"});
    CHECK(contains(text, "rows that only one gets right"));
    CHECK(contains(file("c.csv"), "versicolor"));
    for (const Words words : {"view --from a --text", "serve --port 0 --report a"})
        check_error(run(words), 1,
                    "a/report.json: is of rows of 4 columns, not images; expected a report of images");
    // A training set with one class more numbers the others otherwise.
    write(folder / "more.csv", file("train.csv") + "5.0,3.0,1.5,0.2,a third\n");
    output(
        "evaluate -q -k 1 --report c --train more.csv --test test.csv --label-column species --device cpu");
    const std::string more = output("compare a c --html c.html --json c.json");
    check_contains(more, {"exactly the same rows right", "more.csv"});
    CHECK(json::parse(file("a/report.json"))["dataset"]["test_checksum"] ==
          json::parse(file("c/report.json"))["dataset"]["test_checksum"]);
    // A label above 255 in one training set gives all labels names.
    write(folder / "few.csv", "x,label\n1,1\n5,2\n9,1\n");
    write(folder / "large.csv", "x,label\n1,1\n5,2\n9,300\n");
    for (const char* train : {"few", "large"})
        output(Words{"evaluate", "-q", "-k", "1", "--device", "cpu", "--test", "few.csv", "--report", train} +
               (Words{"--train"} + (train + std::string(".csv"))));
    check_contains(output("compare few large"), {"both right    2", "only A right  1"});
    auto report = nlohmann::json::parse(file("b/report.json"));
    report["dataset"]["columns"] = 5;
    write(folder / "b/report.json", report.dump());
    check_error(run("compare a b"), 1, "rows of another size)");
}

TEST_CASE_FIXTURE(Flowers, "vectors: compare knows a test set by any training set") {
    write(folder / "test.csv", "a,b,label\n1,2,0\n3,4,1\n5,4,1\n");
    const std::array training = {"1,2,0\n4,4,1\n", "1,2.5,0\n4,4,1\n", "1,2,0\n4,4,1\n-9,-9,0\n",
                                 "1,2,0\n4,4,1\n9,9,300\n", "1,2,0\n4,4,1\n9.5,9,other\n"};
    const auto evaluate = [&](const std::string& name, const char* rows) {
        write(folder / (name + ".csv"), std::string("a,b,label\n") + rows);
        output("evaluate -q -k 1 --device cpu --test test.csv --train " + name + ".csv --report " + name);
    };
    for (std::size_t i = 0; i < training.size(); ++i) {
        CAPTURE(i);
        const std::string name = "train" + std::to_string(i);
        evaluate(name, training[i]);
        check_contains(output("compare train0 " + name), {"A and B get exactly the same rows right"});
    }
    for (const char* other : {"a,b,label\n1,2,0\n3,4.5,1\n5,4,1\n", "a,b,label\n1,2,0\n3,4,0\n5,4,1\n"}) {
        write(folder / "test.csv", other);
        evaluate("train5", training[1]);
        check_error(run("compare train1 train5"), 1, "is of another test set");
    }
}

TEST_CASE_FIXTURE(Flowers, "vectors: compare reads names of classes in quotes, of two lines, or not UTF-8") {
    write(folder / "odd.csv", "a,label\n1,\"one\r\nand\"\"two\"\n9,Z\xfcrich\n1.5,Zug\n");
    output("evaluate -q -k 1 --report a --device cpu --train odd.csv --test odd.csv");
    output("evaluate -q -k 3 --report b --device cpu --train odd.csv --test odd.csv");
    const std::string text = output("compare a b --csv c.csv");
    check_contains(text, {"3 of 3 right", "Z\xef\xbf\xbdrich"});
    CHECK(contains(file("c.csv"), "Z\xef\xbf\xbdrich"));
}

TEST_CASE_FIXTURE(Flowers, "vectors: any name of a class is read as it was written") {
    for (const std::string name : {"label", "class", "\tx", "x\t", " x", "\ufeffx"}) {
        CAPTURE(name);
        std::string rows = "a,label\n";
        for (int i = 0; i < 30; ++i)
            rows += std::to_string(i) + ".5,\"" + (i < 15 ? name : "x") + "\"\n";
        write(folder / "names.csv", rows);
        const std::string test = " --test names.csv --device cpu";
        output("evaluate -q -k 1 --report a --train names.csv" + test);
        output("evaluate -q -k 3 --report b --train names.csv" + test);
        output("compare a b");
        output("condense -q -k 1 --device cpu --out kept --train names.csv");
        check_contains(output("evaluate -q -k 1 --train kept/train.npy" + test), {"30 of 30 right"});
    }
}

TEST_CASE_FIXTURE(Flowers, "vectors: what needs images says so in one line") {
    const std::string needs = "train.csv: 60 rows of 4 columns, not images; expected images";
    check_error(run("view --text" + files), 1, needs);
    check_error(run("evaluate --method accurate" + files), 1, needs + " for --transform gradients");
    check_error(run("evaluate --transform deskew" + files), 1, needs + " for --transform deskew");
    for (const char* command : {"graph", "neighbors"})
        check_error(run(std::string(command) + " --train train.csv --label-column species --transform hog"),
                    1, needs + " for --transform hog");
    check_error(run("audit --html s.html --train train.csv --label-column species --device cpu"), 1,
                needs + " for --html");
    write(folder / "p.pgm", "P5 2 2 255\nabcd");
    if (has_opencv) {
        check_error(run("audit --sheet s.png --train train.csv --label-column species --device cpu"), 1,
                    needs + " for --sheet");
        check_error(run("classify p.pgm --train train.csv --label-column species --device cpu"), 1, needs);
    }
    check_error(run("bench --case transforms --device cpu --train train.csv --label-column species"), 1,
                needs);
    // Beside images, the rows are named.
    write(folder / "images.npy", npy_of("|u1", "(2, 2, 2)", "abcdefgh"));
    write(folder / "rows.npy", npy_of("|u1", 2, 4, "abcdefgh"));
    for (const char* train : {"images", "rows"}) {
        write(folder / (train + std::string("-labels.csv")), "0\n1\n");
        output(
            Words{"evaluate", "-q", "-k", "1", "--device", "cpu", "--test", "images.npy", "--report", train} +
            (Words{"--train"} + (train + std::string(".npy"))));
    }
    for (const char* sets : {" --train images.npy --test rows.npy", " --train rows.npy --test images.npy"})
        check_error(run(std::string("evaluate --transform hog") + sets), 1,
                    "rows.npy: 2 rows of 4 columns, not images; expected images for --transform hog");
    check_error(run("compare images rows"), 1, "(one has images, the other rows)");
}

/// Those of files: tests/data/vectors.
TEST_CASE_FIXTURE(Flowers, "vectors: mistakes on the command line and in files") {
    output("generate -q --n 5 --dim 4 --out no.npy");
    for (const auto& [name, content] : {std::pair("plain.csv", "1,2\n3,4\n5,6\n"),
                                        {"few.csv", "1,2\n3,4\n5,6\n"},
                                        {"few-labels.csv", "a\nb\n"},
                                        {"many.csv", "1,2\n3,4\n5,6\n"},
                                        {"many-labels.csv", "a\nb\na\nb\nb\n"},
                                        {"labeled.csv", "1,2\n3,4\n5,6\n"},
                                        {"labeled-labels.csv", "a\nb\na\n"},
                                        {"narrow.csv", "1,a,5\n"},
                                        {"ab.csv", "a,b,label\n1,9,x\n9,1,y\n"},
                                        {"ba.csv", "label,b,a\nx,9,1\n"},
                                        {"cd.csv", "c,b,label\n1,9,1.0\n9,1,y\n"},
                                        {"dc.csv", "c,b,label\n9,1,y\n1,9,1.0\n"}})
        write(folder / name, content);
    const std::string no_column = "no.npy: has no column of labels; expected a CSV, or no --label-column";
    struct Row {
        Words words;
        int exit_code;
        std::string part;
    };
    for (const Row& row : std::vector<Row>{
             {"evaluate --train train.csv", 2,
              "--train train.csv: has no test set; expected --test FILE with it"},
             {"neighbors --train no.npy --label-column c", 1, no_column},
             {"evaluate --train no.npy --test no.npy --label-column c", 1, no_column},
             {"graph --train no.npy --label-column c", 1, no_column},
             {"evaluate --label-column a --data .", 2, "--label-column: has no effect without --train"},
             {"evaluate --train train.csv --test test.csv --label-column species --train-labels x", 2,
              "--label-column and --train-labels: both say"},
             {"tune --train plain.csv", 1,
              "plain.csv: has no labels; expected --train-labels FILE, --label-column of a CSV, or "
              "plain-labels.csv"},
             {"tune --train few.csv", 1,
              "few-labels.csv: has 2 labels for the 3 rows of few.csv; expected one label for each row"},
             {"tune --train many.csv", 1,
              "many-labels.csv: has more than 3 labels for the 3 rows of many.csv; expected one label"},
             {"graph -k 1 --csv labeled-labels.csv --train labeled.csv", 1, "labeled-labels.csv"},
             {"evaluate --train labeled.csv --test narrow.csv --label-column 2", 1,
              "narrow.csv: has 2 columns, but labeled.csv has 1; expected as many"},
             {"evaluate --train ab.csv --test ba.csv -k 1", 1,
              "ba.csv: column 1 of its numbers is b where ab.csv has a; expected its columns in the same "
              "order"},
             {"neighbors --train ab.csv --queries ba.csv -k 1", 1, "ba.csv: column 1 of its numbers is b"}})
        check_error(run(row.words + "--device cpu"), row.exit_code, row.part);
    check_contains(output("graph -k 1 --train labeled.csv --device cpu"),
                   {"3 rows of 2 uint8 columns", "same class"});
    const RunResult other = run("evaluate --train ab.csv --test cd.csv -k 1 --device cpu");
    CHECK(contains(other.out, "accuracy 50.00 %"));
    CHECK(contains(other.err, "note: test label 1.0: no training row has it, so no answer can be right"));
    const RunResult first = run("evaluate --train ab.csv --test dc.csv -k 1 --device cpu --limit-test 1");
    CHECK(contains(first.out, "1 of 1 right"));
    CHECK(!contains(first.err, "no training row"));
}

TEST_CASE_FIXTURE(Flowers, "vectors: a CSV that cannot be read says what to do, and nothing else") {
    const RunResult endless =
        started({"/bin/sh", "-c",
                 "ulimit -v 2000000; yes text | \"$0\" neighbors -k 1 --device cpu --train /dev/stdin",
                 program_file()});
    check_error(endless, 1, "/dev/stdin: line 1, column 1: \"text\" is no number of 64 bits");
    write(folder / "texts.csv", "1,2,setosa\n3,4,virginica\n");
    check_error(run("neighbors --train texts.csv -k 1 --device cpu"), 1,
                "texts.csv: line 1, column 3: \"setosa\" is no number of 64 bits; expected a number such as "
                "1.5, or --label-column 3 if these are labels");
    CHECK(output("neighbors --train texts.csv -k 1 --label-column 3 --device cpu --csv -") ==
          "query,rank,index,distance\n0,1,0,0\n1,1,1,0\n");
    check_error(run("neighbors --train texts.csv -k 5 --label-column 3 --device cpu"), 2,
                "k = 5 is out of range; expected at most 2, the rows that can be neighbors");
}

TEST_CASE_FIXTURE(Flowers, "vectors: uint8 rows are searched as images are, and mixed types become one") {
    write(folder / "t.csv", "label,a,b\n3,1,2\n3,3,4\n7,200,100\n7,201,101\n");
    write(folder / "q.csv", "label,a,b\n7,199,99\n3,2,2\n");
    check_contains(output("evaluate -k 1 --train t.csv --test q.csv --device cpu"),
                   {"4 training and 2 test rows of 2 uint8 columns, 2 classes", "2 of 2 right"});
    write(folder / "r.csv", "label,a,b\n7,199.5,99\n3,2,2\n");
    check_contains(output("evaluate -k 1 --train t.csv --test r.csv --device cpu"),
                   {"rows of 2 float64 columns"});
    write(folder / "s.csv", "label,a,b\nseven,199.5,99\n3,2,2\n");
    check_contains(output("evaluate -k 1 --train t.csv --test s.csv --device cpu"),
                   {"3 classes", "1 of 2 right", "seven"});
    check_contains(output("evaluate -k 1 --limit-train 2 --train t.csv --test q.csv --device cpu"),
                   {"2 training and 2 test rows"});
}

TEST_CASE_FIXTURE(Flowers, "labels that are not visible are ? in a page, and as they are in a CSV") {
    const std::string bidi = "a\u202e", isolate = "b\u2066", soft_hyphen = "c\u00ad", broken = "d\xff",
                      formula = "=1+1";
    std::string rows = "x,label\n";
    int x = 0;
    for (const std::string& label : {bidi, isolate, soft_hyphen, broken, formula})
        rows += std::to_string(x += 10) + ',' + label + '\n';
    write(folder / "odd.csv", rows);
    output("evaluate -k 1 --report odd --train odd.csv --test odd.csv --device cpu");
    const std::string page = file("odd/index.html"), answers = file("odd/predictions.csv");
    for (const std::string& label : {bidi, isolate, soft_hyphen, broken}) {
        CHECK(!contains(page, label.substr(1)));
        CHECK(contains(page, label.substr(0, 1) + '?'));
        CHECK(contains(answers, ',' + label + ',' + label + ','));
    }
    CHECK(contains(answers, ",=1+1,=1+1,"));
}

TEST_CASE_FIXTURE(Flowers, "generate: what its disk has no space for is refused at once") {
    check_error(run("generate --n 4294967295 --dim 65536 --type float64 --out huge.npy"), 1,
                "huge.npy: takes 2,251,799,813,160,960 bytes, more than the ");
    CHECK(!std::filesystem::exists(folder / "huge.npy"));
    // So are rows that have space, but not with their labels.
    const auto available = std::filesystem::space(folder.path()).available;
    const std::uintmax_t columns = 1 + available / 4'000'000'000;
    const RunResult labels =
        started({"/bin/sh", "-c",
                 "ulimit -f 1000; exec \"$0\" generate --type uint8 --out large.u8bin --n $1 --dim $2",
                 program_file(), std::to_string(2 * available / (2 * columns + 1)), std::to_string(columns)},
                {.folder = folder.path()});
    check_error(labels, 1, "large.u8bin: with its labels takes ");
    // Of a link that of the file it leads to.
    const std::string other = "/dev/shm";
    if (!std::filesystem::is_directory(other)) return skip("there is no " + other);
    std::filesystem::create_symlink(other + "/huge.npy", folder / "link.npy");
    const auto refused = [&](const std::string& file) {
        const std::string error = run("generate --n 4294967295 --dim 65536 --out " + file).err;
        REQUIRE(contains(error, "huge.npy: takes ") == !contains(error, "link.npy: takes "));
        return error.substr(error.find(": takes "));
    };
    CHECK(refused("link.npy") == refused(other + "/huge.npy"));
}

TEST_CASE_FIXTURE(Flowers, "generate: labels are not all in memory") {
    // What the program needs for few rows, and 60 MB; the labels have 40.
    const std::string tried =
        "for k in $(seq 60000 20000 900000); do ulimit -S -v $k; "
        "\"$0\" generate -q --n 9 --dim 1 --out few.u8bin --threads 1 2>/dev/null && break; done; ";
    const RunResult run = started({"/bin/sh", "-c",
                                   tried + "ulimit -S -v $((k + 60000)); exec \"$0\" generate -q --n "
                                           "40000000 --dim 1 --threads 1 --out many.u8bin",
                                   program_file()},
                                  {.folder = folder / ""});
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    CHECK(file("many-labels.npy").size() == 128 + 40'000'000);
}

TEST_CASE_FIXTURE(Flowers, "generate: the same bytes for any number of threads, read back by evaluate") {
    for (const std::string name : {"a.npy", "b.csv", "c.fvecs", "d.bvecs", "e.fbin", "f.u8bin"}) {
        output("generate -q --n 500 --dim 5 --clusters 3 --seed 7 --threads 1 --out one-" + name);
        const std::string text =
            output("generate --n 500 --dim 5 --clusters 3 --seed 7 --threads 4 --out " + name);
        CHECK(contains(text, "500 rows of 5 "));
        CHECK(file(name) == file("one-" + name));
        output("generate -q --n 40 --dim 5 --clusters 3 --seed 7 --skip 500 --out test-" + name);
        check_contains(output("evaluate -k 3 --device cpu --train " + name + " --test test-" + name),
                       {"500 training and 40 test rows of 5 ", "3 classes"});
    }
    CHECK(file("c.fvecs").size() == 500 * 24);
    CHECK(file("e.fbin").substr(8, 20) == file("c.fvecs").substr(4, 20));
    CHECK(contains(file("a-labels.npy"), "'|u1', 'fortran_order': False, 'shape': (500,)"));
    output("generate -q --n 100 --dim 5 --clusters 3 --seed 7 --out short.fbin");
    CHECK(file("short.fbin").substr(8) == file("e.fbin").substr(8, 100 * 20));
    output("generate -q --n 40 --dim 3 --clusters 4 --kind singh --type float64 --out singh.csv");
    for (const auto& row : csv_rows(file("singh.csv")))
        for (const std::string& cell : row)
            CHECK(cell.size() <= 5);
    CHECK(file("singh-labels.csv").substr(0, 22) == "0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n1\n");
    output("generate -q --n 10 --dim 3 --kind uniform --type uint8 --out u.npy");

    check_error(run("generate --n 5"), 2, "generate: writes a file; expected --out FILE");
    check_error(run("generate --out x.dat"), 2,
                "--out x.dat: its name says no format; expected one that ends with .npy, .csv, .fvecs, "
                ".bvecs, .fbin or .u8bin\n");
    check_error(run("generate --type uint8 --out x.fbin"), 2, "--type uint8: x.fbin holds float32");
    check_error(run("generate --kind uniform --spread 2 --out x.npy"), 2,
                "--spread: only --kind clusters has one");
    check_error(run("generate --out train-labels-idx1-ubyte.npy/x.npy"), 1);
}

TEST_CASE_FIXTURE(Flowers, "vectors: README's examples print what it shows") {
    const std::string readme = read_file(MNIST_KNN_SOURCE "/README.md");
    const std::size_t begin = readme.find("\n## Vectors\n"), end = readme.find("\n## ", begin + 1);
    REQUIRE(end != std::string::npos);
    std::string shown;  // of the last command
    std::size_t shown_to = 0;
    int compared = 0;
    for (const std::string& line : lines_of(readme.substr(begin, end - begin))) {
        CAPTURE(line);
        if (line.starts_with("$ mnist-knn") && !contains(line, "data/mnist")) {
            shown = output(Words(line.substr(12, line.find("#") - 12)));
            shown_to = 0;
        } else if (line.starts_with("$ printf '")) {
            std::string text = line.substr(10, line.rfind("' > ") - 10);
            for (std::size_t at; (at = text.find("\\n")) != std::string::npos;)
                text.replace(at, 2, "\n");
            write(folder / line.substr(line.rfind(' ') + 1), text);
        } else if (line.starts_with("```") || line.starts_with("$ ")) {
            shown.clear();
        } else if (!shown.empty() && line != "...") {
            const std::size_t at = shown.find(line + '\n', shown_to);
            CHECK(at != std::string::npos);
            if (at != std::string::npos) shown_to = at + line.size() + 1;
            ++compared;
        }
    }
    CHECK(compared >= 13);
}
