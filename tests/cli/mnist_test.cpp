#include <doctest/doctest.h>

#include <map>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;

TEST_CASE("the counts of right answers on MNIST, on each device that is here") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    struct Case {
        const char *k, *tie;
        int correct;
    };
    // Counted by an independent exact search; seed 003 reports the two for k = 5 and k = 10.
    const std::vector<Case> cases = {{"1", "smallest", 9691}, {"3", "smallest", 9705},
                                     {"5", "smallest", 9688}, {"10", "smallest", 9665},
                                     {"3", "nearest", 9717},  {"5", "nearest", 9693}};
    for (const Case& one : cases) {
        CAPTURE(one.k);
        CAPTURE(one.tie);
        std::vector<std::string> devices = {"cpu"};
        const json here = json::parse(program({"info", "--json", "-"}).out);
        if (here["devices"][0]["kind"] == "gpu") devices.push_back("gpu");
        for (const std::string& device : devices) {
            const RunResult result = program({"evaluate", "--data", mnist_folder(), "--device", device, "-k",
                                              one.k, "--tie", one.tie, "--json", "-"});
            REQUIRE(result.exit_code == 0);
            const json report = json::parse(result.out);
            CHECK(report["result"]["correct"] == one.correct);
            CHECK(report["dataset"]["name"] == "MNIST");
        }
    }
}

TEST_CASE("the counts of right answers on MNIST by other metrics") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    struct Case {
        std::vector<std::string> metric;
        const char* tests;
        std::map<std::string, int> correct;  ///< by k
    };
    // Counted once with numpy and scipy (cosine, pearson, l1) and with a plain loop over all pairs (lp).
    const std::vector<Case> cases = {
        {{"l1"}, "1000", {{"1", 950}, {"3", 953}, {"5", 951}}},
        {{"cosine"}, "1000", {{"1", 969}, {"3", 969}, {"5", 971}}},
        {{"cosine"}, "10000", {{"5", 9730}}},
        {{"pearson"}, "10000", {{"5", 9744}}},
        {{"pearson"}, "1000", {{"1", 965}, {"3", 968}, {"5", 971}}},
        {{"lp", "--p", "3"}, "1000", {{"1", 963}, {"3", 964}, {"5", 968}}},
        {{"lp", "--p", "1.5"}, "1000", {{"1", 956}, {"3", 960}, {"5", 957}}},
        {{"lp", "--p", "0.5"}, "1000", {{"1", 939}, {"3", 943}, {"5", 930}}},
    };
    for (const Case& one : cases)
        for (const auto& [k, correct] : one.correct) {
            CAPTURE(one.metric);
            CAPTURE(k);
            std::vector<std::string> words = {
                "evaluate", "--data", mnist_folder(), "--limit-test", one.tests, "-k", k,
                "--json",   "-",      "--metric"};
            words.insert(words.end(), one.metric.begin(), one.metric.end());
            const RunResult result = program(words);
            REQUIRE(result.exit_code == 0);
            CHECK(json::parse(result.out)["result"]["correct"] == correct);
        }
}

TEST_CASE("the counts of right answers on MNIST by features") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    struct Case {
        std::vector<std::string> words;
        std::map<std::string, int> wrong;  ///< by k
    };
    // docs/accuracy.md; the transforms themselves are compared with an oracle by tests/cpu/transform.
    const std::vector<Case> cases = {
        {{"--method", "gradients"}, {{"1", 72}, {"3", 65}, {"5", 63}, {"10", 73}}},
        {{"--transform", "deskew"}, {{"1", 167}, {"5", 156}}},
        {{"--transform", "normalize"}, {{"5", 289}}},
        {{"--transform", "blur"}, {{"5", 263}}},
        {{"--transform", "deskew,pca:50"}, {{"5", 147}}},
    };
    for (const Case& one : cases)
        for (const auto& [k, wrong] : one.wrong) {
            CAPTURE(one.words);
            CAPTURE(k);
            std::vector<std::string> words = {"evaluate", "--data", mnist_folder(), "-k", k, "--json", "-"};
            words.insert(words.end(), one.words.begin(), one.words.end());
            const RunResult result = program(words);
            REQUIRE(result.exit_code == 0);
            CHECK(json::parse(result.out)["result"]["correct"] == 10'000 - wrong);
        }
}
