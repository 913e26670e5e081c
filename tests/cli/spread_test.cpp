/// `--rerank spread` as a user runs it: the same answers in every command, its parameters in reports and methods, small
/// and bad input.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "tests/cli/evaluated.h"
#include "tests/cli/program.h"

using namespace knn::test;
using nlohmann::json;

namespace {

struct Work {
    Folder folder;
    SmallSet set;

    explicit Work(std::vector<int> classes = {1, 7, 200}, int train = 60) {
        set.classes = std::move(classes);
        set.train = train;
        set.levels = 200;
        set.write(folder.path);
    }
    RunResult run(std::vector<std::string> words) const {
        words.insert(words.begin() + 1, {"--data", ".", "--device", "cpu"});
        RunOptions options;
        options.folder = folder.path.string();
        return program(words, options);
    }
};

}  // namespace

TEST_CASE("class spread: evaluate scales distances, and says so, a weight of 0 changes nothing") {
    const Work work;
    const auto neighbors = [&](const std::string& rerank) {
        const RunResult result =
            work.run({"evaluate", "-q", "-k", "4", "--rerank", rerank, "--neighbors-csv", "-"});
        CAPTURE(result.err);
        REQUIRE(result.exit_code == 0);
        return result.out;
    };
    const std::string plain = neighbors("none"), spread = neighbors("spread:5:mean:times:-0.5");
    CHECK(spread != plain);
    CHECK(neighbors("spread:5:deviation:plus:0") == plain);
    for (const char* other : {"spread:5:mean:times:0.5", "spread:5:mean:plus:-0.5", "spread:5:deviation"})
        CHECK(neighbors(other) != spread);
    const RunResult one = work.run({"evaluate", "-q", "-k", "4", "--rerank", "spread:5:mean:times:-0.5",
                                    "--threads", "1", "--batch", "3", "--neighbors-csv", "-"});
    CHECK(one.out == spread);

    const RunResult text = work.run({"evaluate", "--rerank", "spread:5:deviation", "--report", "r"});
    CHECK(contains(text.out, "spread:5:deviation:times:"));
    CHECK(contains(text.out, "rerank"));  // the stage
    const json settings = json::parse(read_file(work.folder / "r/report.json"))["settings"];
    CHECK(settings["rerank"].get<std::string>().starts_with("spread:5:deviation:times:"));
    const RunResult view = work.run({"view", "--rerank", "spread:5:deviation", "--text", "--all", "-q"});
    RunOptions inside;
    inside.folder = work.folder.path.string();
    const RunResult again = program({"view", "--from", "r", "--text", "--all", "-q"}, inside);
    CAPTURE(again.err);
    CHECK(again.exit_code == 0);
    CHECK(again.out == view.out);
    CHECK(contains(again.out, "distance by spread"));
}

TEST_CASE("class spread: tune tries parameters, and its method is read by every command") {
    const Work work;
    const RunResult tuned = work.run({"tune", "-k", "1-8", "--rerank", "none", "--rerank", "spread:3",
                                      "--rerank", "spread:9:deviation:plus:0.25", "--rerank", "spread:3",
                                      "--json", "t.json", "--csv", "t.csv"});
    CAPTURE(tuned.err);
    REQUIRE(tuned.exit_code == 0);
    const json report = json::parse(read_file(work.folder / "t.json"));
    REQUIRE(report["searches"].size() == 3);
    CHECK(report["searches"][2]["rerank"] == "spread:9:deviation:plus:0.25");
    CHECK(contains(tuned.out, "spread:9:deviation:plus:0.25 of 96 candidates"));
    REQUIRE(
        work.run({"tune", "-k", "3", "--rerank", "spread:9:deviation:plus:0.25", "--save", "m"}).exit_code ==
        0);
    CHECK(contains(read_file(work.folder / "m"), "\nrerank spread:9:deviation:plus:0.25\n"));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"evaluate", "--method", "m"},
          {"audit", "--method", "m"},
          {"condense", "--method", "m", "--out", "small", "--rule", "both"},
          {"view", "--method", "m", "--text"},
          {"tune", "--method", "m", "-k", "1-3"}}) {
        const RunResult result = work.run(words);
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
    }
    std::ofstream(work.folder / "bad") << "mnist-knn method 1\nrerank spread:0\n";
    const RunResult bad = work.run({"evaluate", "--method", "bad"});
    CHECK(bad.exit_code == 1);
    CHECK(is_one_error_line(bad.err));
    CHECK(contains(bad.err, "bad: line 2: rerank spread:0: '0' is not allowed; expected 1 to 1023"));
}

TEST_CASE("class spread: one class, a class of one image, two images") {
    for (const auto& [classes, train] : std::vector<std::pair<std::vector<int>, int>>{
             {{9}, 20}, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255}, 12}, {{3, 4}, 2}}) {
        const Work work(classes, train);
        for (const char* parameters : {"spread", "spread:900:deviation:plus:-1"}) {
            CHECK(work.run({"evaluate", "-k", "2", "--rerank", parameters}).exit_code == 0);
            CHECK(work.run({"tune", "-k", "1", "--rerank", parameters}).exit_code == 0);
        }
    }
}

TEST_CASE("class spread: wrong parameters and metrics that are no integers are usage errors") {
    check_usage_error({"evaluate", "--rerank", "spread:x"});
    check_usage_error({"tune", "--rerank", "spread:3:mean:times:2"});
    check_usage_error({"classify", "--rerank", "both:3", "x.png"});
    const Work work;
    const RunResult cosine = work.run({"evaluate", "--metric", "cosine", "--rerank", "spread"});
    CHECK(cosine.exit_code == 2);
    CHECK(contains(cosine.err, "--rerank spread: scales integers, which distances by cosine are not"));
    CHECK(work.run({"evaluate", "--metric", "l1", "--rerank", "spread"}).exit_code == 0);
}
