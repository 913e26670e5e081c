/// `audit` as a user runs it: the list against plain loops, its files, and planted labels.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/evaluated.h"
#include "tests/cli/program.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Work {
    Folder folder;
    SmallSet set;

    explicit Work(std::vector<int> classes = {0, 7, 255}, int train = 60, int levels = 9) {
        set.train = train;
        set.levels = levels;
        set.classes = std::move(classes);
        set.write(folder.path);
    }
    RunResult audit(std::vector<std::string> extra, RunOptions options = {}) const {
        extra.insert(extra.begin(), {"audit", "--device", "cpu", "--data", "."});
        options.folder = folder.path.string();
        return program(extra, options);
    }
    void remove_test_set() const {
        fs::remove(folder / "t10k-images-idx3-ubyte");
        fs::remove(folder / "t10k-labels-idx1-ubyte");
    }
};

/// (mean of the label's class) + t over (the smallest other mean) + t, as classifier/audit.h defines it.
struct Ratio {
    double own = 0, other = 0;
    int best = 0;
};

Ratio ratio_of(const SmallSet& set, const std::vector<int>& image, int label, int itself, int each) {
    std::vector<std::pair<double, int>> near;
    for (int j = 0; j < set.train; ++j) {
        if (j == itself) continue;
        double sum = 0;
        for (std::size_t p = 0; p < image.size(); ++p)
            sum += std::pow(image[p] - set.train_images[static_cast<std::size_t>(j)][p], 2);
        near.emplace_back(sum, j);
    }
    std::sort(near.begin(), near.end());
    Ratio ratio{.own = 0, .other = 1e300, .best = label};
    for (const int c : set.classes) {
        double sum = 0;
        int count = 0;
        for (const auto& [distance, j] : near)
            if (set.train_labels[static_cast<std::size_t>(j)] == c && count < each) sum += distance, ++count;
        sum += (each - count) * near.back().first;
        if (c == label)
            ratio.own = sum / each;
        else if (sum / each < ratio.other)
            ratio.other = sum / each, ratio.best = c;
    }
    if (ratio.own <= ratio.other) ratio.best = label;
    return ratio;
}

}  // namespace

TEST_CASE("audit: the order, the suggestions and the probabilities are those of plain loops") {
    for (const std::string of : {"train", "test"}) {
        const Work here;
        if (of == "train") here.remove_test_set();
        const RunResult result = here.audit({"-k", "4", "--of", of, "--csv", "-"});
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        const auto rows = csv_rows(result.out);
        const bool train = of == "train";
        const auto& images = train ? here.set.train_images : here.set.test_images;
        const auto& labels = train ? here.set.train_labels : here.set.test_labels;
        REQUIRE(rows.size() == images.size() + 1);
        CHECK(rows[0] == std::vector<std::string>{"set", "index", "label", "suggested", "probability"});
        double unit = 0;
        for (int i = 0; i < here.set.train; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Ratio one = ratio_of(here.set, here.set.train_images[at], here.set.train_labels[at], i, 4);
            unit += std::min(one.own, one.other);
        }
        unit *= 0.01 / here.set.train;
        double previous = 1e300, slope = 0;
        for (std::size_t r = 1; r < rows.size(); ++r) {
            const auto i = static_cast<std::size_t>(std::stoi(rows[r][1]));
            const Ratio one = ratio_of(here.set, images[i], labels[i], train ? static_cast<int>(i) : -1, 4);
            const double evidence = std::log((one.own + unit) / (one.other + unit));
            CHECK(rows[r][0] == of);
            CHECK(rows[r][2] == std::to_string(labels[i]));
            CHECK(rows[r][3] == std::to_string(one.best));
            CHECK(evidence <= previous + 1e-9);
            previous = evidence;
            const double p = std::stod(rows[r][4]);
            if (r == 1) slope = std::log(p / (1 - p)) / evidence;
            CHECK(p == doctest::Approx(1 / (1 + std::exp(-slope * evidence))).epsilon(0.001));
        }
        CHECK(slope >= 0);
    }
}

TEST_CASE("audit: text, JSON, page and sheet have the first ones, the same for any number of threads") {
    const Work work;
    const RunResult result =
        work.audit({"--json", "a.json", "--html", "a.html", "--csv", "a.csv", "--limit", "7"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.out.find("60 training images") != std::string::npos);
    CHECK(result.out.find("probably wrong") != std::string::npos);
    const auto rows = csv_rows(read_file(work.folder / "a.csv"));
    REQUIRE(rows.size() == 8);
    const json report = json::parse(read_file(work.folder / "a.json"));
    CHECK(report["schema"] == "mnist-knn/audit/1");
    CHECK(report["images"].size() == 7);
    CHECK(report["images"][0]["neighbors"].size() == 5);
    CHECK(std::to_string(report["images"][3]["index"].get<int>()) == rows[4][1]);
    const json page = page_data(read_file(work.folder / "a.html"));
    REQUIRE(page["gallery"]["digits"].size() == 7);
    CHECK(std::to_string(page["gallery"]["digits"][6]["index"].get<int>()) == rows[7][1]);
    CHECK(page["gallery"]["digits"][0]["neighbors"].size() == 10);
    CHECK(work.audit({"--threads", "1", "--csv", "-"}).out ==
          work.audit({"--threads", "3", "--csv", "-"}).out);
    CHECK(work.audit({"-q"}).out.empty());
    if (!has_opencv) {
        CHECK(is_usage_error(work.audit({"--sheet", "a.png"}).err));
        return skip(no_opencv);
    }
    REQUIRE(work.audit({"--sheet", "a.png"}).exit_code == 0);
    CHECK(png_width(read_file(work.folder / "a.png")) > 300);
}

TEST_CASE("audit: unusual sets") {
    const Work one({200});
    const RunResult single = one.audit({});
    CHECK(single.exit_code == 1);
    CHECK(is_one_error_line(single.err));
    CHECK(single.err.find("has one class, 200") != std::string::npos);
    CHECK(is_usage_error(one.audit({"--limit-train", "1"}).err));
    CHECK(is_usage_error(one.audit({"--plant", "3"}).err));

    const Work equal({0, 255}, 30);  // nothing contradicts anything
    std::ofstream same(equal.folder / "train-images-idx3-ubyte", std::ios::binary | std::ios::in);
    same.seekp(16);
    same << std::string(30 * 15, '\x05');
    same.close();
    const auto rows = csv_rows(equal.audit({"--csv", "-"}).out);
    REQUIRE(rows.size() == 31);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        CHECK(rows[i][1] == std::to_string(i - 1));
        CHECK(rows[i][2] == rows[i][3]);
        CHECK(rows[i][4] == "0.500000");
    }
    const Work two({3, 4}, 8);
    CHECK(two.audit({"-k", "100", "--csv", "-"}).exit_code <= 1);  // as many as there are
    CHECK(is_usage_error(two.audit({"--plant", "9"}).err));
    CHECK(is_usage_error(two.audit({"--csv", "x", "--html", "./x"}).err));
}

TEST_CASE("audit: planted labels are the same for a seed") {
    const Work work;
    const auto planted = [&](const std::string& seed) {
        const RunResult result = work.audit({"--plant", "9", "--seed", seed, "--json", "-"});
        REQUIRE(result.exit_code == 0);
        return json::parse(result.out)["planted"];
    };
    CHECK(planted("1").size() == 9);
    CHECK(planted("1") == planted("1"));
    CHECK(planted("1") != planted("2"));
    CHECK(work.audit({"--plant", "9"}).out.find("9 wrong labels: ") != std::string::npos);
    CHECK(is_usage_error(work.audit({"--seed", "2"}).err));
}

TEST_CASE("audit: finds planted labels of MNIST") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const RunResult result = program({"audit", "--data", mnist_folder(), "--device", "cpu", "--method",
                                      "gradients", "--limit-train", "20000", "--plant", "100"});
    CAPTURE(result.out);
    REQUIRE(result.exit_code == 0);
    const auto place = result.out.find(" among the first 150");
    REQUIRE(place != std::string::npos);
    CHECK(std::stoi(result.out.substr(result.out.rfind(' ', place - 1))) >= 95);
}
