#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <set>

#include "tests/cli/program.h"
#include "tests/support/build.h"

using namespace knn::test;
using nlohmann::json;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> small_case(const std::string& name, const std::vector<std::string>& extra = {}) {
    std::vector<std::string> words = {"bench",    "--case", name,        "--device", "cpu",
                                      "--repeat", "1",      "--seconds", "0.002"};
    words.insert(words.end(), extra.begin(), extra.end());
    return words;
}

}  // namespace

TEST_CASE("a time that was multiplied is marked, in the table and in the picture") {
    const Folder folder;
    const RunResult zhu = program(small_case("zhu"));
    CHECK(zhu.exit_code == 0);
    CHECK(contains(zhu.out, " *  "));
    CHECK(contains(zhu.out, "*: fewer queries were timed, and their time multiplied"));
    const RunResult nolan =
        program(small_case("nolan", {"--only", "nth_element", "--plot", folder / "p.svg"}));
    CHECK(nolan.exit_code == 0);
    CHECK(contains(read_file(folder / "p.svg"), ">hollow: a CPU thread, timed on fewer queries"));
    const RunResult all = program({"bench", "--dim", "20", "--n-train", "3000", "--n-query", "2000",
                                   "--device", "cpu", "--seconds", "0.001", "--plot", folder / "q.svg"});
    CHECK(all.exit_code == 0);
    CHECK(contains(all.out, "*: timed on fewer than all queries"));
    CHECK(contains(all.out, "times are multiplied"));
    CHECK(contains(read_file(folder / "q.svg"), ">nth_element *</text>"));
    CHECK(contains(read_file(folder / "q.svg"), ">*: timed on fewer than all queries"));
}

TEST_CASE("a case of which the wanted rows need a GPU says so") {
    if (!has_cuda) return check_usage_error({"bench", "--only", "multiselect"});  // no such name
    for (const char* which : {"nolan", "komarov"}) {
        const RunResult result = program(small_case(which, {"--only", "multiselect", "--json", "-"}));
        CHECK(result.exit_code == 0);
        const json measurements = json::parse(result.out)["measurements"];
        REQUIRE(measurements.size() == 1);
        CHECK(measurements[0]["name"] == "multiselect");
        CHECK(measurements[0]["status"] == "left out");
    }
}

TEST_CASE("the graph of the training set") {
    const Folder folder;
    SmallSet().write(folder.path);
    const RunResult result =
        program(small_case("graph", {"--data", folder / "", "--json", folder / "j", "-k", "39"}));
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "40 training images of 15 pixels, each a query among all of them"));
    CHECK(contains(result.out, "classic+gemm+replace_max"));
    const json report = json::parse(read_file(folder / "j"));
    CHECK(report["correct"] == true);
    for (const json& one : report["measurements"]) {
        CHECK(one["k"] == 39);
        CHECK(one["n_query"] == 40);
        CHECK(one["status"] == (one["name"] == "cpu" ? "measured" : "left out"));
        CHECK(one.contains("open_ms") == (one["name"] == "cpu"));
    }
    CHECK(report["measurements"].size() == 3);

    const RunResult refused = program(small_case("graph", {"--data", folder / "", "-k", "40"}));
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "expected at most 39"));
    const RunResult lonely = program(small_case("graph", {"--n-train", "1"}));
    CHECK(lonely.exit_code == 1);
    CHECK(contains(lonely.err, "expected at least 2 images"));
    const RunResult of_set =
        program(small_case("graph", {"--data", folder / "", "--json", folder / "train-images-idx3-ubyte"}));
    CHECK(of_set.exit_code != 0);  // not over the data
}

TEST_CASE("the transforms of the training set") {
    const Folder folder;
    REQUIRE(program({"info", "--write-synthetic", folder / "data"}).exit_code == 0);
    const std::vector<std::string> data = {"--data", folder / "data", "--json",    folder / "j",
                                           "--csv",  folder / "c",    "--n-train", "300",
                                           "--plot", folder / "p.svg"};
    std::vector<std::string> words = data;
    words.insert(words.end(), {"--threads", "2"});
    const RunResult result = program(small_case("transforms", words));
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "300 training images of 784 pixels"));
    CHECK(contains(result.out, "300 images of each row against the definition"));
    CHECK(contains(result.out, "us/image"));
    CHECK(contains(read_file(folder / "p.svg"), "microseconds per image"));
    const json report = json::parse(read_file(folder / "j"));
    CHECK(report["correct"] == true);
    const std::map<std::string, int> bytes = {{"raw", 784},      {"deskew", 784}, {"normalize", 784},
                                              {"blur", 784},     {"pca:50", 50},  {"hog", 1296},
                                              {"gradients", 784}};
    std::set<std::string> seen;
    for (const json& one : report["measurements"]) {
        CAPTURE(one.dump());
        REQUIRE(one["status"] == "measured");
        CHECK(one["part"] == "transform");
        const double n = one["queries_measured"], ms = one["median_ms"];
        CHECK(one["us_per_query"] == doctest::Approx(1e3 * ms / n));
        const double moved = n * (784 + bytes.at(one["name"]));
        CHECK(one["gb_per_s"] == doctest::Approx(moved / ms * 1e-6));
        if (one["device"] == "cpu, 1 thread" && one.contains("limit")) CHECK(one["limit"] == "memory");
        CHECK(one.contains("share_of_limit") == one.contains("limit"));
        seen.insert(one["device"].get<std::string>() + " " + one["name"].get<std::string>());
    }
    CHECK(seen.size() == 2 * bytes.size());
    CHECK(contains(read_file(folder / "c"), "transforms,transform,gradients,cpu,300,300,784,"));
    CHECK(contains(read_file(folder / "c"), "transforms,,GPU,"));
    // On one thread there is one table.
    words = data;
    words.insert(words.end(), {"--threads", "1"});
    CHECK(program(small_case("transforms", words)).exit_code == 0);
    CHECK(json::parse(read_file(folder / "j"))["measurements"].size() == bytes.size());
}

TEST_CASE("re-ranking by kernels and by plain loops") {
    const Folder folder;
    REQUIRE(program({"info", "--write-synthetic", folder / "data"}).exit_code == 0);
    std::vector<std::string> words = {"--data",    folder / "data", "--json",    folder / "j",
                                      "--n-train", "300",           "--n-query", "20"};
    words.insert(words.end(), {"--threads", "2"});
    const RunResult result = program(small_case("rerank", words));
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "the nearest 96 by gradients as candidates"));
    CHECK(contains(result.out, "ns/pair"));
    const json report = json::parse(read_file(folder / "j"));
    CHECK(report["correct"] == true);
    std::set<std::string> seen;
    for (const json& one : report["measurements"]) {
        CAPTURE(one.dump());
        REQUIRE(one["status"] == "measured");
        CHECK(one["part"] == "rerank");
        CHECK(one["k"] == 96);
        seen.insert(one["device"].get<std::string>() + ": " + one["name"].get<std::string>());
    }
    for (const char* name : {"distortion", "cells", "both"}) {
        CHECK(seen.count(std::string("cpu: ") + name) == 1);
        CHECK(seen.count(std::string("cpu, 1 thread: ") + name) == 1);
        CHECK(seen.count(std::string("cpu, 1 thread: ") + name + ", plain loops") == 1);
    }
    // Fewer training images than the usual candidates.
    words[5] = "40";
    CHECK(contains(program(small_case("rerank", words)).out, "the nearest 40 by gradients"));
}

TEST_CASE("a transform that the images do not allow is left out with the reason") {
    const Folder folder;
    SmallSet().write(folder.path);
    const RunResult result =
        program(small_case("transforms", {"--data", folder / "", "--json", folder / "j"}));
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out,
                   "pca:50: transform pca: 50 components of 40 images of 15 bytes; expected 1 to 15"));
    const json report = json::parse(read_file(folder / "j"));
    CHECK(!report["measurements"].empty());
    for (const json& one : report["measurements"])
        CHECK(one["name"] != "pca:50");
}

TEST_CASE("both passes of seed 004 on one CPU thread are added up") {
    const RunResult result = program(small_case("zhu"));
    CHECK(result.exit_code == 0);
    const std::size_t begin = result.out.find("Table 3: both passes"), end = result.out.find("Table 4,");
    REQUIRE(begin < end);
    REQUIRE(end != std::string::npos);
    const std::string table = result.out.substr(begin, end - begin);
    for (const char* part : {"small", "middle", "large", " *", "not run", "273590.0000", "111086.0613"}) {
        CAPTURE(part);
        CHECK(contains(table, part));
    }
    CHECK(contains(result.out, "Table 8: both passes, before and after the three tricks"));
}

TEST_CASE("figures of seed 001 have a line for each k") {
    const RunResult result = program(small_case("komarov", {"--only", "nth_element", "--json", "-"}));
    CHECK(result.exit_code == 0);
    std::map<int, int> rows;
    const json report = json::parse(result.out);
    for (const json& one : report["measurements"])
        if (one["status"] == "measured") ++rows[one["k"]];
    CHECK(rows == std::map<int, int>{{16, 4}, {128, 4}, {512, 4}, {1024, 4}});
}

TEST_CASE("every case runs without a GPU and shows what its paper states") {
    const Folder folder;
    SmallSet().write(folder.path);
    const struct {
        const char *name, *part, *needs_gpu;
    } cases[] = {{"garrett", "19500", "ladder_unroll8"},
                 {"nolan", "not stated", "rank512"},
                 {"komarov", "not stated", "bucket_kth"},
                 {"singh", "74.48x", "row_shared512"},
                 {"zhu", "18400.6765", "pair_contest"}};
    for (const auto& one : cases) {
        std::vector<std::string> extra = {"--json",     folder / "j", "--csv",
                                          folder / "c", "--plot",     folder / one.name + ".svg"};
        if (one.name == std::string("garrett")) extra.insert(extra.end(), {"--data", folder / ""});
        const RunResult result = program(small_case(one.name, extra));
        CAPTURE(one.name);
        CAPTURE(result.err);
        // The plots of the others are about a GPU: none is better than an empty one.
        const bool drawn = one.name == std::string("nolan") || one.name == std::string("komarov");
        CHECK(result.exit_code == (drawn ? 0 : 1));
        CHECK(contains(result.err, "nothing was measured that it would show") == !drawn);
        CHECK(fs::exists(folder / one.name + ".svg") == drawn);
        CHECK(contains(result.out, one.part));
        CHECK(contains(result.out, "left out"));
        const json report = json::parse(read_file(folder / "j"));
        CHECK(report["case"] == one.name);
        CHECK(report["correct"] == true);
        CHECK(!report["paper"].empty());
        CHECK(!report["measurements"].empty());
        std::set<std::string> left_out;
        for (const json& row : report["measurements"])
            if (row["status"] == "left out") {
                left_out.insert(row["name"]);
                CHECK(row["reason"] == "it runs on a GPU, and --device cpu was given");
                CHECK(contains(result.out, row["name"].get<std::string>()));
                CHECK(contains(read_file(folder / "c"), row["name"].get<std::string>() + ",gpu,"));
            }
        CHECK(left_out.contains(one.needs_gpu));
    }
}
