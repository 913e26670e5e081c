#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/cli/program.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;

namespace {

struct Files {
    std::string json, predictions, neighbors;
};

/// One run on the CPU that writes all three files.
Files evaluate(const Folder& folder, std::vector<std::string> extra) {
    std::vector<std::string> words = {"evaluate",      "-q",         "--device",        "cpu",
                                      "--data",        folder / "",  "--json",          folder / "j",
                                      "--predictions", folder / "p", "--neighbors-csv", folder / "n"};
    words.insert(words.end(), extra.begin(), extra.end());
    const RunResult result = program(words);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return {read_file(folder / "j"), read_file(folder / "p"), read_file(folder / "n")};
}

/// (squared distance, index) of all training images, in order.
std::vector<std::pair<int, int>> all_neighbors(const SmallSet& set, std::size_t query, std::size_t n_train) {
    std::vector<std::pair<int, int>> all;
    for (std::size_t t = 0; t < n_train; ++t) {
        int sum = 0;
        for (std::size_t i = 0; i < set.test_images[query].size(); ++i) {
            const int difference = set.test_images[query][i] - set.train_images[t][i];
            sum += difference * difference;
        }
        all.emplace_back(sum, static_cast<int>(t));
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// The majority label of the neighbors, ties to the smallest label, and its share.
std::pair<int, double> majority(const SmallSet& set, const std::vector<std::pair<int, int>>& all, int k) {
    std::map<int, int> votes;
    for (int rank = 0; rank < k; ++rank)
        ++votes[set.train_labels[static_cast<std::size_t>(all[static_cast<std::size_t>(rank)].second)]];
    const auto winner = std::max_element(votes.begin(), votes.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return {winner->first, static_cast<double>(winner->second) / k};
}

void check_against_brute_force(const SmallSet& set, const Files& files, int k, std::size_t n_train,
                               std::size_t n_test) {
    const auto neighbors = csv_rows(files.neighbors), predictions = csv_rows(files.predictions);
    CHECK(files.neighbors.find('\r') == std::string::npos);
    REQUIRE(neighbors.size() == 1 + n_test * static_cast<std::size_t>(k));
    REQUIRE(predictions.size() == 1 + n_test);
    std::size_t line = 1;
    for (std::size_t q = 0; q < n_test; ++q) {
        const auto all = all_neighbors(set, q, n_train);
        for (int rank = 1; rank <= k; ++rank, ++line) {
            const auto [distance, index] = all[static_cast<std::size_t>(rank - 1)];
            const std::vector<std::string> expected = {
                std::to_string(q), std::to_string(rank), std::to_string(index),
                std::to_string(set.train_labels[static_cast<std::size_t>(index)]), std::to_string(distance)};
            REQUIRE(neighbors[line] == expected);
        }
        const auto [label, share] = majority(set, all, k);
        CHECK(predictions[q + 1][0] == std::to_string(q));
        CHECK(predictions[q + 1][1] == std::to_string(set.test_labels[q]));
        CHECK(predictions[q + 1][2] == std::to_string(label));
        CHECK(std::stod(predictions[q + 1][4]) == doctest::Approx(share));
    }
}

void check_sums(const json& report) {
    const json& result = report["result"];
    std::int64_t total = 0, correct = 0;
    for (std::size_t t = 0; t < result["confusion"].size(); ++t) {
        std::int64_t support = 0;
        for (const auto& count : result["confusion"][t])
            support += count.get<std::int64_t>();
        CHECK(result["per_class"][t]["support"] == support);
        CHECK(result["per_class"][t]["label"] == result["labels"][t]);
        total += support;
        correct += result["confusion"][t][t].get<std::int64_t>();
    }
    CHECK(result["total"] == total);
    CHECK(result["correct"] == correct);
    CHECK(result["accuracy"] == doctest::Approx(static_cast<double>(correct) / static_cast<double>(total)));
    CHECK(result["accuracy_low"] <= result["accuracy"]);
    CHECK(result["accuracy_high"] >= result["accuracy"]);
    CHECK(report["dataset"]["test"] == total);
    CHECK(report["dataset"]["classes"] == result["labels"].size());
    for (const auto& stage : report["timing"]["stages"])
        CHECK(stage["per_image_ms"].get<double>() * static_cast<double>(total) ==
              doctest::Approx(stage["total_ms"].get<double>()));
    CHECK(report["timing"]["wall_ms"] >= report["timing"]["search_ms"]);
}

}  // namespace

TEST_CASE("another data set: labels 1, 7 and 200, images of 5 x 3") {
    const Folder folder;
    SmallSet set;
    set.write(folder.path);
    for (const int k : {1, 5, 40}) {  // 40: all there are
        CAPTURE(k);
        const Files files = evaluate(folder, {"-k", std::to_string(k)});
        check_against_brute_force(set, files, k, 40, 17);
        const json report = json::parse(files.json);
        check_sums(report);
        CHECK(report["schema"] == "mnist-knn/evaluate/1");
        CHECK(report["settings"]["k"] == k);
        CHECK(report["settings"]["engine"] == "cpu");
        CHECK(report["settings"]["device"] == "cpu");
        CHECK(report["device"]["kind"] == "cpu");
        CHECK(report["dataset"]["rows"] == 5);
        CHECK(report["dataset"]["cols"] == 3);
        CHECK(report["dataset"]["synthetic"] == false);
        CHECK(report["result"]["labels"] == json({1, 7, 200}));
        CHECK(report["created"].get<std::string>().size() == 20);
    }
}

TEST_CASE("limits take the first images, larger ones take all") {
    const Folder folder;
    SmallSet set;
    set.write(folder.path);
    const Files some = evaluate(folder, {"--limit-train", "9", "--limit-test", "4", "-k", "9"});
    check_against_brute_force(set, some, 9, 9, 4);
    CHECK(json::parse(some.json)["dataset"]["train"] == 9);
    check_sums(json::parse(some.json));
    const Files all = evaluate(folder, {"--limit-train", "99999999999", "--limit-test", "1000"});
    check_against_brute_force(set, all, 5, 40, 17);
}

TEST_CASE("k beyond the training images is a usage error, after the limits") {
    const Folder folder;
    SmallSet().write(folder.path);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"evaluate", "--data", folder / "", "-k", "41"},
          {"evaluate", "--data", folder / "", "-k", "9", "--limit-train", "8"}}) {
        const RunResult result = program(words);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
        CHECK(result.err.find("k = ") != std::string::npos);
    }
}

TEST_CASE("the same bytes for any number of threads and any batch") {
    const Folder folder;
    SmallSet set;
    set.train = 700;
    set.test = 301;
    set.levels = 2;  // many equal distances
    set.write(folder.path);
    const Files first = evaluate(folder, {"--threads", "1"});
    check_against_brute_force(set, first, 5, 700, 301);
    for (const std::vector<std::string>& extra : {std::vector<std::string>{"--threads", "2"},
                                                  {"--threads", "7"},
                                                  {"--batch", "1"},
                                                  {"--batch", "64", "--threads", "3"},
                                                  {"--batch", "100000"}}) {
        const Files other = evaluate(folder, extra);
        CHECK(other.predictions == first.predictions);
        CHECK(other.neighbors == first.neighbors);
    }
}

TEST_CASE("what goes to standard output has it for itself") {
    const Folder folder;
    SmallSet().write(folder.path);
    const std::vector<std::string> words = {"evaluate", "--data", folder / "", "--device", "cpu"};
    const auto with = [&](const std::vector<std::string>& extra) {
        std::vector<std::string> all = words;
        all.insert(all.end(), extra.begin(), extra.end());
        return program(all);
    };
    const RunResult report = with({"--json", "-"});
    CHECK(report.exit_code == 0);
    CHECK(json::accept(report.out));
    const RunResult quiet = with({"--json", "-", "-q"});
    CHECK(json::accept(quiet.out));
    CHECK(quiet.err.empty());
    CHECK(with({"--predictions", "-"}).out.starts_with("index,label,predicted,confidence,vote_share\n0,"));
    CHECK(lines_of(with({"--predictions", "-"}).out).size() == 18);
    CHECK(with({"--neighbors-csv", "-"}).out.starts_with("query,rank,index,label,distance\n0,1,"));
    CHECK(lines_of(with({"--neighbors-csv", "-"}).out).size() == 1 + 17 * 5);
}

TEST_CASE("the report for people") {
    const Folder folder;
    SmallSet().write(folder.path);
    const RunResult result = program({"evaluate", "--data", folder / "", "--device", "cpu"});
    CHECK(result.exit_code == 0);
    for (const char* part :
         {"40 training and 17 test images of 5 x 3, 3 classes", "\nengine    cpu, ", "k = 5, metric l2",
          "accuracy ", "95 % interval", "true \\ predicted", "precision", "whole run"})
        CHECK(result.out.find(part) != std::string::npos);
    CHECK(result.out.find('\x1b') == std::string::npos);
    CHECK(result.err.empty());
    const RunResult quiet = program({"evaluate", "--data", folder / "", "--device", "cpu", "-q"});
    CHECK(quiet.out.starts_with("accuracy "));
    CHECK(lines_of(quiet.out).size() == 1);
    CHECK(result.out.find(quiet.out) != std::string::npos);
}

TEST_CASE("without a data set the built-in digits are used, and that is said") {
    const RunResult result =
        program({"evaluate", "--device", "cpu", "--limit-train", "500", "--limit-test", "50"});
    CHECK(result.exit_code == 0);
    CHECK(result.err.find("note: no data set found: using the built-in synthetic digits") !=
          std::string::npos);
    CHECK(result.out.find("synthetic") != std::string::npos);
    const RunResult quiet = program(
        {"evaluate", "--device", "cpu", "--limit-train", "500", "--limit-test", "50", "-q", "--json", "-"});
    CHECK(quiet.err == result.err);  // quiet or not
    CHECK(json::parse(quiet.out)["dataset"]["synthetic"] == true);
}

TEST_CASE("a usual folder that lacks a file is told of, by every command") {
    const Folder folder;
    std::filesystem::create_directories(folder / "data/mnist");
    SmallSet().write(folder / "data/mnist");
    std::filesystem::remove(folder / "data/mnist/t10k-labels-idx1-ubyte");
    RunOptions here;
    here.folder = folder.path.string();
    const std::string lacks = "data/mnist: lacks t10k-labels-idx1-ubyte";
    for (const std::string command : {"evaluate", "view"}) {
        std::vector<std::string> words = {command,         "--device", "cpu",          "-q",
                                          "--limit-train", "500",      "--limit-test", "5"};
        if (command == "view") words.emplace_back("--text");
        const RunResult result = program(words, here);
        CHECK(result.exit_code == 0);
        CHECK(result.err == "mnist-knn: note: no complete data set found (" + lacks +
                                "): using the built-in synthetic digits; 'mnist-knn info' tells how to get "
                                "MNIST\n");
    }
    CHECK(program({"info"}, here).out.find(lacks) != std::string::npos);
    CHECK(json::parse(program({"info", "--json", "-"}, here).out)["dataset"]["incomplete"] == json{lacks});
}

TEST_CASE("one image is no images, and one class no classes") {
    const Folder folder;
    SmallSet set;
    set.classes = {4};
    set.write(folder.path);
    const RunResult result =
        program({"evaluate", "--data", folder / "", "--device", "cpu", "--limit-test", "1"});
    CHECK(result.out.find("40 training and 1 test image of 5 x 3, 1 class\n") != std::string::npos);
}

TEST_CASE("names from the user reach a terminal without control characters") {
    const Folder folder;
    const std::string name = folder / "\x1b[31mred\n\xff\xc2\x9b\u00e9";
    std::filesystem::create_directory(name);
    SmallSet().write(name);
    for (const std::string command : {"evaluate", "info"}) {
        std::vector<std::string> words = {command, "--data", name};
        if (command == "evaluate") words.insert(words.end(), {"--device", "cpu"});
        const RunResult result = program(words);
        CHECK(result.exit_code == 0);
        CHECK(result.out.find("?[31mred???\u00e9") != std::string::npos);
        for (const char c : {'\x1b', '\xff', '\x9b'})
            CHECK(result.out.find(c) == std::string::npos);
    }
}

TEST_CASE("--report writes all of it and makes the folder") {
    const Folder folder;
    SmallSet().write(folder.path);
    const std::string report = folder / "a/b/report";
    const RunResult result = program({"evaluate", "--data", folder / "", "--device", "cpu", "--report",
                                      report, "--predictions", folder / "p"});
    REQUIRE(result.exit_code == 0);
    CHECK(json::accept(read_file(report + "/report.json")));
    CHECK(read_file(report + "/predictions.csv") == read_file(folder / "p"));
    CHECK(read_file(report + "/index.html").starts_with("<!"));
    if (has_opencv)
        CHECK(read_file(report + "/confusion.png").starts_with("\x89PNG"));
    else
        CHECK(result.err.find("this build has no OpenCV") != std::string::npos);
}

TEST_CASE("without a GPU: if it was asked for it is missed, else the CPU answers and one line says so") {
    const Folder folder;
    SmallSet().write(folder.path);
    const json here = json::parse(program({"info", "--json", "-"}).out);
    if (here["devices"][0]["kind"] == "gpu") return skip("this machine has a GPU");
    for (const std::string device : {"gpu", "gpu:0"}) {
        const RunResult result = program({"evaluate", "--data", folder / "", "--device", device});
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(result.out.empty());
    }
    for (const std::string engine : {"classic", "auto"}) {
        const RunResult result = program({"evaluate", "--data", folder / "", "--engine", engine});
        CHECK(result.exit_code == 0);
        CHECK(result.err.starts_with("mnist-knn: note: no GPU ("));
        CHECK(lines_of(result.err).size() == 1);
        CHECK(result.out.find("\nengine    cpu, ") != std::string::npos);
        const RunResult quiet = program({"evaluate", "--data", folder / "", "--engine", engine, "-q"});
        CHECK(quiet.err == result.err);
        CHECK(lines_of(quiet.out).size() == 1);
    }
    const RunResult named = program({"evaluate", "--data", folder / "", "--engine", "cpu"});
    CHECK(named.exit_code == 0);
    CHECK(named.err.empty());  // nothing was replaced
}
