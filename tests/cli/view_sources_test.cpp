#include <doctest/doctest.h>

#include <fstream>

#include "tests/cli/evaluated.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;

TEST_CASE("view evaluates by itself where there is no report, with the same answers") {
    const Evaluated evaluated(60, "3");
    const RunResult result = program(
        {"view", "--data", evaluated.folder / "", "-k", "3", "--device", "cpu", "--text", "--limit", "1000"});
    CHECK(result.exit_code == 0);
    CHECK(result.out == evaluated.view({"--text", "--limit", "1000"}).out);
    std::filesystem::remove(evaluated.folder / "r/predictions.csv");
    CHECK(result.out == evaluated.view({"--text", "--limit", "1000"}).out);
    const RunResult named = program({"view", "--from", evaluated.folder / "r/report.json", "--text",
                                     "--limit", "1000", "--threads", "1"});
    CHECK(named.out == result.out);
}

TEST_CASE("view refuses damaged reports") {
    const Evaluated evaluated;
    const std::string file = evaluated.folder / "r/report.json", good = read_file(file);
    const auto refused = [&](const std::string& content) {
        std::ofstream(file, std::ios::binary) << content;
        const RunResult result = evaluated.view({"--text"});
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(result.out.empty());
    };
    const std::size_t json_end = good.find_last_of('}');
    for (std::size_t part = 0; part < 20; ++part)
        refused(good.substr(0, json_end * part / 20));
    refused("[]");
    refused("null");
    refused(std::string(100'000, '['));
    refused("{\"schema\": \"mnist-knn/evaluate/1\"}");
    const json report = json::parse(good);
    for (const auto& [path, value] : std::vector<std::pair<std::string, json>>{
             {"/schema", "mnist-knn/evaluate/9"},
             {"/schema", 1},
             {"/settings/k", 0},
             {"/settings/k", 4096},
             {"/settings/k", 2.5},
             {"/settings/k", "5"},
             {"/settings/metric", "l9"},
             {"/settings/tie", "none"},
             {"/dataset/train", 41},
             {"/dataset/train", -1},
             {"/dataset/rows", 1e300},
             {"/dataset/test", 59},
             {"/dataset/test", 18446744073709551615u},
             {"/dataset/cols", 4},
             {"/dataset/files", "/nowhere"},
             {"/dataset/files", json::array({"/nowhere"})},
             {"/dataset/files/0", "/nowhere"},
             {"/dataset/files/3", 3},
             {"/dataset/synthetic", true},
             {"/result/labels", json::array({1, 7, 199})},
             {"/result/labels", json::array({7, 1, 200})},
             {"/result/confusion", json::array()},
             {"/result/confusion/0/0", -3},
             {"/result/confusion/0/0", report["result"]["confusion"][0][0].get<int>() + 1},
             {"/result/correct", 61},
             {"/timing", nullptr},
             {"/timing/stages/0/total_ms", "fast"}}) {
        CAPTURE(path);
        json changed = report;
        changed[json::json_pointer(path)] = value;
        refused(changed.dump());
    }
    json powers = report;
    powers["settings"]["metric"] = "lp";
    for (const json& p : {json(nullptr), json("3"), json(0), json(1e9)}) {
        CAPTURE(p.dump());
        if (!p.is_null()) powers["settings"]["p"] = p;
        refused(powers.dump());
        CHECK(evaluated.view({"--text"}).err.find("settings.p") != std::string::npos);
    }
    std::filesystem::remove(file);
    CHECK(is_one_error_line(evaluated.view({"--text"}).err));
}

TEST_CASE("view misses the report before it misses a display") {
    RunOptions options;
    options.environment = {{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}};
    const RunResult result = program({"view", "--from", "/nonexistent"}, options);
    CHECK(result.exit_code == 1);
    CHECK(result.err.starts_with("mnist-knn: error: /nonexistent: no such file; "));
}

TEST_CASE("view refuses a report that is not about the data set") {
    const Evaluated evaluated, other(60, "3");
    SmallSet set;
    set.test = 60;
    set.levels = 7;  // other pixels, the same sizes
    const Folder elsewhere;
    set.write(elsewhere.path);
    for (const bool with_csv : {true, false}) {
        if (!with_csv) std::filesystem::remove(evaluated.folder / "r/predictions.csv");
        const RunResult result = evaluated.view({"--text", "--data", elsewhere / ""});
        CHECK(result.exit_code == 1);
        CHECK(result.err.find("expected the data set that it was made from") != std::string::npos);
        CHECK(result.out.empty());
    }
}

TEST_CASE("view finds a data set that has moved by --data") {
    const Evaluated evaluated;
    const std::string before = evaluated.view({"--text"}).out;
    const Folder moved;
    for (const std::string& name : evaluated.folder.names())
        if (name != "r") std::filesystem::rename(evaluated.folder / name, moved / name);
    const RunResult lost = evaluated.view({"--text"});
    CHECK(lost.exit_code == 1);
    CHECK(is_one_error_line(lost.err));
    CHECK(evaluated.view({"--text", "--data", moved / ""}).out == before);
}

TEST_CASE("view opens the data set of a report again, whatever its files are called") {
    const Folder folder;
    for (const std::string name : {"plain", "my, data", "100%25", "caf\xe9", "a\nb", "%"}) {
        CAPTURE(name);
        const std::string data = folder / name, report = folder / "report";
        std::filesystem::create_directory(data);
        SmallSet set;
        set.test = 60;
        set.write(data);
        std::filesystem::copy(data + "/t10k-labels-idx1-ubyte", data + "/a, b");
        REQUIRE(program({"evaluate", "--device", "cpu", "-q", "--report", report, "--data", data,
                         "--test-labels", data + "/a, b"})
                    .exit_code == 0);
        const RunResult result = program({"view", "--from", report, "--text"});
        CAPTURE(result.err);
        CHECK(result.exit_code == 0);
        CHECK(result.out.find("misclassified") != std::string::npos);
    }
}

TEST_CASE("view finds the data set of an older report, which has no list of files, by its folder") {
    const Evaluated evaluated;
    const std::string before = evaluated.view({"--text"}).out, file = evaluated.folder / "r/report.json";
    json report = json::parse(read_file(file));
    CHECK(report["dataset"]["files"].size() == 4);
    report["dataset"].erase("files");
    std::ofstream(file) << report;
    CHECK(evaluated.view({"--text"}).out == before);
}

TEST_CASE("view passes over a predictions.csv that is not the report's") {
    const Evaluated evaluated, other(60, "3");
    const std::string before = evaluated.view({"--text"}).out;
    const std::string file = evaluated.folder / "r/predictions.csv", good = read_file(file);
    for (const std::string& content : {std::string(), std::string("index\n"), good.substr(0, good.size() / 2),
                                       good + "60,1,1,1,1\n", read_file(other.folder / "r/predictions.csv"),
                                       "index,label,predicted,confidence,vote_share\n0,1,1,nan,1\n" + good}) {
        std::ofstream(file, std::ios::binary) << content;
        const RunResult result = evaluated.view({"--text"});
        CHECK(result.exit_code == 0);
        CHECK(result.out == before);
        CHECK(result.err.starts_with("mnist-knn: note: "));
        CHECK(result.err.find("searching again") != std::string::npos);
        CHECK(evaluated.view({"--text", "-q"}).err.empty());
    }
}

TEST_CASE("view of the built-in digits, from a report and without") {
    const Folder results;
    const std::vector<std::string> limits = {"--device", "cpu",          "--limit-train",
                                             "300",      "--limit-test", "200"};
    std::vector<std::string> evaluate = {"evaluate", "-q", "--report", results / "r"};
    evaluate.insert(evaluate.end(), limits.begin(), limits.end());
    REQUIRE(program(evaluate).exit_code == 0);
    std::vector<std::string> view = {"view", "--text"};
    view.insert(view.end(), limits.begin(), limits.end());
    const RunResult fresh = program(view), saved = program({"view", "--text", "--from", results / "r"});
    CHECK(fresh.exit_code == 0);
    CHECK(saved.exit_code == 0);
    CHECK(fresh.err.find("built-in synthetic digits") != std::string::npos);
    CHECK(saved.err.empty());
    CHECK(fresh.out == saved.out);
}
