/// `compare` as a user runs it: the counts of the two predictions.csv, reports of other test sets, and bad input.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/cli/evaluated.h"
#include "tests/cli/program.h"

using namespace knn::test;
using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Two reports, a and b, of one small test set.
struct Reports {
    Folder folder;
    SmallSet set;

    Reports() {
        set.test = 90;
        set.write(folder.path);
        write("a", {"-k", "1"});
        write("b", {"-k", "9", "--metric", "cosine"});
    }
    void write(const std::string& name, std::vector<std::string> words) const {
        words.insert(words.begin(),
                     {"evaluate", "--data", folder / "", "--device", "cpu", "-q", "--report", folder / name});
        REQUIRE(program(words).exit_code == 0);
    }
    RunResult compare(std::vector<std::string> words, RunOptions options = {}) const {
        words.insert(words.begin(), "compare");
        options.folder = folder.path.string();
        return program(words, options);
    }
    void edit(const std::string& name, const std::string& from, const std::string& to) const {
        std::string text = read_file(folder / name);
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    std::vector<std::vector<std::string>> predictions(const std::string& name) const {
        auto rows = csv_rows(read_file(folder / (name + "/predictions.csv")));
        rows.erase(rows.begin());
        return rows;
    }
};

}  // namespace

TEST_CASE("compare: the counts, the digits and the sentence") {
    const Reports reports;
    const RunResult result =
        reports.compare({"a", "b/report.json", "--csv", "c.csv", "--json", "c.json", "--html", "c.html"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    const auto a = reports.predictions("a"), b = reports.predictions("b");
    int counts[2][2] = {};
    std::string csv = "index,label,a,b\n";
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool a_right = a[i][1] == a[i][2], b_right = b[i][1] == b[i][2];
        ++counts[a_right][b_right];
        if (a_right != b_right) csv += a[i][0] + ',' + a[i][1] + ',' + a[i][2] + ',' + b[i][2] + '\n';
    }
    REQUIRE(counts[1][0] > 0);
    REQUIRE(counts[0][1] > 0);
    CHECK(read_file(reports.folder / "c.csv") == csv);
    CHECK(contains(read_file(reports.folder / "c.html"), " exact test).</p>"));
    const json compared = json::parse(read_file(reports.folder / "c.json"));
    CHECK(compared["schema"] == "mnist-knn/compare/1");
    CHECK(compared["both_right"] == counts[1][1]);
    CHECK(compared["only_a"] == counts[1][0]);
    CHECK(compared["only_b"] == counts[0][1]);
    CHECK(compared["both_wrong"] == counts[0][0]);
    CHECK(compared["a"]["correct"] == counts[1][0] + counts[1][1]);
    CHECK(compared["b"]["settings"]["metric"] == "cosine");
    CHECK(contains(result.out, "only A right  " + std::string(counts[1][0] < 10 ? " " : "")));
    CHECK(contains(result.out, "McNemar's exact test"));
    const std::string page = read_file(reports.folder / "c.html");
    std::size_t pictures = 0;
    for (std::size_t at = 0; (at = page.find("<img", at)) != std::string::npos; ++at)
        ++pictures;
    CHECK(pictures == static_cast<std::size_t>(counts[1][0] + counts[0][1]));
    CHECK(lines_of(reports.compare({"a", "b", "-q"}).out).size() == 1);
    CHECK(json::accept(reports.compare({"a", "b", "--json", "-"}).out));
    CHECK(reports.compare({"a", "b", "--csv", "-"}).out == csv);
}

TEST_CASE("compare: a report with itself") {
    const Reports reports;
    const RunResult result = reports.compare({"a", "a"});
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "A and B get exactly the same digits right."));
    CHECK(json::parse(reports.compare({"a", "a", "--json", "-"}).out)["p_value"] == 1);
}

TEST_CASE("compare: reports of different test sets are refused") {
    const Reports reports;
    reports.write("fewer", {"--limit-test", "80"});
    const RunResult fewer = reports.compare({"a", "fewer"});
    CHECK(fewer.exit_code == 1);
    CHECK(is_one_error_line(fewer.err));
    CHECK(contains(fewer.err, "is of another test set than"));
    CHECK(contains(fewer.err, "90 images and 80 images"));
    CHECK(fewer.out.empty());

    // One pixel of the test set is another: the same labels and counts.
    std::fstream images(reports.folder / "t10k-images-idx3-ubyte",
                        std::ios::binary | std::ios::in | std::ios::out);
    images.seekg(16);
    const char pixel = static_cast<char>(images.get() ^ 1);
    images.seekp(16).put(pixel);
    images.close();
    reports.write("pixel", {"-k", "9"});
    const RunResult other = reports.compare({"a", "pixel"});
    CHECK(other.exit_code == 1);
    CHECK(contains(other.err, "(other images)"));
    // The pictures of the changed files are not those of the reports.
    const RunResult page = reports.compare({"a", "b", "--html", "c.html"});
    CHECK(page.exit_code == 0);
    CHECK(contains(page.err, "a page without pictures: "));
    CHECK(!contains(read_file(reports.folder / "c.html"), "<img"));

    // An older report has no checksum: labels and counts have to do, and this is said.
    std::string text = read_file(reports.folder / "pixel/report.json");
    const std::size_t at = text.find(",\n    \"test_checksum\""), end = text.find('\n', at + 2);
    REQUIRE(at != std::string::npos);
    text.erase(at, end - at);
    std::ofstream(reports.folder / "pixel/report.json", std::ios::binary) << text;
    const RunResult old = reports.compare({"a", "pixel"});
    CAPTURE(old.err);
    CHECK(old.exit_code == 0);
    CHECK(contains(old.err, "pixel/report.json: an older version wrote it"));
}

TEST_CASE("compare: bad input") {
    const Reports reports;
    CHECK(is_usage_error(reports.compare({}).err));
    CHECK(is_usage_error(reports.compare({"a"}).err));
    CHECK(is_usage_error(reports.compare({"a", "b", "c"}).err));
    CHECK(is_usage_error(reports.compare({"a", "b", "--json", "x", "--csv", "x"}).err));
    const RunResult none = reports.compare({"a", "none"});
    CHECK(none.exit_code == 1);
    CHECK(is_one_error_line(none.err));
    CHECK(contains(none.err, "none: no such file"));
    CHECK(contains(reports.compare({"a", "t10k-labels-idx1-ubyte"}).err, "is not JSON"));

    reports.edit("b/predictions.csv", "\n0,", "\n1,");
    CHECK(is_one_error_line(reports.compare({"a", "b"}).err));
    fs::copy_file(reports.folder / "a/predictions.csv", reports.folder / "b/predictions.csv",
                  fs::copy_options::overwrite_existing);
    const RunResult swapped = reports.compare({"a", "b"});
    CHECK(swapped.exit_code == 1);
    CHECK(contains(swapped.err, "b/predictions.csv: is not of the report beside it"));
    fs::remove(reports.folder / "b/predictions.csv");
    CHECK(contains(reports.compare({"a", "b"}).err, "b/predictions.csv: cannot be read"));
}
