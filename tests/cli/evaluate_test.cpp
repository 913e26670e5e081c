/// What `evaluate` answers and reports.

#include "tests/cli/program.h"

using namespace knn::test;

namespace {

/// One metric as the command line has it.
struct Choice {
    Words words;
    knn::Measure measure;

    double distance(std::int64_t score) const {
        if (is_integral(measure.metric)) return static_cast<double>(score);
        const float value = std::bit_cast<float>(static_cast<std::uint32_t>(score));
        return measure.metric == knn::Metric::lp ? 255 * std::pow(value, 1 / measure.p) : value;
    }
};

const std::vector<Choice>& choices() {
    using enum knn::Metric;
    static const std::vector<Choice> all = {
        {"--metric l2", {l2}},          {"--metric l1", {l1}},
        {"--metric lp --p 3", {lp, 3}}, {"--metric lp --p 0.5", {lp, 0.5}},
        {"--metric cosine", {cosine}},  {"--metric pearson", {pearson}},
    };
    return all;
}

/// The outputs j, p and n against plain loops over the first images.
void check_against_loops(const Work& work, const Words& words, std::size_t k, std::size_t n_train,
                         std::size_t n_test, const Choice& choice = choices()[0]) {
    work.output("evaluate -q --json j --predictions p --neighbors-csv n" + words + choice.words);
    const SmallSet& set = work.set;
    Rows train = set.train_images;
    train.n = static_cast<std::int64_t>(n_train);
    const auto all = nearest_rows(train, set.test_images, static_cast<int>(k), choice.measure);
    CHECK(!contains(work.file("n"), "\r"));
    const auto neighbors = csv_rows(work.file("n")), predictions = csv_rows(work.file("p"));
    REQUIRE(neighbors.size() == 1 + n_test * k);
    REQUIRE(predictions.size() == 1 + n_test);
    std::size_t line = 1;
    for (std::size_t q = 0; q < n_test; ++q) {
        for (std::size_t rank = 1; rank <= k; ++rank, ++line) {
            const auto [score, index] = all[q][rank - 1];
            std::vector<std::string> found = neighbors[line];
            REQUIRE(std::stod(found[4]) == doctest::Approx(choice.distance(score)).epsilon(1e-6));
            if (is_integral(choice.measure.metric)) REQUIRE(found[4] == std::to_string(score));
            found.pop_back();
            const std::vector<std::string> expected = {std::to_string(q), std::to_string(rank),
                                                       std::to_string(index),
                                                       std::to_string(set.train_labels[index])};
            REQUIRE(found == expected);
        }
        const auto [label, share] = majority(set, all[q], k);
        CHECK(predictions[q + 1][0] == std::to_string(q));
        CHECK(predictions[q + 1][1] == std::to_string(set.test_labels[q]));
        CHECK(predictions[q + 1][2] == std::to_string(label));
        CHECK(std::stod(predictions[q + 1][4]) == doctest::Approx(share));
    }
}

/// A classifier and the right answers that it gives to the first `tests` test images of MNIST, by tie and k.
struct Known {
    Words words;
    int tests;
    std::map<int, int> smallest, nearest = {};
};

/// One search for the largest k: the other counts are votes of the first of its neighbors, by the oracle.
void check_known(const Known& one, const Words& more) {
    const Folder folder;
    const int most = one.smallest.rbegin()->first;
    const json report = json::parse(output_of(
        program("evaluate --tie smallest --json - --neighbors-csv " + (folder / "n") + " --predictions " +
                (folder / "p") + " --data" + Words{mnist_folder()} + "--limit-test " +
                std::to_string(one.tests) + " -k " + std::to_string(most) + one.words + more)));
    CHECK(report["result"]["correct"] == one.smallest.at(most));
    CHECK(report["dataset"]["name"] == "MNIST");
    const auto neighbors = csv_rows(read_file(folder / "n")), predictions = csv_rows(read_file(folder / "p"));
    REQUIRE(neighbors.size() == 1 + static_cast<std::size_t>(one.tests * most));
    std::vector<std::uint8_t> labels(60'000);
    for (const auto& row : std::span(neighbors).subspan(1))
        labels.at(std::stoul(row[2])) = static_cast<std::uint8_t>(std::stoi(row[3]));
    const auto count = [&](int k, knn::Tie tie) {
        int right = 0;
        for (std::size_t q = 0; q < static_cast<std::size_t>(one.tests); ++q) {
            std::vector<knn::Neighbor> voters;
            for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
                const std::string& index = neighbors[1 + q * static_cast<std::size_t>(most) + i][2];
                voters.push_back({0, static_cast<std::uint32_t>(std::stoul(index))});
            }
            const int label = vote(voters, labels, knn::Weights::uniform, tie, {}).label;
            right += std::to_string(label) == predictions[q + 1][1] ? 1 : 0;
        }
        return right;
    };
    for (const auto& [tie, counts] :
         {std::pair(knn::Tie::smallest, one.smallest), {knn::Tie::nearest, one.nearest}})
        for (const auto& one_count : counts) {
            CAPTURE(one_count.first);
            CHECK(count(one_count.first, tie) == one_count.second);
        }
}

}  // namespace

/// The sums of a report: tests/classifier/evaluation_test.cpp; its other fields: tests/app/report/reports_test.cpp.
TEST_CASE("another data set: labels 1, 7 and 200, images of 5 x 3, all of them or the first") {
    const Work work;
    for (const std::string k : {"1", "5", "40"}) {  // 40: all there are
        check_against_loops(work, "-k " + k, std::stoul(k), 40, 17);
        const json report = work.json_of("j");
        CHECK(report["settings"]["k"] == std::stoi(k));
        CHECK(report["settings"]["engine"] == "cpu");
        CHECK(report["settings"]["device"] == "cpu");
        CHECK(report["device"]["kind"] == "cpu");
        CHECK(report["dataset"]["cols"] == 3);
        CHECK(report["dataset"]["synthetic"] == false);
        CHECK(report["result"]["calibration"]["fitted"] == false);  // of too few training images
        CHECK(report["result"]["labels"] == json({1, 7, 200}));
        CHECK(report["created"].get<std::string>().size() == 20);
        CHECK(report["timing"]["wall_ms"] >= report["timing"]["search_ms"]);
    }
    // Many equal distances.
    check_against_loops(Work({.train = 700, .test = 301, .levels = 2}), "", 5, 700, 301);
    check_against_loops(work, "--limit-train 9 --limit-test 4 -k 9", 9, 9, 4);
    CHECK(work.json_of("j")["dataset"]["train"] == 9);
    check_against_loops(work, "--limit-train 99999999999 --limit-test 1000", 5, 40, 17);
}

TEST_CASE("neighbors by every metric have its distances, in order, on any machine") {
    const Work work({.train = 90, .levels = 3});
    for (const Choice& choice : choices()) {
        check_against_loops(work, "-k 90", 90, 90, 17, choice);
        const RunResult anywhere = work.plain("evaluate --data . -q -k 90 --neighbors-csv -" + choice.words);
        CHECK(anywhere.exit_code == 0);
        CHECK(anywhere.out == work.file("n"));
        CHECK(lines_of(anywhere.err).size() <= 1);  // no GPU, or not on the GPU
    }
}

TEST_CASE("a report says by which metric, transform and re-ranking, and view reads it back") {
    const Work work({.rows = 11, .cols = 9, .train = 60, .test = 40, .levels = 200});
    struct Row {
        Words words;
        std::string key, value;
        const char* distance = "";
    };
    const char* features = "squared distance of features";
    std::vector<Row> rows = {
        {"--transform gradients", "transform", "gradients", features},
        {"--transform deskew,pca:9", "transform", "deskew,pca:9", features},
        {"--rerank spread:5:deviation", "rerank", "spread:5:deviation:times:", "distance scaled by spread"},
        {"--rerank both", "rerank", "both", "distance with shifted pixels"}};
    for (const Choice& choice : choices())
        rows.push_back({choice.words, "metric", choice.words[1]});
    const std::string raw = work.output("view --text --all -q");
    for (const Row& row : rows) {
        work.output("evaluate -q --report r" + row.words);
        const json settings = work.json_of("r/report.json")["settings"];
        const std::string said = settings[row.key];
        CHECK((row.key == "rerank" ? said.starts_with(row.value) : said == row.value));
        CHECK(settings.contains("p") == (row.value == "lp"));
        if (settings.contains("p")) CHECK(settings["p"] == std::stod(row.words[3]));
        const std::string view = work.output("view --text --all -q" + row.words);
        const Words again = "view --from r --text --all -q";
        CHECK(output_of(work.plain(again)) == view);
        CHECK(contains(view, row.distance));
        CHECK((view != raw || row.value == "l2"));
        fs::remove(work.folder / "r/predictions.csv");  // searched again then
        CHECK(output_of(work.plain(again)) == view);
        const json page = page_data(output_of(work.plain("view --from r --all --html -")));
        if (row.distance == features) CHECK(page["gallery"]["distance"] == features);
    }
}

/// Its other lines: tests/app/report/reports_test.cpp.
TEST_CASE_FIXTURE(Work, "the report for people") {
    const std::string text = silent_output(run("evaluate")), quiet = output("evaluate -q");
    check_contains(text, {"40 training and 17 test images of 5 x 3, 3 classes", "precision", "whole run"});
    CHECK(!contains(text, "\x1b"));
    CHECK(lines_of(quiet).size() == 1);
    CHECK(contains(text, '\n' + quiet));
    check_contains(Work({.classes = {4}}).output("evaluate --limit-test 1"),
                   {"40 training and 1 test image of 5 x 3, 1 class\n"});
    check_contains(output("evaluate --memory 100"), {"at most 100 bytes of training images at once"});
}

TEST_CASE("without a data set the built-in digits are used, and that is said") {
    const Words words = "evaluate --device cpu --limit-train 500 --limit-test 50";
    const RunResult result = program(words);
    check_contains(output_of(result), {"synthetic"});
    check_contains(result.err, {"note: no data set found: using the built-in synthetic digits"});
    const RunResult quiet = program(words + "-q --json -");
    CHECK(quiet.err == result.err);  // quiet or not
    CHECK(json::parse(quiet.out)["dataset"]["synthetic"] == true);
}

TEST_CASE("a usual folder that lacks a file is told of, by every command") {
    const Folder folder;
    SmallSet().write(folder / "data/mnist");
    fs::remove(folder / "data/mnist/t10k-labels-idx1-ubyte");
    const RunOptions here{.folder = folder / ""};
    const std::string lacks = "data/mnist: lacks t10k-labels-idx1-ubyte";
    for (const Words command : {"evaluate", "view --text"}) {
        const RunResult result = program(command + "--device cpu -q --limit-train 500 --limit-test 5", here);
        CHECK(result.exit_code == 0);
        CHECK(result.err ==
              "mnist-knn: note: no complete data set found (" + lacks +
                  "): using the built-in synthetic digits; 'mnist-knn info' tells how to get MNIST\n");
    }
    CHECK(contains(program("info", here).out, lacks));
    CHECK(json::parse(program("info --json -", here).out)["dataset"]["incomplete"] == json{lacks});
}

TEST_CASE("confidences are fitted only for an output that shows them, and the times add up") {
    const Work work({.train = 300});
    for (const Words words : {"evaluate", "evaluate --neighbors-csv n"})
        CHECK(!contains(work.output(words), "confidence"));
    for (const std::string file : {"json j", "predictions p", "report r"}) {
        const std::string text = work.output(Words(("evaluate --" + file).c_str()));
        std::map<std::string, double> ms;
        for (const std::string& line : lines_of(text)) {
            std::istringstream words(line);
            std::string name, time;
            words >> name >> time;
            if (name == "whole") words >> time;
            if (name == "whole" || name == "search" || name == "load" || name == "confidence" ||
                name == "other")
                ms[name] = std::stod(time);
        }
        REQUIRE(ms.size() == 5);
        CHECK(std::abs(ms["search"] + ms["load"] + ms["confidence"] + ms["other"] - ms["whole"]) < 0.03);
    }
}

TEST_CASE_FIXTURE(Work, "a cache that cannot be written is noted once") {
    write(folder / "cache/mnist-knn", "no folder");
    const RunOptions here{.environment = {{"XDG_CACHE_HOME", folder / "cache"}}};
    const Words words = "evaluate --transform blur";
    const RunResult noted = run(words, here);
    output_of(noted);
    CHECK(noted.err.starts_with("mnist-knn: note: " + (folder / "cache/mnist-knn") +
                                ": the cache cannot be written"));
    CHECK(lines_of(noted.err).size() == 1);
    for (const Words more : {"-q", "--no-cache"})
        silent_output(run(words + more, here));
    silent_output(run(words, {.environment = {{"XDG_CACHE_HOME", folder / "new"}}}));
}

TEST_CASE_FIXTURE(
    Work, "without a GPU: if it was asked for it is missed, else the CPU answers and one line says so") {
    if (json::parse(program("info --json -").out)["devices"][0]["kind"] == "gpu")
        return skip("this machine has a GPU");
    for (const std::string device : {"gpu", "gpu:0"})
        check_error(plain("evaluate --data . --device " + device), 1);
    for (const std::string engine : {"classic", "tensor"})
        check_error(plain("evaluate --data . --engine " + engine), 1, "--engine " + engine + ": no GPU: ");
    for (const Words words : {"--tie smallest", "--engine auto"}) {
        const RunResult result = plain("evaluate --data ." + words);
        CHECK(contains(output_of(result), "\nengine    cpu, "));
        CHECK(result.err.starts_with("mnist-knn: note: no GPU ("));
        CHECK(!contains(result.err, "insufficient"));
        CHECK(lines_of(result.err).size() == 1);
        silent_output(plain("evaluate --data . -q" + words));
    }
    silent_output(plain("evaluate --data . --engine cpu"));  // nothing was replaced
}

TEST_CASE("the counts of right answers on MNIST, on each device that is here, by metrics and features") {
    if (mnist_folder().empty()) return skip(no_mnist);
    // Counted by an independent exact search; seed 003 reports the two for k = 5 and k = 10.
    const Known plain = {{}, 10000, {{1, 9691}, {3, 9705}, {5, 9688}, {10, 9665}}, {{3, 9717}, {5, 9693}}};
    check_known(plain, "--device cpu");
    if (json::parse(program("info --json -").out)["devices"][0]["kind"] == "gpu")
        check_known(plain, "--device gpu");
    // Metrics: counted once with numpy and scipy (cosine, pearson, l1) and with a plain loop over all pairs (lp).
    // Features: docs/accuracy.md; the transforms themselves are compared with an oracle by tests/cpu/transform.
    for (const Known& one :
         std::vector<Known>{{"--metric l1", 1000, {{1, 950}, {3, 953}, {5, 951}}},
                            {"--metric cosine", 1000, {{1, 969}, {3, 969}, {5, 971}}},
                            {"--metric cosine", 10000, {{5, 9730}}},
                            {"--metric pearson", 10000, {{5, 9744}}},
                            {"--metric pearson", 1000, {{1, 965}, {3, 968}, {5, 971}}},
                            {"--metric lp --p 3", 1000, {{1, 963}, {3, 964}, {5, 968}}},
                            {"--metric lp --p 1.5", 1000, {{1, 956}, {3, 960}, {5, 957}}},
                            {"--metric lp --p 0.5", 1000, {{1, 939}, {3, 943}, {5, 930}}},
                            {"--method gradients", 10000, {{1, 9928}, {3, 9935}, {5, 9937}, {10, 9927}}},
                            {"--transform deskew", 10000, {{1, 9833}, {5, 9844}}},
                            {"--transform normalize", 10000, {{5, 9711}}},
                            {"--transform blur", 10000, {{5, 9737}}},
                            {"--transform deskew,pca:50", 10000, {{5, 9853}}}})
        check_known(one, {});
}
