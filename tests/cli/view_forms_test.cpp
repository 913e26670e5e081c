#include <doctest/doctest.h>

#include <algorithm>

#include "tests/cli/evaluated.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;

TEST_CASE("view --text adapts to the terminal") {
    const Evaluated evaluated;
    const auto text = [&](const std::string& locale, const std::vector<std::string>& extra, bool terminal) {
        RunOptions options;
        options.environment = {{"LC_ALL", locale}};
        options.terminal = terminal;
        std::vector<std::string> words = {"--text", "--progress", "never"};
        words.insert(words.end(), extra.begin(), extra.end());
        return evaluated.view(words, options).out;
    };
    const auto has_bytes = [](const std::string& words, bool (*is)(unsigned char)) {
        return std::any_of(words.begin(), words.end(),
                           [&](char c) { return is(static_cast<unsigned char>(c)); });
    };
    const auto high = [](unsigned char c) { return c >= 0x80; };
    const auto escape = [](unsigned char c) { return c == 0x1b; };
    CHECK(!has_bytes(text("C", {}, false), high));
    CHECK(!has_bytes(text("C", {"--color", "always"}, true), high));
    CHECK(has_bytes(text("C.UTF-8", {}, false), high));
    CHECK(!has_bytes(text("C.UTF-8", {}, false), escape));
    CHECK(has_bytes(text("en_US.utf8", {}, true), escape));
    CHECK(has_bytes(text("C.UTF-8", {"--color", "always"}, false), escape));
    CHECK(!has_bytes(text("C.UTF-8", {"--color", "never"}, true), escape));
}

TEST_CASE("view --html holds the selection") {
    const Evaluated evaluated;
    const Folder results;
    const RunResult result =
        evaluated.view({"--html", results / "p.html", "--all", "--true", "7", "--order", "pair"});
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    const json data = page_data(read_file(results / "p.html"));
    std::vector<int> indices;
    for (const json& digit : data["gallery"]["digits"])
        indices.push_back(digit["index"]);
    std::sort(indices.begin(), indices.end());
    std::vector<int> expected = evaluated.expected([](const Answer& a) { return a.label == 7; });
    std::sort(expected.begin(), expected.end());
    CHECK(indices == expected);
    CHECK(data["gallery"]["order"] == "pair");
    CHECK(data["gallery"]["title"] == "Test digits: true label 7");
    const json report = json::parse(read_file(evaluated.folder / "r/report.json"));
    CHECK(data["result"]["confusion"] == report["result"]["confusion"]);
    CHECK(data["created"] == report["created"]);
    CHECK(data["timing"]["search_ms"] == report["timing"]["search_ms"]);
    CHECK(data["timing"]["stages"].size() == report["timing"]["stages"].size());
    CHECK(data["device"]["name"] == report["device"]["name"]);
    for (const json& digit : data["gallery"]["digits"])
        CHECK(digit["neighbors"].size() == 5);

    const RunResult out = evaluated.view({"--html", "-", "--all", "--true", "7", "--order", "pair"});
    CHECK(out.out == read_file(results / "p.html"));
}

TEST_CASE("view --sheet draws every digit, on as many pages as it takes") {
    if (!has_opencv) return skip(no_opencv);
    const Evaluated evaluated(600);
    const std::size_t wrong = evaluated.expected(is_wrong).size();
    REQUIRE(wrong > 2 * 168);
    REQUIRE(wrong <= 3 * 168);
    const Folder results;
    CHECK(evaluated.view({"--sheet", results / "all.png"}).exit_code == 0);
    CHECK(results.names() == std::vector<std::string>{"all-1.png", "all-2.png", "all-3.png"});
    const std::string full = read_file(results / "all-1.png");
    CHECK(png_width(full) <= 1500);
    CHECK(png_height(full) <= 1800);
    CHECK(png_height(read_file(results / "all-3.png")) <= png_height(full));
    CHECK(evaluated.view({"--sheet", results / "one.png", "--index", "0"}).exit_code == 0);
    CHECK(png_width(read_file(results / "one.png")) < png_width(full));
    CHECK(evaluated.view({"--sheet", results / "ONE.PNG", "--index", "0"}).exit_code == 0);
    CHECK(read_file(results / "ONE.PNG") == read_file(results / "one.png"));

    // A shorter sheet removes the pages of the longer one, and no other picture.
    std::filesystem::copy(results / "one.png", results / "all-4.png");
    const RunResult two = evaluated.view({"--sheet", results / "all.png", "--limit", "200"});
    CHECK(contains(two.out, "removed 1 page of an earlier sheet, from " + (results / "all-3.png")));
    CHECK(results.names() ==
          std::vector<std::string>{"ONE.PNG", "all-1.png", "all-2.png", "all-4.png", "one.png"});
    CHECK(evaluated.view({"--sheet", results / "all.png", "--limit", "168"}).exit_code == 0);
    CHECK(results.names() == std::vector<std::string>{"ONE.PNG", "all-4.png", "all.png", "one.png"});
}

TEST_CASE("view --sheet asks for a build with OpenCV where this is none") {
    if (has_opencv) return skip("this build has OpenCV");
    const Evaluated evaluated;
    const Folder results;
    const RunResult result = evaluated.view({"--sheet", results / "s.png"});
    CHECK(result.exit_code != 0);
    CHECK(is_one_error_line(result.err));
    CHECK(result.err.find("a build with OpenCV") != std::string::npos);
    CHECK(results.names().empty());
}

TEST_CASE("view writes several forms at once") {
    if (!has_opencv) return skip(no_opencv);
    const Evaluated evaluated;
    const Folder results;
    const RunResult result =
        evaluated.view({"--sheet", results / "s.png", "--html", results / "p.html", "--text"});
    CHECK(result.exit_code == 0);
    CHECK(results.names() == std::vector<std::string>{"p.html", "s.png"});
    CHECK(digits_in(result.out).size() == 10);
    CHECK(page_data(read_file(results / "p.html"))["gallery"]["digits"].size() ==
          evaluated.expected(is_wrong).size());
    const RunResult quiet = evaluated.view({"--sheet", results / "s.png", "-q"});
    CHECK(quiet.out.empty());
    CHECK(quiet.err.empty());
}

TEST_CASE("view without a display suggests other forms") {
    if (!has_opencv) return skip(no_opencv);
    const Evaluated evaluated;
    for (const auto& [x11, wayland] :
         {std::pair("", ""), {":9876", ""}, {"", "nowhere"}, {":9876", "nowhere"}}) {
        RunOptions options;
        options.environment = {{"DISPLAY", x11}, {"WAYLAND_DISPLAY", wayland}};
        const RunResult result = evaluated.view({}, options);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        for (const char* form : {"--sheet", "--html", "--text"})
            CHECK(result.err.find(form) != std::string::npos);
        CHECK(result.out.empty());
    }
}

TEST_CASE("view reports write errors") {
    const Evaluated evaluated(600);
    RunOptions full;
    full.stdout_file = "/dev/full";
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--text"}, {"--html", "-"}}) {
        const RunResult result = evaluated.view(words, full);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
    }
    if (!has_opencv) return skip(no_opencv);
    const RunResult sheet = evaluated.view({"--sheet", "/dev/full"});  // of several pages
    CHECK(sheet.exit_code == 1);
    CHECK(is_one_error_line(sheet.err));
    CHECK(!std::filesystem::exists("/dev/full-1"));
}

TEST_CASE("view --sheet overwrites with none of its pages what it reads or writes otherwise") {
    if (!has_opencv) return skip(no_opencv);
    const Evaluated evaluated(600);
    const Folder results;
    std::filesystem::copy(evaluated.folder / "r", results / "all-2.png");
    const std::string report = results / "all-2.png/report.json", data = evaluated.folder / "";
    const std::string before = read_file(report);
    std::filesystem::copy(report, results / "all-3.png");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"--from", results / "all-3.png", "--sheet", results / "all.png"},
             {"--from", report, "--sheet", results / "all.png"},
             {"--from", report, "--sheet", results / "x.png", "--html", results / "x-1.png"}}) {
        std::vector<std::string> all = {"view", "--data", data};
        all.insert(all.end(), words.begin(), words.end());
        const RunResult result = program(all);
        CAPTURE(result.err);
        CHECK(result.exit_code == (words.size() == 6 ? 2 : 1));
        CHECK(result.err.starts_with("mnist-knn: error: "));
        CHECK(result.out.empty());
    }
    CHECK(read_file(report) == before);
    CHECK(read_file(results / "all-3.png") == before);
    CHECK(results.names() == std::vector<std::string>{"all-2.png", "all-3.png"});
}
