#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <tuple>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;

namespace {

/// One test image as --predictions has it.
struct Answer {
    int index = 0, label = 0, predicted = 0;
    double confidence = 0;
    bool operator==(const Answer&) const = default;
};

/// A small data set, its report, and the answers in it.
struct Evaluated {
    Folder folder;
    std::vector<Answer> answers;

    explicit Evaluated(int test = 60, const std::string& k = "5") {
        SmallSet set;
        set.test = test;
        set.write(folder.path);
        const RunResult result = program(
            {"evaluate", "--data", folder / "", "-k", k, "--device", "cpu", "-q", "--report", folder / "r"});
        REQUIRE(result.exit_code == 0);
        for (const auto& row : csv_rows(read_file(folder / "r/predictions.csv")))
            if (row[0] != "index")
                answers.push_back(
                    {std::stoi(row[0]), std::stoi(row[1]), std::stoi(row[2]), std::stod(row[3])});
    }

    /// Runs view on the report.
    RunResult view(const std::vector<std::string>& extra, const RunOptions& options = {}) const {
        std::vector<std::string> words = {"view", "--from", folder / "r"};
        words.insert(words.end(), extra.begin(), extra.end());
        return program(words, options);
    }

    /// Indices of the answers that pass, most sure first.
    std::vector<int> expected(const std::function<bool(const Answer&)>& pass) const {
        std::vector<Answer> chosen;
        std::copy_if(answers.begin(), answers.end(), std::back_inserter(chosen), pass);
        std::stable_sort(chosen.begin(), chosen.end(),
                         [](const Answer& a, const Answer& b) { return a.confidence > b.confidence; });
        std::vector<int> indices;
        for (const Answer& answer : chosen)
            indices.push_back(answer.index);
        return indices;
    }
};

bool is_wrong(const Answer& answer) {
    return answer.label != answer.predicted;
}

/// What the text says of each digit, by its head line "#7   true 1   predicted 7   confidence 60 % ...".
std::vector<Answer> digits_in(const std::string& text) {
    static const std::regex head(R"(^#(\d+)   true (\d+)   predicted (\d+)   confidence (\d+) %.*)");
    std::vector<Answer> digits;
    for (const std::string& line : lines_of(text)) {
        std::smatch match;
        if (std::regex_match(line, match, head))
            digits.push_back(
                {std::stoi(match[1]), std::stoi(match[2]), std::stoi(match[3]), std::stod(match[4]) / 100});
    }
    return digits;
}

std::vector<int> indices_in(const std::string& text) {
    std::vector<int> indices;
    for (const Answer& digit : digits_in(text))
        indices.push_back(digit.index);
    return indices;
}

/// The data that a page's scripts read.
json page_data(const std::string& page) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = page.find(open) + open.size();
    return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

int png_size(const std::string& png, std::size_t at) {
    int size = 0;
    for (std::size_t i = 0; i < 4; ++i)
        size = size << 8 | static_cast<unsigned char>(png.at(at + i));
    return size;
}
int png_width(const std::string& png) {
    return png_size(png, 16);
}
int png_height(const std::string& png) {
    return png_size(png, 20);
}

/// Without OpenCV there are neither sheets nor windows.
bool can_draw(const Evaluated& evaluated) {
    const Folder results;
    const RunResult result = evaluated.view({"--sheet", results / "s.png"});
    if (result.exit_code == 0) return true;
    CHECK(is_one_error_line(result.err));
    CHECK(result.err.find("a build with OpenCV") != std::string::npos);
    skip("this build has no OpenCV");
    return false;
}

}  // namespace

TEST_CASE("view --text shows the misclassified digits, the most sure first") {
    const Evaluated evaluated;
    const RunResult result = evaluated.view({"--text", "--limit", "1000"});
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    const std::vector<Answer> digits = digits_in(result.out);
    REQUIRE(digits.size() >= 5);
    CHECK(indices_in(result.out) == evaluated.expected(is_wrong));
    for (const Answer& digit : digits)
        CHECK(digit == evaluated.answers[static_cast<std::size_t>(digit.index)]);
}

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

TEST_CASE("view shows the neighbors of a digit with labels and squared distances") {
    const Evaluated evaluated;
    const RunResult csv =
        program({"evaluate", "--data", evaluated.folder / "", "--device", "cpu", "--neighbors-csv", "-"});
    const RunResult result = evaluated.view({"--text", "--index", "7"});
    const auto rows = csv_rows(csv.out);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        if (rows[i][0] != "7") continue;
        std::string distance = rows[i][4];
        for (int place = static_cast<int>(distance.size()) - 3; place > 0; place -= 3)
            distance.insert(static_cast<std::size_t>(place), 1, ',');
        const std::regex line("#" + rows[i][2] + " +" + rows[i][3] + " +" + distance);
        CHECK(std::regex_search(result.out, line));
    }
}

TEST_CASE("view filters by true label, predicted label, index, and takes the correct ones too") {
    const Evaluated evaluated;
    const auto shown = [&](std::vector<std::string> extra) {
        extra.insert(extra.end(), {"--text", "--limit", "1000"});
        return indices_in(evaluated.view(extra).out);
    };
    using A = const Answer&;
    CHECK(shown({"--true", "7"}) == evaluated.expected([](A a) { return is_wrong(a) && a.label == 7; }));
    CHECK(shown({"--predicted", "200"}) ==
          evaluated.expected([](A a) { return is_wrong(a) && a.predicted == 200; }));
    CHECK(shown({"--true", "7", "--predicted", "1"}) ==
          evaluated.expected([](A a) { return a.label == 7 && a.predicted == 1; }));
    CHECK(shown({"--true", "7", "--true", "1"}) ==
          evaluated.expected([](A a) { return is_wrong(a) && a.label != 200; }));
    CHECK(shown({"--all"}) == evaluated.expected([](A) { return true; }));
    CHECK(shown({"--all", "--true", "7", "--predicted", "7"}) ==
          evaluated.expected([](A a) { return a.label == 7 && a.predicted == 7; }));
    CHECK(shown({"--index", "3", "--index", "59"}) ==
          evaluated.expected([](A a) { return a.index == 3 || a.index == 59; }));
}

TEST_CASE("view orders by confidence, index or pair") {
    const Evaluated evaluated;
    const auto shown = [&](const std::string& order) {
        return digits_in(evaluated.view({"--text", "--all", "--limit", "1000", "--order", order}).out);
    };
    const auto sorted = [&](const std::string& order, auto key) {
        std::vector<Answer> answers = evaluated.answers;
        std::sort(answers.begin(), answers.end(),
                  [&](const Answer& a, const Answer& b) { return key(a) < key(b); });
        CHECK(shown(order) == answers);
    };
    sorted("index", [](const Answer& a) { return a.index; });
    sorted("confidence", [](const Answer& a) { return std::tuple(-a.confidence, a.index); });
    sorted("pair", [](const Answer& a) { return std::tuple(a.label, a.predicted, -a.confidence, a.index); });
}

TEST_CASE("view --text has a limit and says when there are more") {
    const Evaluated evaluated;
    const std::size_t wrong = evaluated.expected(is_wrong).size();
    REQUIRE(wrong > 10);
    const RunResult some = evaluated.view({"--text"});
    CHECK(digits_in(some.out).size() == 10);
    CHECK(some.out.find("10 of " + std::to_string(wrong) + " digits shown; --limit") != std::string::npos);
    const RunResult three = evaluated.view({"--text", "--limit", "3", "-q"});
    CHECK(digits_in(three.out).size() == 3);
    CHECK(three.out.starts_with("#"));
    CHECK(three.out.find("--limit") == std::string::npos);
}

TEST_CASE("view --text draws in what the terminal can show") {
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

TEST_CASE("view with nothing to show says so and is no error") {
    const Evaluated evaluated;
    const Answer& right = *std::find_if_not(evaluated.answers.begin(), evaluated.answers.end(), is_wrong);
    const std::string index = std::to_string(right.index);
    const std::string other = right.label == 1 ? "7" : "1";
    for (const std::vector<std::string>& form :
         {std::vector<std::string>{"--text"}, {"--html", "/dev/null"}}) {
        std::vector<std::string> words = {"--index", index, "--true", other};
        words.insert(words.end(), form.begin(), form.end());
        const RunResult result = evaluated.view(words);
        CHECK(result.exit_code == 0);
        CHECK(result.out.find("nothing to show") != std::string::npos);
        CHECK(result.err.empty());
    }
}

TEST_CASE("view refuses a wrong command line") {
    const Evaluated evaluated;
    const Folder results;
    const std::string same = results / "x";
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--true", "x"},
                                                  {"--true", "256"},
                                                  {"--true", "-1"},
                                                  {"--predicted", "5"},  // no label of this data set
                                                  {"--index", "60"},
                                                  {"--index", "1.5"},
                                                  {"--order", "size"},
                                                  {"--limit", "0"},
                                                  {"-k", "5"},
                                                  {"--weights", "distance"},
                                                  {"--limit-test", "5"},
                                                  {"--html", "-"},
                                                  {"--sheet", "-"},
                                                  {"--sheet", same, "--html", same},
                                                  {"--from", "again"},
                                                  {"--json", "-"}}) {
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--text"});
        const RunResult result = evaluated.view(all);
        CAPTURE(words);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
        CHECK(result.out.empty());
    }
    CHECK(results.names().empty());
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
    const Evaluated evaluated(600);
    if (!can_draw(evaluated)) return;
    const std::size_t wrong = evaluated.expected(is_wrong).size();
    REQUIRE(wrong > 2 * 168);
    REQUIRE(wrong <= 3 * 168);
    const Folder results;
    CHECK(evaluated.view({"--sheet", results / "all.png"}).exit_code == 0);
    CHECK(results.names() == std::vector<std::string>{"all-1.png", "all-2.png", "all-3.png"});
    CHECK(evaluated.view({"--sheet", results / "all.png", "--limit", "168"}).exit_code == 0);
    const std::string full = read_file(results / "all-1.png");
    CHECK(read_file(results / "all.png").starts_with("\x89PNG"));
    CHECK(png_width(full) <= 1500);
    CHECK(png_height(full) <= 1800);
    CHECK(png_height(read_file(results / "all-3.png")) <= png_height(full));
    CHECK(evaluated.view({"--sheet", results / "one.png", "--index", "0"}).exit_code == 0);
    CHECK(png_width(read_file(results / "one.png")) < png_width(full));
    CHECK(evaluated.view({"--sheet", results / "no ending", "--index", "0"}).exit_code == 0);
    CHECK(read_file(results / "no ending") == read_file(results / "one.png"));
}

TEST_CASE("view writes several forms at once") {
    const Evaluated evaluated;
    if (!can_draw(evaluated)) return;
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

TEST_CASE("view without a display says how to see the digits all the same") {
    const Evaluated evaluated;
    if (!can_draw(evaluated)) return;
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

TEST_CASE("view tells that nothing can be written, and leaves nothing half") {
    const Evaluated evaluated(600);
    RunOptions full;
    full.stdout_file = "/dev/full";
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--text"}, {"--html", "-"}, {"--html", "/dev/full"}}) {
        const RunResult result = evaluated.view(words, full);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
    }
    const RunResult nowhere = evaluated.view({"--html", evaluated.folder / "no/p.html"});
    CHECK(nowhere.exit_code == 1);
    CHECK(is_one_error_line(nowhere.err));
    if (!can_draw(evaluated)) return;
    const RunResult sheet = evaluated.view({"--sheet", "/dev/full"});  // of several pages
    CHECK(sheet.exit_code == 1);
    CHECK(is_one_error_line(sheet.err));
    CHECK(!std::filesystem::exists("/dev/full-1"));
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
             {"/dataset/source", "/nowhere"},
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
    std::filesystem::remove(file);
    CHECK(is_one_error_line(evaluated.view({"--text"}).err));
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

TEST_CASE("view passes over a predictions.csv that is not the report's") {
    const Evaluated evaluated, other(60, "3");
    const std::string before = evaluated.view({"--text"}).out;
    const std::string file = evaluated.folder / "r/predictions.csv", good = read_file(file);
    for (const std::string& content : {std::string(), std::string("index\n"), good.substr(0, good.size() / 2),
                                       good + "60,1,1,1\n", read_file(other.folder / "r/predictions.csv"),
                                       "index,label,predicted,confidence\n0,1,1,nan\n" + good}) {
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
