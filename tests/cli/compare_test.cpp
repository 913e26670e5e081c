/// `compare` as a user runs it: the counts of the two predictions.csv, reports of other test sets, and bad input.

#include <sys/stat.h>

#include "tests/cli/program.h"

using namespace knn::test;

namespace {

/// Two reports, a and b, of one small test set.
struct Reports : Work {
    Reports() : Work({.test = 90}) {
        make("a", "-k 1");
        make("b", "-k 9 --metric cosine");
    }
    void make(const std::string& name, const Words& words) const {
        output("evaluate -q --report" + Words{name} + words);
    }
    RunResult compare(const Words& words) const { return plain("compare" + words); }
    void edit(const std::string& name, const std::string& from, const std::string& to) const {
        std::string text = file(name);
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        write(folder / name, text.replace(at, from.size(), to));
    }
    std::vector<std::vector<std::string>> predictions(const std::string& name) const {
        auto rows = csv_rows(file(name + "/predictions.csv"));
        rows.erase(rows.begin());
        return rows;
    }
};

}  // namespace

TEST_CASE_FIXTURE(Reports, "compare: the counts, the digits and the sentence") {
    const std::string text =
        silent_output(compare("a b/report.json --csv c.csv --json c.json --html c.html"));
    const auto a = predictions("a"), b = predictions("b");
    int counts[2][2] = {};
    std::string csv = "index,label,a,b\n";
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool a_right = a[i][1] == a[i][2], b_right = b[i][1] == b[i][2];
        ++counts[a_right][b_right];
        if (a_right != b_right) csv += a[i][0] + ',' + a[i][1] + ',' + a[i][2] + ',' + b[i][2] + '\n';
    }
    REQUIRE(counts[1][0] > 0);
    REQUIRE(counts[0][1] > 0);
    CHECK(file("c.csv") == csv);
    CHECK(contains(file("c.html"), " exact test).</p>"));
    const json compared = json_of("c.json");
    CHECK(compared["schema"] == "mnist-knn/compare/1");
    CHECK(compared["both_right"] == counts[1][1]);
    CHECK(compared["only_a"] == counts[1][0]);
    CHECK(compared["only_b"] == counts[0][1]);
    CHECK(compared["both_wrong"] == counts[0][0]);
    CHECK(compared["a"]["correct"] == counts[1][0] + counts[1][1]);
    CHECK(compared["b"]["settings"]["metric"] == "cosine");
    CHECK(contains(text, "only A right  " + std::string(counts[1][0] < 10 ? " " : "")));
    CHECK(contains(text, "McNemar's exact test"));
    CHECK(count_of(file("c.html"), "<img") == static_cast<std::size_t>(counts[1][0] + counts[0][1]));
    CHECK(lines_of(compare("a b -q").out).size() == 1);
    CHECK(!contains(text, "training images"));
    // With itself.
    CHECK(contains(output_of(compare("a a")), "A and B get exactly the same digits right."));
    CHECK(json::parse(compare("a a --json -").out)["p_value"] == 1);
}

TEST_CASE_FIXTURE(Reports, "compare: other training sets are named") {
    make("few", "-k 1 --limit-train 20");
    const RunResult run = compare("a few --json c.json --html c.html");
    for (const std::string& text : {run.out, file("c.html")}) {
        CHECK(contains(text, "k = 1, metric l2"));
        CHECK(contains(text, ", 20 training images"));
    }
    CHECK(json_of("c.json")["b"]["train"] == 20);
    CHECK(json_of("c.json")["a"]["train"] > 20);

    const std::string images = "train-images-idx3-ubyte";
    fs::copy_file(folder / images, folder / "other");
    output("evaluate -q --report c -k 1 --train-images " + (folder / "other"));
    CHECK(contains(compare("a c").out, "/other, "));
}

TEST_CASE_FIXTURE(Reports, "compare: the page has long names of classes as all forms have them") {
    const std::string longest(60, 'x');
    write(folder / "rows.csv", "a,label\n0,b\n1,b\n2," + longest + "\n3,b\n9," + longest + "\n");
    for (const std::string k : {"1", "3"})
        output_of(
            plain("evaluate -q --train rows.csv --test rows.csv --device cpu --report r" + k + " -k " + k));
    silent_output(compare("r1 r3 -q --html c.html"));
    CHECK(contains(file("c.html"), " <b>" + longest.substr(0, 20) + "...</b> "));
    CHECK(contains(file("c.html"), longest.substr(0, 20) + "...</span>"));
}

TEST_CASE_FIXTURE(Reports, "compare: reports of different test sets are refused") {
    make("fewer", "--limit-test 80");
    check_error(compare("a fewer"), 1, "is of another test set than");
    check_error(compare("a fewer"), 1, "90 images and 80 images");

    // One pixel of the test set is another: the same labels and counts.
    const std::string images = "t10k-images-idx3-ubyte";
    overwrite(folder / images, 16, {static_cast<char>(file(images)[16] ^ 1)});
    make("pixel", "-k 9");
    check_error(compare("a pixel"), 1, "(other images)");
    // The pictures of the changed files are not those of the reports.
    const RunResult page = compare("a b --html c.html");
    CHECK(page.exit_code == 0);
    CHECK(contains(page.err, "a page without pictures: "));
    CHECK(!contains(file("c.html"), "<img"));

    // An older report has no checksum: labels and counts have to do, and this is said.
    const std::string text = file("pixel/report.json");
    const std::size_t at = text.find(",\n    \"test_checksum\"");
    REQUIRE(at != std::string::npos);
    edit("pixel/report.json", text.substr(at, text.find('\n', at + 2) - at), "");
    const RunResult old = compare("a pixel");
    CHECK(old.exit_code == 0);
    CHECK(contains(old.err, "pixel/report.json: an older version wrote it"));
}

TEST_CASE_FIXTURE(Reports, "compare: bad input") {
    check_error(compare("a none"), 1, "none: no such file");
    check_error(compare("a" + Words{std::string()}), 2, "'': empty; expected the name of a report");
    check_error(compare("none -"), 2, "-: has no predictions.csv beside it");  // before anything is read
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    check_error(compare("pipe a"), 2, "pipe: has no predictions.csv beside it");
    check_error(compare("a t10k-labels-idx1-ubyte"), 1, "is not JSON");
    edit("b/predictions.csv", "\n0,", "\n1,");
    check_error(compare("a b"), 1);
    fs::copy_file(folder / "a/predictions.csv", folder / "b/predictions.csv",
                  fs::copy_options::overwrite_existing);
    check_error(compare("a b"), 1, "b/predictions.csv: is not of the report beside it");
    fs::remove(folder / "b/predictions.csv");
    check_error(compare("a b"), 1, "b/predictions.csv: cannot be read: No such file or directory; expected");
}
