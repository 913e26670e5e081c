#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A run on random images that takes a fraction of a second, on the CPU alone.
std::vector<std::string> small_bench(const std::vector<std::string>& extra = {}) {
    std::vector<std::string> words = {"bench",     "--dim",     "20",       "--n-train", "300",
                                      "--n-query", "25",        "--device", "cpu",       "--repeat",
                                      "3",         "--seconds", "0.5"};
    words.insert(words.end(), extra.begin(), extra.end());
    return words;
}

}  // namespace

TEST_CASE("bench without a GPU measures the CPU and says what it left out") {
    const RunResult result = program(small_bench());
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    for (const char* part : {"nth_element", "  cpu ", "left out", "--device cpu was given", "us/query",
                             "300 training and 25 test images of 20 pixels", "GB/s read and written"})
        CHECK(contains(result.out, part));
}

TEST_CASE("bench on a data set, and on a part of it") {
    const Folder folder;
    SmallSet().write(folder.path);
    const std::vector<std::string> words = {"bench", "--data",    folder / "", "--device",
                                            "cpu",   "--seconds", "0.1"};
    std::vector<std::string> part = words;
    part.insert(part.end(), {"--n-train", "30", "--n-query", "9", "-k", "30"});
    const RunResult all = program(words), some = program(part);
    CHECK(all.exit_code == 0);
    CHECK(contains(all.out, "40 training and 17 test images of 15 pixels"));
    CHECK(some.exit_code == 0);
    CHECK(contains(some.out, "30 training and 9 test images of 15 pixels"));
    part.back() = "31";
    CHECK(program(part).exit_code == 2);  // k is larger than the training set
    std::vector<std::string> too_many = words;
    too_many.insert(too_many.end(), {"--n-train", "41"});
    const RunResult refused = program(too_many);
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.err, "the data set has 40"));
}

TEST_CASE("bench for machines") {
    const RunResult result = program(small_bench({"--json", "-", "--k", "7"}));
    CHECK(result.exit_code == 0);
    const json report = json::parse(result.out);
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
}

TEST_CASE("bench measures serial selectors that --only names") {
    const RunResult result = program(small_bench({"--only", "serial_insertion,serial_sort", "--json", "-"}));
    CHECK(result.exit_code == 0);
    std::set<std::string> measured;
    const json report = json::parse(result.out);
    for (const json& one : report["measurements"]) {
        CHECK(one["status"] == "measured");
        if (one["part"] == "select") {
            measured.insert(one["name"]);
            const double read = 25 * (4.0 * 300 + 8 * 5);
            CHECK(one["gb_per_s"] == doctest::Approx(read / one["median_ms"].get<double>() * 1e-6));
        }
    }
    CHECK(measured == std::set<std::string>{"serial_insertion", "serial_sort"});
}

TEST_CASE("bench writes the rows that --only names, and no others that their check needs") {
    const Folder folder;
    for (const std::string name : {"serial", "nth_element", "serial_sort"}) {
        CAPTURE(name);
        const RunResult result =
            program(small_bench({"--only", name, "--csv", folder / "c", "--json", folder / "j"}));
        CHECK(result.exit_code == 0);
        const json measurements = json::parse(read_file(folder / "j"))["measurements"];
        REQUIRE(measurements.size() == 1);
        CHECK(measurements[0]["name"] == name);
        CHECK(measurements[0]["status"] == "measured");
        CHECK(csv_rows(read_file(folder / "c")).size() == 3);  // also the heading, and that no GPU is used
    }
    const RunResult all =
        program(small_bench({"--only", "serial_sort,serial,nth_element", "--csv", folder / "c", "-q"}));
    CHECK(csv_rows(read_file(folder / "c")).size() == 5);  // "serial" once
    const RunResult refused = program(small_bench(
        {"--only", "serial", "--metric", "cosine", "--csv", folder / "c", "--json", folder / "j"}));
    CHECK(refused.exit_code == 0);
    CHECK(json::parse(read_file(folder / "j"))["measurements"].size() == 1);
}

TEST_CASE("bench by another metric") {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--metric", "cosine"}, {"--metric", "lp", "--p", "1.5"}}) {
        std::vector<std::string> extra = words;
        const Folder folder;
        extra.insert(extra.end(), {"--json", folder / "j", "--csv", folder / "c"});
        const RunResult result = program(small_bench(extra));
        CHECK(result.exit_code == 0);
        CHECK(contains(result.out, ", metric " + words[1]));
        const json report = json::parse(read_file(folder / "j"));
        CHECK(report["checked"] == "every answer against the CPU engine");
        for (const json& one : report["measurements"]) {
            CAPTURE(one.dump());
            CHECK(one["metric"] == words[1]);
            CHECK(one.contains("p") == (words[1] == "lp"));
            CHECK(one["status"] == (one["name"] == "cpu" ? "measured" : "left out"));
            if (one["name"] == "nth_element")
                CHECK(contains(one["reason"].get<std::string>(), "nth_element computes l2 distances only"));
            if (one["name"] == "cpu") CHECK(one.contains("gflop_per_s") == (words[1] != "lp"));
        }
        CHECK(contains(read_file(folder / "c"), words[1] == "lp" ? ",5,lp,1.5,25," : ",5,cosine,,25,"));
    }
}

TEST_CASE("bench as CSV: every line has every column") {
    const Folder folder;
    const RunResult result = program(small_bench({"--csv", folder / "b.csv", "-q"}));
    CHECK(result.exit_code == 0);
    const std::vector<std::string> lines = lines_of(read_file(folder / "b.csv"));
    CHECK(lines.size() >= 4);
    CHECK(lines[0] ==
          "experiment,part,name,device,n_train,n_query,dim,k,metric,p,queries_measured,runs,median_ms,min_ms,"
          "max_ms,"
          "us_per_query,gb_per_s,gflop_per_s,limit,share,status,reason");
    for (const std::string& line : lines) {
        bool quoted = false;
        int commas = 0;
        for (const char c : line) {
            quoted = quoted != (c == '"');
            commas += c == ',' && !quoted ? 1 : 0;
        }
        CHECK(commas == 21);
    }
}

TEST_CASE("bench draws an SVG") {
    const Folder folder;
    const RunResult svg = program(small_bench({"--plot", folder / "b.svg"}));
    CHECK(svg.exit_code == 0);
    const std::string text = read_file(folder / "b.svg");
    CHECK(text.starts_with("<svg "));
    CHECK(contains(text, ">nth_element</text>"));
    CHECK(contains(text, "microseconds per query"));
    CHECK(program(small_bench({"--plot", folder / "B.SVG"})).exit_code == 0);
    CHECK(read_file(folder / "B.SVG").starts_with("<svg "));
}

TEST_CASE("bench says of every name that was asked for what became of it, and draws no empty picture") {
    const Folder folder;
    const RunResult result = program(small_bench(
        {"--only", "classic", "--json", folder / "j", "--csv", folder / "c", "--plot", folder / "p.svg"}));
    CHECK(result.exit_code == 1);
    CHECK(is_one_error_line(result.err));
    CHECK(contains(result.err, "p.svg: not written"));
    CHECK(!fs::exists(folder / "p.svg"));
    CHECK(contains(result.out, "classic: it runs on a GPU, and --device cpu was given"));
    const json report = json::parse(read_file(folder / "j"));
    CHECK(report["measurements"].size() == 1);
    CHECK(report["measurements"][0]["status"] == "left out");
    const std::vector<std::string> lines = lines_of(read_file(folder / "c"));
    REQUIRE(lines.size() == 3);  // the engine, and that there is no GPU
    CHECK(contains(lines[1], ",classic,gpu,"));
    CHECK(contains(lines[1], ",left out,\"it runs on a GPU, and --device cpu was given\""));
    CHECK(contains(lines[2], ",GPU,"));
    CHECK(contains(lines[2], ",left out,--device cpu was given"));
}

TEST_CASE("--only takes every name that a table has") {
    const RunResult both = program(small_bench()), cpu = program(small_bench({"--only", "cpu"}));
    CHECK(!contains(cpu.out, "one CPU thread,"));
    CHECK(contains(cpu.out, "engines, the training set resident"));
    for (const char* name : {"serial", "nth_element"}) {
        CHECK(contains(both.out, std::string("\n  ") + name + " "));
        const RunResult one = program(small_bench({"--only", name}));
        CHECK(one.exit_code == 0);
        CHECK(contains(one.out, std::string("\n  ") + name + " "));
        CHECK(contains(one.out, "\n  serial ") == (name == std::string("serial")));
        CHECK(!contains(one.out, "engines, the training"));
    }
    for (const std::string& line : lines_of(both.out)) {  // rows begin with two spaces and their name
        const bool row = line.starts_with("  ") && contains(line, " to ") && !contains(line, "min to max");
        const std::string name = row ? line.substr(2, line.find(' ', 2) - 2) : "cpu";
        CAPTURE(name);
        CHECK(!contains(program(small_bench({"--only", name + ",?"})).err, "--only " + name));
    }
}

TEST_CASE("what the engine tensor has to beat is left out with the reason where there is no GPU") {
    const RunResult result = program(small_bench({"--only", "classic+gemm+replace_max", "--json", "-"}));
    CHECK(result.exit_code == 0);
    const json measurements = json::parse(result.out)["measurements"];
    REQUIRE(measurements.size() == 1);
    CHECK(measurements[0]["name"] == "classic+gemm+replace_max");
    CHECK(measurements[0]["status"] == "left out");
    CHECK(!measurements[0]["reason"].get<std::string>().empty());
}

TEST_CASE("wrong options of bench") {
    const struct {
        std::vector<std::string> words;
        const char* part;
    } wrong[] = {
        {{"--only", "cpuu"}, "did you mean cpu?"},
        {{"--case", "garret"}, "did you mean garrett?"},
        {{"--case", "singh", "--data", "d"}, "--data: the case singh has its own images"},
        {{"--plot", "x.png"}, "what is written is SVG; expected a name in .svg"},
        {{"--repeat", "0"}, "out of range"},
        {{"--seconds", "soon"}, "expected a number from 0.001 to 86400 seconds"},
        {{"--dim", "70000", "--n-train", "5", "--n-query", "5"}, "out of range"},
        {{"--json", "a", "--csv", "a"}, "the same place"},
        {{"--weights", "uniform"}, "unknown option"},
        {{"--metric", "cosin"}, "did you mean cosine?"},
        {{"--metric", "lp"}, "expected --p P with it"},
        {{"--engine", "classic", "--device", "cpu"}, "expected no --device cpu with it"},
        {{"--limit-train", "3"}, "--limit-train: unknown option; did you mean '--n-train'?"},
        {{"--limit-test=3"}, "--limit-test=3: unknown option; did you mean '--n-query'?"},
    };
    for (const auto& one : wrong) {
        std::vector<std::string> words = {"bench"};
        words.insert(words.end(), one.words.begin(), one.words.end());
        const RunResult result = program(words);
        CAPTURE(result.err);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
        CHECK(contains(result.err, one.part));
        CHECK(result.out.empty());
    }
}

TEST_CASE("bench on a GPU that is not there") {
    const RunResult result =
        program({"bench", "--device", "gpu:99", "--dim", "4", "--n-train", "9", "--n-query", "2"});
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "--device gpu:99: no "));
}

TEST_CASE("nth_element is a selector of every command that searches") {
    const Folder folder;
    SmallSet().write(folder.path);
    const std::vector<std::string> words = {"evaluate", "--data",   folder / "", "--neighbors-csv",
                                            "-",        "--device", "cpu"};
    std::vector<std::string> serial = words;
    serial.insert(serial.end(), {"--select", "nth_element"});
    const RunResult a = program(words), b = program(serial);
    CHECK(b.exit_code == 0);
    CHECK(a.out == b.out);
    CHECK(program({"evaluate", "--select", "nth_element", "--device", "gpu"}).exit_code == 2);
}

TEST_CASE("bench has a progress bar") {
    const RunResult result = program(small_bench({"--progress", "always"}));
    CHECK(result.exit_code == 0);
    CHECK(contains(result.err, "measuring"));
}

TEST_CASE("bench on several GPUs measures engines by queries and by training images") {
    const RunResult info = program({"info", "--json", "-"});
    if (!json::parse(info.out).contains("links")) return skip("fewer than two GPUs");
    const RunResult result =
        program({"bench", "--device", "gpu:all", "--only", "classic", "--dim", "20", "--n-train", "3000",
                 "--n-query", "500", "--repeat", "2", "--json", "-"});
    CHECK(result.exit_code == 0);
    std::set<std::string> rows;
    for (const json& one : json::parse(result.out)["measurements"])
        if (one["status"] == "measured") rows.insert(one["name"]);
    CHECK(rows == std::set<std::string>{"classic", "classic by queries", "classic by training"});
}
