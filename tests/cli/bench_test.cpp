/// `bench`: what it measures, leaves out and writes, by itself and by the cases of papers.

#include <regex>

#include "tests/cli/program.h"

using namespace knn::test;

namespace {

/// A small data set, and a folder that bench writes into: j as JSON and c as CSV.
struct Bench : Work {
    /// A run on random images that takes a fraction of a second, on the CPU alone.
    RunResult random(const Words& words = {}) const {
        return plain("bench --dim 20 --n-train 300 --n-query 25 --repeat 3 --seconds 0.1 --device cpu" +
                     words);
    }
    RunResult one(const std::string& name, const Words& words = {}) const {
        return plain("bench --repeat 1 --seconds 0.002 --device cpu --case " + name + words);
    }
    nlohmann::json measurements() const { return json_of("j")["measurements"]; }
};

}  // namespace

TEST_CASE_FIXTURE(
    Bench,
    "bench without a GPU measures the CPU and says what it left out, on random images or on a data set") {
    check_contains(silent_output(random()),
                   {"nth_element", "  cpu ", "left out", "--device cpu was given", "us/query",
                    "300 training and 25 test images of 20 pixels", "GB/s read and written", "\n  serial "});
    CHECK(contains(random("--progress always").err, "measuring"));
    check_contains(output("bench --seconds 0.1"), {"40 training and 17 test images of 15 pixels"});
    check_contains(output("bench --seconds 0.1 --n-train 30 --n-query 9 -k 30"),
                   {"30 training and 9 test images of 15 pixels"});
}

TEST_CASE_FIXTURE(Bench, "bench: random images that do not fit into the free memory are refused at once") {
    check_error(plain("bench --dim 65536 --n-train 4000000000 --n-query 5 --device cpu"), 1,
                "memory: drawing 4,000,000,005 random images of 65,536 pixels needs 250000001 MiB; expected "
                "at most ");
    check_error(plain("bench --dim 2 --n-train 5 --n-query 9223372036854775807 --device cpu"), 2,
                "expected a whole number from 1 to 4294967295");
}

TEST_CASE_FIXTURE(Bench, "bench for machines: JSON, CSV of which every line has every column, and an SVG") {
    output_of(random("--json j --csv c --plot b.svg --k 7 -q"));
    const json report = json_of("j");
    CHECK(report["schema"] == "mnist-knn/bench/1");
    CHECK(report["case"] == "compare");
    CHECK(report["correct"] == true);
    CHECK(report["limits"]["cpu_thread_copy_gb_per_s"] > 0);
    std::set<std::string> measured;
    for (const json& one : report["measurements"]) {
        if (one["name"] == "cpu") {  // a product and a sum for each pair and pixel
            const double operations = 2.0 * 25 * 300 * 20;
            CHECK(one["gflop_per_s"] == doctest::Approx(operations / one["median_ms"].get<double>() * 1e-6));
        }
        if (one["status"] != "measured") {
            CHECK(!one["reason"].get<std::string>().empty());
            continue;
        }
        measured.insert(one["name"]);
        CHECK(one["k"] == 7);
        CHECK(one["runs"] == 3);
        CHECK(one["queries_measured"] == 25);
        CHECK(one["min_ms"] <= one["median_ms"]);
        CHECK(one["median_ms"] <= one["max_ms"]);
    }
    CHECK(measured == std::set<std::string>{"cpu", "nth_element", "serial"});
    const std::vector<std::string> lines = lines_of(file("c"));
    CHECK(lines.size() >= 4);
    CHECK(lines[0] ==
          "experiment,part,name,device,n_train,n_query,dim,k,metric,p,queries_measured,runs,median_ms,min_ms,"
          "max_ms,us_per_query,gb_per_s,gflop_per_s,limit,share,status,reason");
    for (const std::string& line : lines) {
        const std::string unquoted = std::regex_replace(line, std::regex("\"[^\"]*\""), "");
        CHECK(std::ranges::count(unquoted, ',') == 21);
    }
    CHECK(file("b.svg").starts_with("<svg "));
    check_contains(file("b.svg"), {">nth_element</text>", "microseconds per query"});
}

TEST_CASE_FIXTURE(Bench, "bench writes the rows that --only names, and no others that their check needs") {
    for (const std::string name : {"serial", "nth_element", "serial_sort", "serial_insertion", "cpu"}) {
        const std::string out = output_of(random("--csv c --json j --only " + name));
        const json measurements = this->measurements();
        REQUIRE(measurements.size() == 1);
        const json& one = measurements[0];
        CHECK(one["name"] == name);
        CHECK(one["status"] == "measured");
        if (one["part"] == "select")
            CHECK(one["gb_per_s"] ==
                  doctest::Approx(25 * (4.0 * 300 + 8 * 5) / one["median_ms"].get<double>() * 1e-6));
        CHECK(csv_rows(file("c")).size() == 3);  // also the heading, and that no GPU is used
        CHECK(contains(out, "\n  " + name + " "));
        CHECK(contains(out, "engines, the training set resident") == (name == "cpu"));
        CHECK(contains(out, "one CPU thread,") == (name != "cpu"));
        CHECK(contains(out, "\n  serial ") == (name == "serial"));
    }
    random("--only serial_sort,serial,nth_element --csv c -q");
    CHECK(csv_rows(file("c")).size() == 5);  // "serial" once
    const auto measures_nothing = [&](const std::string& words) {
        const RunResult result = random(words);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(contains(result.err, "bench: nothing was measured"));
    };
    measures_nothing("--only serial --metric cosine --csv c --json j -q");
    CHECK(this->measurements().size() == 1);
    measures_nothing("--only serial_sort --metric cosine --json j -q");
    CHECK(this->measurements()[0]["reason"] == "serial_sort computes l2 distances only");
    // What the engine tensor has to beat is left out with the reason where there is no GPU.
    measures_nothing("--only classic+gemm+replace_max --json j -q");
    const json tensor = this->measurements();
    REQUIRE(tensor.size() == 1);
    CHECK(tensor[0]["name"] == "classic+gemm+replace_max");
    CHECK(tensor[0]["status"] == "left out");
    CHECK(!tensor[0]["reason"].get<std::string>().empty());
}

TEST_CASE_FIXTURE(Bench, "bench by another metric") {
    for (const Words words : {"--metric cosine", "--metric lp --p 1.5"}) {
        const bool is_lp = words[1] == "lp";
        CHECK(contains(output_of(random("--json j --csv c" + words)), ", metric " + words[1]));
        CHECK(json_of("j")["checked"] == "every answer against the CPU engine");
        for (const json& one : measurements()) {
            CAPTURE(one.dump());
            CHECK(one["metric"] == words[1]);
            CHECK(one.contains("p") == is_lp);
            CHECK(one["status"] == (one["name"] == "cpu" ? "measured" : "left out"));
            if (one["name"] == "nth_element")
                CHECK(contains(one["reason"].get<std::string>(), "nth_element computes l2 distances only"));
            if (one["name"] == "cpu") CHECK(one.contains("gflop_per_s") == !is_lp);
        }
        CHECK(contains(file("c"), is_lp ? ",5,lp,1.5,25," : ",5,cosine,,25,"));
    }
}

TEST_CASE_FIXTURE(
    Bench, "bench says of every name that was asked for what became of it, and draws no empty picture") {
    const RunResult result = random("--only classic --json j --csv c --plot p.svg");
    CHECK(result.exit_code == 1);
    CHECK(is_one_error_line(result.err));
    CHECK(contains(result.err, "p.svg: not written"));
    CHECK(!fs::exists(folder / "p.svg"));
    CHECK(contains(result.out, "classic: it runs on a GPU, and --device cpu was given"));
    CHECK(measurements().size() == 1);
    CHECK(measurements()[0]["status"] == "left out");
    const std::vector<std::string> lines = lines_of(file("c"));
    REQUIRE(lines.size() == 3);  // the engine, and that there is no GPU
    check_contains(lines[1], {",classic,gpu,", ",left out,\"it runs on a GPU, and --device cpu was given\""});
    check_contains(lines[2], {",GPU,", ",left out,--device cpu was given"});
}

TEST_CASE("bench on several GPUs measures engines by queries and by training images") {
    if (!json::parse(program("info --json -").out).contains("links")) return skip("fewer than two GPUs");
    const json report = json::parse(output_of(program(
        "bench --device gpu:all --only classic --dim 20 --n-train 3000 --n-query 500 --repeat 2 --json -")));
    std::set<std::string> rows;
    for (const json& one : report["measurements"])
        if (one["status"] == "measured") rows.insert(one["name"]);
    CHECK(rows == std::set<std::string>{"classic", "classic by queries", "classic by training"});
}

/// Marks in tables and pictures: tests/app/bench/figures_test.cpp.
TEST_CASE("a time that was multiplied is marked, also where both passes of seed 004 are added up") {
    const std::string zhu = output_of(Bench().one("zhu"));
    CHECK(contains(zhu, "*: fewer queries were timed, and their time multiplied"));
    const std::size_t begin = zhu.find("Table 3: both passes"), end = zhu.find("Table 4,");
    REQUIRE(begin < end);
    REQUIRE(end != std::string::npos);
    check_contains(zhu.substr(begin, end - begin),
                   {"small", "middle", "large", " *", "not run", "273590.0000", "111086.0613"});
    CHECK(contains(zhu, "Table 8: both passes, before and after the three tricks"));
    CHECK(contains(zhu, "55.39"));  // what the paper compares with a CPU, in Table 7
}

TEST_CASE_FIXTURE(Bench, "bench: the graph of the training set") {
    check_contains(
        output_of(this->one("graph", "--data . --json j -k 39")),
        {"40 training images of 15 pixels, each a query among all of them", "classic+gemm+replace_max"});
    CHECK(json_of("j")["correct"] == true);
    const json measurements = this->measurements();
    for (const json& one : measurements) {
        CHECK(one["k"] == 39);
        CHECK(one["n_query"] == 40);
        CHECK(one["status"] == (one["name"] == "cpu" ? "measured" : "left out"));
        CHECK(one.contains("open_ms") == (one["name"] == "cpu"));
    }
    CHECK(measurements.size() == 3);
    check_error(this->one("graph", "--data . --n-train 1"), 1, "expected at least two");
    // No test set is wanted.
    fs::create_directory(folder / "alone");
    for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
        fs::copy(folder / file, folder / "alone");
    for (const char* which : {"graph", "transforms"})
        check_contains(output_of(this->one(which, "--data alone --n-train 30")),
                       {"alone: 30 training images"});
}

TEST_CASE_FIXTURE(Bench, "bench: searches by direct products and by sketches") {
    output_of(program("info --write-synthetic " + (folder / "data")));
    check_contains(output_of(this->one("sketches", "--data data --json j -k 3")),
                   {"cpu, direct", "cpu, 64 columns", "cpu, 128 columns", "exact of a million"});
    CHECK(json_of("j")["correct"] == true);
    for (const json& one : measurements())
        CHECK(one["status"] == (one["name"].get<std::string>().starts_with("cpu") ? "measured" : "left out"));
}

TEST_CASE_FIXTURE(Bench, "bench: the transforms of the training set") {
    output_of(program("info --write-synthetic " + (folder / "data")));
    const Words words = "--data data --json j --csv c --n-train 300 --plot p.svg";
    check_contains(
        output_of(this->one("transforms", words + "--threads 2")),
        {"300 training images of 784 pixels", "300 images of each row against the definition", "us/image"});
    CHECK(contains(file("p.svg"), "microseconds per image"));
    CHECK(json_of("j")["correct"] == true);
    const std::map<std::string, int> bytes = {{"raw", 784},      {"deskew", 784}, {"normalize", 784},
                                              {"blur", 784},     {"pca:50", 50},  {"hog", 1296},
                                              {"gradients", 784}};
    std::set<std::string> seen;
    for (const json& one : this->measurements()) {
        CAPTURE(one.dump());
        REQUIRE(one["status"] == "measured");
        CHECK(one["part"] == "transform");
        const double n = one["queries_measured"], ms = one["median_ms"];
        CHECK(one["us_per_query"] == doctest::Approx(1e3 * ms / n));
        CHECK(one["gb_per_s"] == doctest::Approx(n * (784 + bytes.at(one["name"])) / ms * 1e-6));
        if (one["device"] == "cpu, 1 thread" && one.contains("limit")) CHECK(one["limit"] == "memory");
        CHECK(one.contains("share_of_limit") == one.contains("limit"));
        seen.insert(one["device"].get<std::string>() + " " + one["name"].get<std::string>());
    }
    CHECK(seen.size() == 2 * bytes.size());
    check_contains(file("c"), {"transforms,transform,gradients,cpu,300,300,784,", "transforms,,GPU,"});
    // On one thread there is one table.
    output_of(this->one("transforms", words + "--threads 1"));
    CHECK(this->measurements().size() == bytes.size());
    // A transform that the images do not allow is left out with the reason.
    check_contains(output_of(this->one("transforms", "--data . --n-train 1")),
                   {"1 image of each row against"});
    check_contains(output_of(this->one("transforms", "--data . --json j")),
                   {"pca:50: transform pca: 50 components of 40 images of 15 bytes; expected 1 to 15"});
    const json measurements = this->measurements();
    CHECK(!measurements.empty());
    for (const json& one : measurements)
        CHECK(one["name"] != "pca:50");
}

TEST_CASE_FIXTURE(Bench, "bench: re-ranking by kernels and by plain loops") {
    output_of(program("info --write-synthetic " + (folder / "data")));
    const auto run = [&](const std::string& n_train) {
        return output_of(
            this->one("rerank", "--data data --json j --n-query 20 --threads 2 --n-train " + n_train));
    };
    check_contains(run("300"), {"the nearest 96 by gradients as candidates", "ns/pair",
                                "20 queries of each row against"});
    CHECK(json_of("j")["correct"] == true);
    std::multiset<std::string> seen;
    for (const json& one : measurements()) {
        CAPTURE(one.dump());
        REQUIRE(one["status"] == "measured");
        CHECK(one["part"] == "rerank");
        CHECK(one["k"] == 96);
        seen.insert(one["device"].get<std::string>() + ": " + one["name"].get<std::string>());
    }
    for (const std::string name : {"distortion", "cells", "both"})
        for (const std::string& row :
             {"cpu: " + name, "cpu, 1 thread: " + name, "cpu, 1 thread: " + name + ", plain loops"})
            CHECK(seen.count(row) == 1);
    // Fewer training images than the usual candidates.
    CHECK(contains(run("40"), "the nearest 40 by gradients"));
}

TEST_CASE_FIXTURE(Bench, "seed 003: exact neighbors label as many images right as a run with that k") {
    const std::string text = output_of(this->one("garrett", "--data . --json j -k 3"));
    check_contains(text, {"9665", "9688", "37.21", "exact neighbors, k = 10", "exact neighbors, k = 3"});
    std::set<int> ks;
    for (const json& one : measurements()) {
        if (one["name"] != "cpu") continue;
        CHECK(one["status"] == "measured");
        ks.insert(one["k"].get<int>());
        const std::string k = std::to_string(one["k"].get<int>());
        const int correct = report("evaluate -k " + k)["result"]["correct"];
        const std::size_t row = text.find("exact neighbors, k = " + k);
        REQUIRE(row != std::string::npos);
        CHECK(
            contains(text.substr(row, text.find('\n', row) - row), " " + std::to_string(correct) + " of 17"));
    }
    CHECK(ks == std::set<int>{3, 10});
    const std::string same = output_of(this->one("garrett", "--data . -k 10"));
    CHECK(same.find("exact neighbors, k = 10") == same.rfind("exact neighbors, k = 10"));
    CHECK(same.find("right, k = 10") == same.rfind("right, k = 10"));
}

TEST_CASE_FIXTURE(Bench, "figures of seed 001 have a line for each k") {
    output_of(this->one("komarov", "--only nth_element --json j"));
    std::map<int, int> rows;
    for (const json& one : measurements())
        if (one["status"] == "measured") ++rows[one["k"]];
    CHECK(rows == std::map<int, int>{{16, 4}, {128, 4}, {512, 4}, {1024, 4}});
    if (!has_cuda) return;
    // A case of which the wanted rows need a GPU says so.
    for (const char* which : {"nolan", "komarov"}) {
        output_of(this->one(which, "--only multiselect --json j"));
        std::set<std::string> left_out;
        for (const json& one : measurements()) {
            CHECK(one["status"] == "left out");
            left_out.insert(one["name"]);
        }
        left_out.erase("auto-texture");  // before the selectors of nolan
        CHECK(left_out == std::set<std::string>{"multiselect"});
    }
}

TEST_CASE_FIXTURE(Bench, "every case runs without a GPU and shows what its paper states") {
    const struct {
        std::string name, part, needs_gpu;
        bool drawn = false;  ///< plots of the others are about a GPU: none is better than an empty one
    } cases[] = {{"garrett", "19500", "previous"},
                 {"nolan", "not stated", "rank512", true},
                 {"komarov", "not stated", "bucket_kth_row"},
                 {"singh", "74.48x", "row_shared512"},
                 {"zhu", "18400.6765", "half_contest"}};
    for (const auto& one : cases) {
        const RunResult result = this->one(one.name, Words("--json j --csv c --plot " + one.name + ".svg") +
                                                         (one.name == "garrett" ? "--data ." : ""));
        CHECK(result.exit_code == (one.drawn ? 0 : 1));
        CHECK(contains(result.err, "nothing was measured that it would show") == !one.drawn);
        CHECK(fs::exists(folder / (one.name + ".svg")) == one.drawn);
        CHECK(contains(result.out, one.part));
        CHECK(contains(result.out, "left out"));
        const json report = json_of("j");
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
                CHECK(contains(file("c"), row["name"].get<std::string>() + ",gpu,"));
            }
        CHECK(left_out.contains(one.needs_gpu));
    }
}
