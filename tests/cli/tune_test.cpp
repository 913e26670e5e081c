/// `tune` as a user runs it: its errors against plain loops, its files, its method read back, and bad input.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/cli/evaluated.h"
#include "tests/cli/program.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using namespace std::chrono_literals;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A small training set without a test set, and the program in its folder.
struct Work {
    Folder folder;
    SmallSet set;

    explicit Work(int train = 60, int levels = 4, std::vector<int> classes = {1, 7, 200}) {
        set.train = train;
        set.levels = levels;
        set.classes = std::move(classes);
        set.write(folder.path);
        fs::remove(folder / "t10k-images-idx3-ubyte");
        fs::remove(folder / "t10k-labels-idx1-ubyte");
    }
    RunResult run(std::vector<std::string> words, RunOptions options = {}) const {
        words.insert(words.begin() + 1, {"--data", ".", "--device", "cpu"});
        options.folder = folder.path.string();
        return program(words, options);
    }
    RunResult tune(std::vector<std::string> words, RunOptions options = {}) const {
        words.insert(words.begin(), "tune");
        return run(words, options);
    }
};

/// Leave-one-out errors of a uniform majority vote, ties to the smallest label, by plain loops.
int errors_of(const SmallSet& set, std::size_t k) {
    int errors = 0;
    for (std::size_t i = 0; i < set.train_images.size(); ++i) {
        std::vector<std::pair<long, std::size_t>> others;
        for (std::size_t j = 0; j < set.train_images.size(); ++j) {
            if (i == j) continue;
            long sum = 0;
            for (std::size_t p = 0; p < set.train_images[i].size(); ++p) {
                const long off = set.train_images[i][p] - set.train_images[j][p];
                sum += off * off;
            }
            others.emplace_back(sum, j);
        }
        std::sort(others.begin(), others.end());
        std::map<int, int> votes;
        for (std::size_t rank = 0; rank < k; ++rank)
            ++votes[set.train_labels[others[rank].second]];
        int best = votes.begin()->first;
        for (const auto& [label, count] : votes)
            if (count > votes[best]) best = label;
        errors += best != set.train_labels[i] ? 1 : 0;
    }
    return errors;
}

}  // namespace

TEST_CASE("tune: the errors of plain loops, without a test set, in all forms") {
    const Work work;
    const RunResult result = work.tune({"--k", "1-9", "--transform", "raw", "--transform", "pca:3", "--json",
                                        "t.json", "--csv", "t.csv", "--plot", "t.svg", "--save", "best"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.err.empty());
    const json report = json::parse(read_file(work.folder / "t.json"));
    CHECK(report["schema"] == "mnist-knn/tune/1");
    CHECK(report["data"]["count"] == 60);
    const json& all = report["configurations"];
    REQUIRE(all.size() == 2 * 6 * 9);
    int found = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const json& one = all[i];
        if (i > 0) CHECK(all[i - 1]["errors"] <= one["errors"]);
        CHECK(one["error_low"] <= one["error"]);
        CHECK(one["error_high"] >= one["error"]);
        CHECK(one["as_good_as_best"] == (one["p_value"] >= 0.05));
        if (one["transform"] != "raw" || one["vote"] != "majority" || one["weights"] != "uniform" ||
            one["tie"] != "smallest")
            continue;
        CHECK(one["errors"] == errors_of(work.set, one["k"]));
        ++found;
    }
    CHECK(found == 9);
    CHECK(all[0]["p_value"] == 1);

    const auto rows = csv_rows(read_file(work.folder / "t.csv"));
    REQUIRE(rows.size() == 1 + all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(std::stoi(rows[1 + i][0]) == all[i]["errors"]);
        CHECK(rows[1 + i][6] == '"' + all[i]["transform"].get<std::string>() + '"');
        CHECK(rows[1 + i][12] == std::to_string(all[i]["k"].get<int>()));
    }
    for (const char* part :
         {"60 training images of 5 x 3, 3 classes", "searches  raw, l2: the nearest 59",
          "108 configurations, k = 1 to 9", "as good as the best", "and 88 more", "best: "})
        CHECK(contains(result.out, part));
    for (const char* part : {"Errors over k", "pca:3, l2", "majority, tie nearest", "class-mean"})
        CHECK(contains(read_file(work.folder / "t.svg"), part));
    CHECK(read_file(work.folder / "best")
              .starts_with("mnist-knn method 1\n# chosen by 'mnist-knn tune': " +
                           std::to_string(all[0]["errors"].get<int>()) + " errors"));
}

TEST_CASE("tune: what --save wrote is a method for every command") {
    const Work work(60, 4);
    SmallSet again = work.set;  // with a test set
    again.train_images.clear(), again.train_labels.clear(), again.test_images.clear(),
        again.test_labels.clear();
    again.write(work.folder.path);
    REQUIRE(work.tune({"--metric", "lp", "--p", "3", "--vote", "majority", "--weights", "distance", "--tie",
                       "nearest", "-k", "4", "--save", "m"})
                .exit_code == 0);
    REQUIRE(work.run({"evaluate", "--method", "m", "--predictions", "m.csv", "--json", "m.json"}).exit_code ==
            0);
    REQUIRE(work.run({"evaluate", "--metric", "lp", "--p", "3", "--weights", "distance", "--tie", "nearest",
                      "-k", "4", "--predictions", "o.csv"})
                .exit_code == 0);
    CHECK(read_file(work.folder / "m.csv") == read_file(work.folder / "o.csv"));
    const json settings = json::parse(read_file(work.folder / "m.json"))["settings"];
    CHECK(settings["metric"] == "lp");
    CHECK(settings["p"] == 3);
    CHECK(settings["tie"] == "nearest");
    CHECK(json::parse(
              work.run({"evaluate", "--method", "./m", "-k", "2", "--json", "-"}).out)["settings"]["k"] == 2);
    CHECK(work.run({"graph", "--method", "m", "-k", "3", "--csv", "g.csv"}).exit_code == 0);
    CHECK(work.run({"view", "--method", "m", "--text", "-q"}).exit_code == 0);
    const RunResult tuned = work.tune({"--method", "m", "-k", "4", "--vote", "majority", "--json", "-"});
    const json searches = json::parse(tuned.out)["searches"];
    REQUIRE(searches.size() == 1);
    CHECK(searches[0]["p"] == 3);

    std::ofstream(work.folder / "bad") << "mnist-knn method 1\nk five\n";
    const RunResult bad = work.run({"evaluate", "--method", "bad"});
    CHECK(bad.exit_code == 1);
    CHECK(is_one_error_line(bad.err));
    CHECK(contains(bad.err, "bad: line 2: k 'five' is not allowed; expected 1 to 1024"));
    CHECK(contains(work.run({"evaluate", "--method", "none.txt"}).err, "none.txt: no such file"));
    CHECK(contains(work.run({"evaluate", "--method", "."}).err, ".: is a folder"));
    CHECK(contains(work.run({"evaluate", "--method", "gradiants"}).err, "did you mean gradients?"));
    std::ofstream(work.folder / "large") << "mnist-knn method 1\n" << std::string(70000, '#');
    CHECK(contains(work.run({"evaluate", "--method", "large"}).err, "is larger than 65,536 bytes"));
}

TEST_CASE("tune: a re-ranker's candidates bound k, and every combination is searched once") {
    SmallSet big;
    const Work work(40, 4);
    const RunResult result =
        work.tune({"--method", "raw", "--method", "accurate", "--transform", "raw", "--metric", "l2",
                   "--metric", "l1", "--candidates", "12", "--json", "-"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const json report = json::parse(result.out);
    CHECK(report["searches"].size() == 4);
    std::set<int> ks;
    for (const json& one : report["configurations"])
        ks.insert(one["k"].get<int>());
    CHECK(*ks.rbegin() == 12);
    const RunResult twice = work.tune(
        {"--method", "raw", "--transform", "raw", "--rerank", "none", "--method", "raw", "--json", "-"});
    CHECK(json::parse(twice.out)["searches"].size() == 1);
    const RunResult refused = work.tune({"--rerank", "both", "--candidates", "12", "-k", "1-13"});
    CHECK(is_usage_error(refused.err));
    CHECK(contains(refused.err, "-k 13"));
    CHECK(contains(refused.err, "expected at most 12"));
}

TEST_CASE("tune: the same bytes for any number of threads, -q and standard output") {
    const Work work(300, 2);
    REQUIRE(work.tune({"--csv", "1.csv", "--threads", "1"}).exit_code == 0);
    REQUIRE(work.tune({"--csv", "3.csv", "--threads", "3", "--batch", "17"}).exit_code == 0);
    CHECK(read_file(work.folder / "1.csv") == read_file(work.folder / "3.csv"));
    CHECK(lines_of(work.tune({"-q"}).out).size() == 1);
    CHECK(json::accept(work.tune({"--json", "-"}).out));
    CHECK(lines_of(work.tune({"--csv", "-"}).out).size() == 181);
    CHECK(lines_of(work.tune({"--limit", "3", "--limit-train", "50"}).out).size() == 7 + 1 + 4 + 1 + 1 + 2);
    CHECK(contains(work.tune({"--progress", "always"}).err, "searching"));
}

TEST_CASE("tune: bad input") {
    const Work work(20, 4);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"-k", "0"},
                                               {"-k", "5-3"},
                                               {"-k", "1-2000"},
                                               {"-k", "a"},
                                               {"-k", "1-"},
                                               {"-k", "1-20"},
                                               {"--transform", "none"},
                                               {"--metric", "l3"},
                                               {"--metric", "lp"},
                                               {"--p", "3"},
                                               {"--method", "none"},
                                               {"--vote", "class-mean", "--metric", "cosine"},
                                               {"--candidates", "20", "--vote", "majority"},
                                               {"--candidates", "20", "--metric", "cosine"},
                                               {"--limit-train", "1"},
                                               {"--plot", "x.jpg"},
                                               {"--limit-test", "3"},
                                               {"extra"}}) {
        CAPTURE(words.front());
        CAPTURE(words.back());
        const RunResult result = work.tune(words);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
    }
    CHECK(contains(work.tune({"-k", "1-20"}).err, "expected at most 19"));
    CHECK(is_usage_error(work.tune({"--json", "x", "--csv", "./x"}).err));
    const RunResult both =
        work.tune({"--vote", "class-mean", "--metric", "cosine", "--metric", "l2", "-k", "1-3"});
    CHECK(both.exit_code == 0);
    CHECK(contains(both.err,
                   "--vote class-mean: left out, because their distances are not integers: raw, cosine"));
    for (const char* name : {"raw", "gradients", "accurate"})  // --method would not read the file
        CHECK(is_usage_error(work.tune({"--save", name}).err));
    const RunResult missing = program({"tune", "--data", work.folder / "none"});
    CHECK(missing.exit_code == 1);
    CHECK(is_one_error_line(missing.err));
    const RunResult same = program({"tune", "--train-images", work.folder / "train-images-idx3-ubyte",
                                    "--train-labels", work.folder / "train-images-idx3-ubyte"});
    CHECK(same.exit_code == 1);
    CHECK(is_one_error_line(same.err));
}

TEST_CASE("tune: one class, a class with one image, two images, equal images, k larger than a class") {
    const RunResult one_class = Work(20, 4, {255}).tune({});
    CHECK(one_class.exit_code == 0);
    CHECK(contains(one_class.err, "note: all images have one label"));
    CHECK(contains(one_class.out, "0.00 %"));

    const Work two(2, 4, {3});
    CHECK(two.tune({}).exit_code == 0);
    std::ofstream(two.folder / "train-labels-idx1-ubyte", std::ios::binary | std::ios::in)
        .seekp(8)
        .put('\x09');
    const RunResult lonely = two.tune({});
    CHECK(lonely.exit_code == 0);
    CHECK(contains(lonely.err, "one image each, which is always wrong"));
    CHECK(contains(lonely.out, "100.00 %"));

    const Work equal(20, 4);
    std::ofstream same(equal.folder / "train-images-idx3-ubyte", std::ios::binary | std::ios::in);
    same.seekp(16);
    same << std::string(20 * 15, '\x05');
    same.close();
    for (const char* method : {"raw", "gradients", "accurate"}) {
        const RunResult result = equal.tune({"--method", method});
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
    }
    CHECK(Work(30, 4, {0, 255}).tune({"-k", "1-29"}).exit_code == 0);
}

TEST_CASE("tune: the named methods' settings are as good as the best on a part of MNIST") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const RunResult result =
        program({"tune", "--data", mnist_folder(), "--device", "cpu", "--limit-train", "6000", "--method",
                 "raw", "--method", "gradients", "--method", "accurate", "--json", "-"});
    REQUIRE(result.exit_code == 0);
    const json report = json::parse(result.out);
    // Of each search the fewest errors, and those of the settings of the named method.
    struct Named {
        const char *transform, *rerank, *vote;
        int k;
    };
    for (const Named& named :
         {Named{"gradients", "none", "majority", 5}, Named{"gradients", "both", "class-mean", 4}}) {
        const json* best = nullptr;
        const json* chosen = nullptr;
        for (const json& one : report["configurations"]) {
            if (one["transform"] != named.transform || one["rerank"] != named.rerank) continue;
            if (best == nullptr) best = &one;
            if (one["vote"] == named.vote && one["k"] == named.k && one["weights"] == "uniform" &&
                one["tie"] == "smallest")
                chosen = &one;
        }
        REQUIRE(best != nullptr);
        REQUIRE(chosen != nullptr);
        CAPTURE((*best)["errors"].get<int>());
        CAPTURE((*chosen)["errors"].get<int>());
        // The intervals of a share are wider than what McNemar's test tells apart.
        CHECK((*chosen)["errors"].get<int>() <= (*best)["errors"].get<int>() * 5 / 4);
        CHECK((*chosen)["error_low"] <= (*best)["error_high"]);
    }
    // Raw pixels, gradients and re-ranking differ by more than chance.
    CHECK(report["configurations"][0]["rerank"] == "both");
    for (const json& one : report["configurations"])
        if (one["transform"] == "raw") CHECK(one["as_good_as_best"] == false);
}
