/// `view`: what it shows, in which forms, and from where.

#include <sys/stat.h>

#include <regex>
#include <tuple>

#include "tests/cli/program.h"

using namespace knn::test;

namespace {

/// One test image as --predictions has it.
struct Answer {
    int index = 0, label = 0, predicted = 0;
    double confidence = 0;
    bool operator==(const Answer&) const = default;
};

bool is_wrong(const Answer& answer) {
    return answer.label != answer.predicted;
}

/// A small data set, its report r, and the answers in it.
struct Evaluated : Work {
    std::vector<Answer> answers;

    explicit Evaluated(int test = 60, const std::string& k = "5") : Work({.test = test}) {
        output("evaluate -q --report r -k " + k);
        for (const auto& row : csv_rows(file("r/predictions.csv")))
            if (row[0] != "index")
                answers.push_back(
                    {std::stoi(row[0]), std::stoi(row[1]), std::stoi(row[2]), std::stod(row[3])});
    }

    /// Runs view on the report.
    RunResult view(const Words& words, const RunOptions& options = {}) const {
        return plain("view --from r" + words, options);
    }
    std::string text(const Words& words = {}) const { return output_of(view("--text" + words)); }

    /// Indices of the answers that pass, most sure first.
    std::vector<int> expected(const std::function<bool(const Answer&)>& pass) const {
        std::vector<Answer> chosen;
        std::copy_if(answers.begin(), answers.end(), std::back_inserter(chosen), pass);
        std::ranges::stable_sort(chosen, std::greater{}, &Answer::confidence);
        std::vector<int> indices;
        for (const Answer& answer : chosen)
            indices.push_back(answer.index);
        return indices;
    }
};

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

}  // namespace

TEST_CASE_FIXTURE(Evaluated, "view --text shows the misclassified digits, most sure first, with neighbors") {
    const std::string text = silent_output(view("--text --limit 1000"));
    const std::vector<Answer> digits = digits_in(text);
    REQUIRE(digits.size() >= 5);
    CHECK(indices_in(text) == expected(is_wrong));
    for (const Answer& digit : digits)
        CHECK(digit == answers[static_cast<std::size_t>(digit.index)]);

    const std::string seven = this->text("--index 7");
    for (const auto& row : csv_rows(output("evaluate --neighbors-csv -"))) {
        if (row[0] != "7") continue;
        std::string distance = row[4];
        for (int place = static_cast<int>(distance.size()) - 3; place > 0; place -= 3)
            distance.insert(static_cast<std::size_t>(place), 1, ',');
        CHECK(std::regex_search(seven, std::regex("#" + row[2] + " +" + row[3] + " +" + distance)));
    }
}

TEST_CASE_FIXTURE(Evaluated, "view filters by true and predicted label and index, correct ones too") {
    using A = const Answer&;
    struct Case {
        Words words;
        bool (*pass)(A);
    };
    for (const Case& one : std::vector<Case>{
             {"--true 7", [](A a) { return is_wrong(a) && a.label == 7; }},
             {"--predicted 200", [](A a) { return is_wrong(a) && a.predicted == 200; }},
             {"--true 7 --predicted 1", [](A a) { return a.label == 7 && a.predicted == 1; }},
             {"--true 7 --true 1", [](A a) { return is_wrong(a) && a.label != 200; }},
             {"--all", [](A) { return true; }},
             {"--all --true 7 --predicted 7", [](A a) { return a.label == 7 && a.predicted == 7; }},
             {"--index 3 --index 59", [](A a) { return a.index == 3 || a.index == 59; }}}) {
        CHECK(indices_in(text(one.words + "--limit 1000")) == expected(one.pass));
    }
    const std::string twice = text("--true 7 --true 7");
    CHECK(twice == text("--true 7"));
    CHECK(contains(twice, "true label 7)"));
}

TEST_CASE("view names and selects classes that have names") {
    const Work work;
    std::vector<std::string> labels;
    const auto evaluate = [&](const std::string& last) {
        std::string named;
        labels.clear();
        for (const std::uint8_t label : work.set.test_labels) {
            labels.push_back(label == 1 ? "one" : label == 7 ? "7" : last);
            named += '"' + labels.back() + "\"\n";
        }
        write(work.folder / "labels.csv", "label\n" + named);
        output_of(
            work.plain("evaluate -q -k 1 --device cpu --report r --train t10k-images-idx3-ubyte "
                       "--train-labels labels.csv --test t10k-images-idx3-ubyte --test-labels labels.csv"));
    };
    const std::string whole_name = "two, hundred and whatever is above it";
    evaluate(whole_name);
    check_error(work.plain("view --from r --text --true 0"), 2, "expected 7, one or " + whole_name);
    evaluate("two, hundred");
    const auto shown = [&](const std::string& name) {
        return output_of(
            work.plain(Words("view --from r --text --all -q --limit 1000 --true") + Words(1, name)));
    };
    for (const std::string name : {"one", "7", "two, hundred"}) {
        const std::string text = shown(name);
        CHECK(count_of(text, "true " + name + "   predicted " + name) == std::ranges::count(labels, name));
        CHECK(count_of(text, "   true ") == std::ranges::count(labels, name));
    }
    for (const std::string wrong : {"0", "One", "256"})
        check_error(
            work.plain(Words("view --from r --text --predicted") + wrong), 2,
            "--predicted " + wrong + ": no such label in this data set; expected 7, one or two, hundred");
    CHECK(page_data(output_of(work.plain("view --from r --html - --all --true one")))["gallery"]["title"] ==
          "Test digits: true label one");
}

TEST_CASE("view orders by confidence, index or pair, and --text has a limit and says when there are more") {
    const Evaluated evaluated;
    const auto sorted = [&](const std::string& order, auto key) {
        std::vector<Answer> answers = evaluated.answers;
        std::ranges::sort(answers, {}, key);
        CHECK(digits_in(evaluated.text("--all --limit 1000 --order " + order)) == answers);
    };
    sorted("index", [](const Answer& a) { return a.index; });
    sorted("confidence", [](const Answer& a) { return std::tuple(-a.confidence, a.index); });
    sorted("pair", [](const Answer& a) { return std::tuple(a.label, a.predicted, -a.confidence, a.index); });

    const std::size_t wrong = evaluated.expected(is_wrong).size();
    REQUIRE(wrong > 10);
    const std::string some = evaluated.text();
    CHECK(digits_in(some).size() == 10);
    CHECK(contains(some, "10 of " + std::to_string(wrong) + " digits shown; --limit"));
    const std::string three = evaluated.text("--limit 3 -q");
    CHECK(digits_in(three).size() == 3);
    CHECK(three.starts_with("#"));
    CHECK(!contains(three, "--limit"));
}

TEST_CASE_FIXTURE(Evaluated, "view with nothing to show says so and is no error") {
    const Answer& right = *std::find_if_not(answers.begin(), answers.end(), is_wrong);
    for (const Words form : {"--text", "--html /dev/null"})
        CHECK(contains(silent_output(view(form + "--index" + std::to_string(right.index) + "--true" +
                                          std::string(right.label == 1 ? "7" : "1"))),
                       "nothing to show"));
}

TEST_CASE_FIXTURE(Evaluated,
                  "view --text has color where the terminal has it, and block characters everywhere") {
    for (const auto& [words, terminal, escapes] : {std::tuple("", false, false),
                                                   {"", true, true},
                                                   {"--color always", false, true},
                                                   {"--color never", true, false}}) {
        const std::string text = view("--text --progress never" + Words(words), {.terminal = terminal}).out;
        CHECK(contains(text, "█"));
        CHECK(contains(text, "\x1b") == escapes);
    }
}

TEST_CASE_FIXTURE(Evaluated, "view --html holds the selection") {
    const std::string page = output_of(view("--html - --all --true 7 --order pair"));
    silent_output(view("--html p.html --all --true 7 --order pair"));
    CHECK(file("p.html") == page);
    const json data = page_data(page);
    std::vector<int> indices, expected = this->expected([](const Answer&a) { return a.label == 7; });
    for (const json& digit : data["gallery"]["digits"]) {
        indices.push_back(digit["index"]);
        CHECK(digit["neighbors"].size() == 5);
    }
    CHECK(std::ranges::is_permutation(indices, expected));
    CHECK(data["gallery"]["order"] == "pair");
    CHECK(data["gallery"]["title"] == "Test digits: true label 7");
    const json report = json_of("r/report.json");
    for (const char* path : {"/result/confusion", "/created", "/timing/search_ms", "/device/name"})
        CHECK(data.at(json::json_pointer(path)) == report.at(json::json_pointer(path)));
    CHECK(data["result"]["calibration"]["fitted"] == report["result"]["calibration"]["fitted"]);
    CHECK(data["timing"]["stages"].size() == report["timing"]["stages"].size());

    json of_two = report;
    of_two["timing"].update({{"devices_ms", {30, 50.5}}, {"imbalance", 0.254658385}});
    write(folder / "r/report.json", of_two.dump());
    const json shown = page_data(output_of(view("--html - --limit 2")))["timing"];
    for (const char* name : {"devices_ms", "imbalance"})
        CHECK(shown[name] == of_two["timing"][name]);
    write(folder / "r/report.json", report.dump());

    const json some = page_data(output_of(view("--html - --limit 2")))["gallery"];
    CHECK(some["digits"].size() == 2);
    CHECK(some["total"] == std::ranges::count_if(answers, is_wrong));
}

TEST_CASE("view: what the data set does not have is an error before the search") {
    const Work work;
    for (const std::string words : {"--index 99999", "--true 77", "--predicted 77"}) {
        const RunResult result = work.plain("view --text --progress always" + Words(words));
        check_error(result, 2, words + ": ");
        CHECK_FALSE(contains(result.err, "searching"));
    }
}

TEST_CASE("view --sheet draws every digit, on as many pages as it takes") {
    const Evaluated evaluated(600);
    const Folder results;
    const auto sheet = [&](const std::string& name, const std::string& words = "") {
        return evaluated.view("--sheet " + (results / name) + ' ' + words);
    };
    if (!has_opencv) {
        check_error(sheet("s.png"), 1, "a build with OpenCV");
        CHECK(results.names().empty());
        return;
    }
    const std::size_t wrong = evaluated.expected(is_wrong).size();
    REQUIRE(wrong > 2 * 168);
    REQUIRE(wrong <= 3 * 168);
    using Names = std::vector<std::string>;
    output_of(sheet("all.png"));
    CHECK(results.names() == Names{"all-1.png", "all-2.png", "all-3.png"});
    const auto full = png_size(read_file(results / "all-1.png"));
    CHECK(full.first <= 1500);
    CHECK(full.second <= 1800);
    CHECK(png_size(read_file(results / "all-3.png")).second <= full.second);
    output_of(sheet("one.png", "--index 0"));
    CHECK(png_size(read_file(results / "one.png")).first < full.first);
    output_of(sheet("ONE.PNG", "--index 0"));
    CHECK(read_file(results / "ONE.PNG") == read_file(results / "one.png"));

    // A shorter sheet removes the pages of the longer one, and no other picture.
    check_contains(output_of(sheet("all-4.png", "--limit 168")), {", the first 168 shown\n"});  // as wide
    check_contains(output_of(sheet("one.png", "--limit 1")), {", the first one shown\n"});
    CHECK(png_size(read_file(results / "all-4.png")).first == full.first);
    check_contains(output_of(sheet("all.png", "--limit 200")),
                   {("removed 1 page of an earlier sheet, from " + (results / "all-3.png")).c_str()});
    CHECK(results.names() == Names{"ONE.PNG", "all-1.png", "all-2.png", "all-4.png", "one.png"});
    output_of(sheet("all.png", "--limit 168"));
    CHECK(results.names() == Names{"ONE.PNG", "all-4.png", "all.png", "one.png"});

    output_of(sheet("all.png", "--limit 169"));
    CHECK(results.names() == Names{"ONE.PNG", "all-1.png", "all-2.png", "all-4.png", "one.png"});

    check_error(evaluated.view("--sheet /dev/full"), 1);  // of several pages
    CHECK(!fs::exists("/dev/full-1"));
}

TEST_CASE("view writes several forms at once") {
    if (!has_opencv) return skip(no_opencv);
    const Evaluated evaluated;
    CHECK(digits_in(output_of(evaluated.view("--sheet s.png --html p.html --text"))).size() == 10);
    CHECK(page_data(evaluated.file("p.html"))["gallery"]["digits"].size() ==
          evaluated.expected(is_wrong).size());
    CHECK(silent_output(evaluated.view("--sheet s.png -q")).empty());
}

TEST_CASE("view without a display suggests other forms") {
    if (!has_opencv) return skip(no_opencv);
    const Evaluated evaluated;
    for (const char* display : {"", ":9876"}) {
        const RunOptions options{.environment = {{"DISPLAY", display}}};
        const RunResult result = evaluated.view({}, options);
        check_error(result, 1);
        check_contains(result.err, {"--sheet", "--html", "--text"});
        // A missing report is reported first.
        check_error(program("view --from /nonexistent", options), 1, "error: /nonexistent: no such file; ");
    }
}

TEST_CASE_FIXTURE(Evaluated, "view refuses damaged reports") {
    const std::string file = folder / "r/report.json", good = read_file(file);
    const auto refused = [&](const std::string& content, const std::string& part = "") {
        write(file, content);
        check_error(view("--text"), 1, part);
    };
    const std::size_t json_end = good.find_last_of('}');
    for (std::size_t part = 0; part < 20; ++part)
        refused(good.substr(0, json_end * part / 20));
    for (const std::string& text : {std::string("[]"), std::string("null"), std::string(100'000, '['),
                                    std::string("{\"schema\": \"mnist-knn/evaluate/1\"}")})
        refused(text);
    const json report = json::parse(good);
    json changes = R"({"/schema": ["mnist-knn/evaluate/9", 1], "/settings/k": [0, 40960, 2.5, "5"],
        "/settings/metric": ["l9"], "/settings/tie": ["none"], "/dataset/train": [41, -1], "/dataset/rows": [1e300],
        "/dataset/test": [59, 18446744073709551615], "/dataset/cols": [4], "/dataset/files": ["/nowhere", ["/nowhere"]],
        "/dataset/files/0": ["/nowhere", "a%00b"], "/dataset/files/3": [3],
        "/dataset/synthetic": [true],
        "/result/labels": [[1, 7, 199], [7, 1, 200]], "/result/confusion": [[]], "/result/confusion/0/0": [-3],
        "/result/correct": [61], "/settings/transform": ["gradient", "", 3, null, []], "/timing": [null],
        "/timing/stages/0/total_ms": ["fast"]})"_json;
    changes["/result/confusion/0/0"].push_back(report["result"]["confusion"][0][0].get<int>() + 1);
    for (const auto& [path, values] : changes.items())
        for (const json& value : values) {
            CAPTURE(path);
            CAPTURE(value.dump());
            json changed = report;
            changed[json::json_pointer(path)] = value;
            refused(changed.dump(), path == "/settings/transform" ? "settings.transform" : "");
        }
    json labels = report;
    labels["result"]["labels"] = {1, 255, 256};
    refused(labels.dump(), "result.labels[2] is out of range: not 0 to 255");
    json powers = report;
    powers["settings"]["metric"] = "lp";
    for (const json& p : {json(nullptr), json("3"), json(0), json(1e9)}) {
        CAPTURE(p.dump());
        if (!p.is_null()) powers["settings"]["p"] = p;
        refused(powers.dump(), "settings.p");
    }
    json features = report;
    features["settings"]["transform"] = "pca:4000";  // more than there are images
    refused(features.dump(), "pca: 4000 components");
    fs::remove(folder / "r/predictions.csv");
    features["settings"]["transform"] = "gradients";  // other neighbors than those of the report
    refused(features.dump());
    fs::remove(file);
    check_error(view("--text"), 1);
}

TEST_CASE_FIXTURE(
    Evaluated,
    "view refuses a report that is not about the data set, and finds one that has moved by --data") {
    const Work elsewhere({.test = 60, .levels = 7});  // other pixels, the same sizes
    const auto from = [&](const Folder& data) { return view("--text --data " + data.path().string()); };
    const std::string before = text(), expected = "expected the data set that it was made from";
    check_error(from(elsewhere.folder), 1, expected);
    const Work fewer({.test = 17}), wider({.cols = 4, .test = 60});
    check_error(from(fewer.folder), 1, "r/report.json: needs 40 training and 60 test images, which ");
    check_error(from(wider.folder), 1, "r/report.json: needs images of 5x3, which ");
    const Folder moved;
    for (const std::string& name : folder.names())
        if (name != "r") fs::rename(folder / name, moved / name);
    check_error(view("--text"), 1);
    CHECK(output_of(from(moved)) == before);
    overwrite(moved / "t10k-images-idx3-ubyte", 16, "\xee");  // a pixel of an image that need not be shown
    check_error(from(moved), 1, "r/report.json: needs other test images or labels, which ");
    fs::remove(folder / "r/predictions.csv");
    check_error(from(elsewhere.folder), 1, expected);
}

TEST_CASE_FIXTURE(
    Evaluated, "what a report or a folder names is read if it is a regular file: nothing waits for a pipe") {
    const RunOptions soon{.timeout = std::chrono::seconds(20)};
    const auto with_pipe = [&](const std::string& file, const Words& words, const std::string& part) {
        const std::string name = folder / file, content = read_file(name);
        fs::remove(name);
        REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
        check_error(plain(words, soon), 1, part);
        fs::remove(name);
        write(name, content);
    };
    for (const char* name : {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}) {
        with_pipe(name, "view --from r --text", "r/report.json: its data set, ");
        with_pipe(name, "evaluate --data .", std::string("lacks ") + name);
    }
    with_pipe("r/report.json", "view --from r --text", "r/report.json: is no regular file");
    with_pipe("r/predictions.csv", "compare r r", "r/predictions.csv: cannot be read");
    json report = json_of("r/report.json");
    report["dataset"]["files"][0] = "/dev/zero";
    write(folder / "r/report.json", report.dump());
    check_error(plain("view --from r --text", soon), 1, "its data set, ");
}

TEST_CASE("view opens the data set of a report again, whatever its files are called") {
    const Folder folder;
    const std::string report = folder / "report";
    for (const std::string name : {"plain", "my, data", "100%25", "caf\xe9", "a\nb", "%", "pictures"}) {
        const std::string data = folder / name;
        SmallSet{.test = 60}.write(data);
        fs::copy(data + "/t10k-labels-idx1-ubyte", data + "/a, b");
        output_of(
            program(Words{"evaluate", "--data", data, "--test-labels", data + "/a, b", "--report", report} +
                    "--device cpu -q"));
        CHECK(contains(output_of(program("view --text --from " + report)), "misclassified"));
    }
}

TEST_CASE_FIXTURE(
    Evaluated,
    "view reads an older report, which has no transform and no list of files: it finds the data by its "
    "folder") {
    const std::string before = text();
    json report = json_of("r/report.json");
    CHECK(report["dataset"]["files"].size() == 4);
    report["dataset"].erase("files");
    for (const char* key : {"transform", "method"})
        report["settings"].erase(key);
    write(folder / "r/report.json", report.dump());
    CHECK(text() == before);
}

TEST_CASE("view passes over a predictions.csv that is not the report's") {
    const Evaluated evaluated, other(60, "3");
    const std::string before = evaluated.text(), good = evaluated.file("r/predictions.csv");
    for (const std::string& content : {std::string(), std::string("index\n"), good.substr(0, good.size() / 2),
                                       good + "60,1,1,1,1\n", other.file("r/predictions.csv"),
                                       "index,label,predicted,confidence,vote_share\n0,1,1,nan,1\n" + good}) {
        write(evaluated.folder / "r/predictions.csv", content);
        const RunResult result = evaluated.view("--text");
        CHECK(output_of(result) == before);
        CHECK(result.err.starts_with("mnist-knn: note: "));
        CHECK(contains(result.err, "searching again"));
        CHECK(evaluated.view("--text -q").err.empty());
    }
}

TEST_CASE("view of the built-in digits, from a report and without") {
    const Folder results;
    const Words limits = "--device cpu --limit-train 300 --limit-test 200";
    output_of(program("evaluate -q --report " + (results / "r") + limits));
    const RunResult fresh = program("view --text" + limits);
    CHECK(output_of(fresh) == silent_output(program("view --text --from " + (results / "r"))));
    CHECK(contains(fresh.err, "built-in synthetic digits"));
}
