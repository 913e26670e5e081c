/// --transform and --method, as users give them.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "tests/cli/evaluated.h"
#include "tests/cli/pictures.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"
#include "tests/support/transform_oracle.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A small data set in a folder.
struct Small {
    Folder folder;
    SmallSet set;

    Small(int rows, int cols, int train = 40, int test = 17) {
        set.rows = rows;
        set.cols = cols;
        set.train = train;
        set.test = test;
        set.levels = 5;
        set.write(folder.path);
    }
    RunResult evaluate(const std::vector<std::string>& words, const RunOptions& options = {}) const {
        std::vector<std::string> all = {"evaluate", "--data", folder / "", "--device", "cpu"};
        all.insert(all.end(), words.begin(), words.end());
        return program(all, options);
    }
    json settings(const std::vector<std::string>& words) const {
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--json", "-"});
        const RunResult result = evaluate(all);
        REQUIRE(result.exit_code == 0);
        return json::parse(result.out)["settings"];
    }
};

/// The oracle's features of images: of lists that fit nothing.
std::vector<std::vector<std::uint8_t>> features(const std::vector<std::vector<int>>& images,
                                                knn::ImageShape shape,
                                                const std::vector<knn::TransformStep>& steps) {
    const knn::FittedTransform transform{.spec = {steps}, .image = shape, .steps = {}};
    std::vector<std::vector<std::uint8_t>> all;
    for (const std::vector<int>& image : images) {
        const std::vector<std::uint8_t> pixels(image.begin(), image.end());
        all.push_back(features_of(transform, pixels.data()));
    }
    return all;
}

long squared_distance(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    long sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

}  // namespace

TEST_CASE("transform: the neighbors are those of plain loops over the features") {
    struct Case {
        const char* text;
        std::vector<knn::TransformStep> steps;
    };
    const Small small(11, 9);
    using enum knn::TransformKind;
    for (const Case& one : std::vector<Case>{{"deskew", {{deskew, 1}}},
                                             {"deskew:0.5,blur:0.7", {{deskew, 0.5}, {blur, 0.7}}},
                                             {"normalize", {{normalize, 0}}},
                                             {"hog", {{hog, 0}}},
                                             {"gradients", {{gradients, 0}}}}) {
        CAPTURE(one.text);
        const auto train = features(small.set.train_images, {11, 9}, one.steps);
        const auto test = features(small.set.test_images, {11, 9}, one.steps);
        for (const std::string select : {"threshold", "nth_element"}) {
            std::vector<std::string> words = {"-q", "-k", "40", "--transform", one.text, "--neighbors-csv",
                                              "-"};
            if (select == "nth_element") words.insert(words.end(), {"--select", select});
            const RunResult result = small.evaluate(words);
            REQUIRE(result.exit_code == 0);
            CHECK(result.err.empty());
            const auto rows = csv_rows(result.out);
            REQUIRE(rows.size() == 1 + 17 * 40);
            for (std::size_t query = 0; query < test.size(); ++query) {
                std::vector<std::pair<long, std::size_t>> nearest;
                for (std::size_t i = 0; i < train.size(); ++i)
                    nearest.emplace_back(squared_distance(test[query], train[i]), i);
                std::sort(nearest.begin(), nearest.end());
                for (std::size_t rank = 0; rank < 40; ++rank) {
                    const auto& row = rows[1 + query * 40 + rank];
                    REQUIRE(row[4] == std::to_string(nearest[rank].first));
                    REQUIRE(row[2] == std::to_string(nearest[rank].second));
                }
            }
        }
    }
}

TEST_CASE("transform: the same bytes for any number of threads, any batch and instruction set") {
    const Small small(13, 10, 300, 90);
    for (const std::string text : {"gradients", "deskew,pca:20", "hog", "blur,normalize"}) {
        CAPTURE(text);
        const auto bytes = [&](std::vector<std::string> more, const std::string& isa) {
            more.insert(more.end(), {"-q", "--transform", text, "--neighbors-csv", "-"});
            RunOptions options;
            if (!isa.empty()) options.environment["MNIST_KNN_ISA"] = isa;
            const RunResult result = small.evaluate(more, options);
            if (result.exit_code == 2 && result.err.find("no instruction set") != std::string::npos)
                return std::string();
            REQUIRE(result.exit_code == 0);
            return result.out;
        };
        const std::string first = bytes({"--threads", "1"}, "");
        CHECK(bytes({"--threads", "2"}, "") == first);
        CHECK(bytes({"--threads", "5", "--batch", "7"}, "") == first);
        CHECK(bytes({}, "plain") == first);
        for (const std::string isa : {"amx", "avx512vnni", "avxvnni", "avx2"})
            if (const std::string other = bytes({}, isa); !other.empty()) CHECK(other == first);
    }
}

TEST_CASE("transform: the report and its text say which") {
    const Small small(11, 9);
    CHECK(small.settings({})["method"] == "raw");
    CHECK(small.settings({})["transform"] == "raw");
    CHECK(small.settings({"--transform", "deskew:1,blur:.5"})["transform"] == "deskew,blur:0.5");
    CHECK(small.settings({"--transform", "deskew"})["method"] == "custom");
    CHECK(small.evaluate({}).out.find("settings  k = 5, metric l2") != std::string::npos);
    const std::string text = small.evaluate({"--transform", "deskew,pca:9"}).out;
    CHECK(text.find("settings  transform deskew,pca:9, k = 5, metric l2") != std::string::npos);
    for (const char* stage : {"  fit ", "  transform "})
        CHECK(text.find(stage) != std::string::npos);
    const json page = page_data([&] {
        REQUIRE(small.evaluate({"-q", "--transform", "hog", "--report", small.folder / "r"}).exit_code == 0);
        return read_file(small.folder / "r/index.html");
    }());
    CHECK(page["gallery"]["distance"] == "squared distance of features");
}

TEST_CASE("method: a whole classifier, whose parts other options override in any order") {
    const Small small(11, 9);
    const json whole = small.settings({"--method", "gradients"});
    CHECK(whole["method"] == "gradients");
    CHECK(whole["transform"] == "gradients");
    CHECK(whole["k"] == 5);
    CHECK(small.settings({"--transform", "gradients"})["method"] ==
          "gradients");  // it is the same classifier
    CHECK(small.settings({"--method", "raw"})["method"] == "raw");
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--method", "gradients", "-k", "3"},
          {"-k", "3", "--method", "gradients"}}) {
        const json settings = small.settings(words);
        CHECK(settings["k"] == 3);
        CHECK(settings["transform"] == "gradients");
        CHECK(settings["method"] == "custom");
    }
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--method", "gradients", "--transform", "blur", "--metric", "l1", "--tie",
                                   "nearest"},
          {"--tie", "nearest", "--metric", "l1", "--transform", "blur", "--method", "gradients"}}) {
        const json settings = small.settings(words);
        CHECK(settings["transform"] == "blur");
        CHECK(settings["metric"] == "l1");
        CHECK(settings["tie"] == "nearest");
    }
    CHECK(small.settings({"--method", "gradients", "--transform", "raw"})["method"] == "raw");
    CHECK(small.evaluate({"-q", "--method", "gradients", "--neighbors-csv", "-"}).out ==
          small.evaluate({"-q", "--transform", "gradients", "--neighbors-csv", "-"}).out);
}

TEST_CASE("transform: view reads the report back, with the images and the distances of features") {
    const Small small(11, 9, 60, 40);
    for (const std::string text : {"gradients", "deskew,pca:9"}) {
        CAPTURE(text);
        const std::string report = small.folder / ("r-" + text);
        REQUIRE(small.evaluate({"-q", "--transform", text, "--report", report}).exit_code == 0);
        const std::vector<std::string> words = {"view", "--from", report, "--text", "--all", "-q"};
        const RunResult view = program(words);
        CAPTURE(view.err);
        REQUIRE(view.exit_code == 0);
        CHECK(view.out.find("squared distance of features") != std::string::npos);
        const auto anew = [&](const std::string& transform) {
            return program({"view", "--data", small.folder / "", "--text", "--all", "-q", "--device", "cpu",
                            "--transform", transform})
                .out;
        };
        CHECK(anew(text) == view.out);
        CHECK(anew("raw") != view.out);
        fs::remove(report + "/predictions.csv");  // searched again then
        CHECK(program(words).out == view.out);
        const json page = page_data(program({"view", "--from", report, "--all", "--html", "-"}).out);
        CHECK(page["gallery"]["distance"] == "squared distance of features");
    }
}

TEST_CASE("transform: view shows the very pictures that it shows without one") {
    const Small small(11, 9, 60, 30);
    const auto pictures = [&](const std::string& transform) {
        const RunResult result =
            program({"view", "--data", small.folder / "", "--device", "cpu", "--all", "--order", "index",
                     "--transform", transform, "--html", small.folder / "page"});
        REQUIRE(result.exit_code == 0);
        json digits = page_data(read_file(small.folder / "page"))["gallery"]["digits"];
        json images = json::array();
        for (const json& digit : digits)
            images.push_back({digit["index"], digit["label"]});
        return images;
    };
    CHECK(pictures("gradients") == pictures("raw"));
    // The first image in the text is drawn from its pixels.
    const auto first_block = [&](const std::string& transform) {
        const RunResult result = program({"view", "--data", small.folder / "", "--device", "cpu", "--index",
                                          "4", "--transform", transform, "--text", "-q", "--color", "never"});
        REQUIRE(result.exit_code == 0);
        std::string left;
        for (const std::string& line : lines_of(result.out))
            if (line.find('#') != 0) left += line.substr(0, 9) + "\n";
        return left;
    };
    CHECK(first_block("gradients") == first_block("raw"));
}

TEST_CASE("transform: a graph of features") {
    const Small small(11, 9);
    const auto graph = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"graph", "--data", small.folder / "", "-k", "3", "--device", "cpu"});
        return program(words);
    };
    const auto train = features(small.set.train_images, {11, 9}, {{knn::TransformKind::gradients, 0}});
    const RunResult csv = graph({"--method", "gradients", "--csv", "-"});
    REQUIRE(csv.exit_code == 0);
    const auto rows = csv_rows(csv.out);
    for (std::size_t i = 0; i < train.size(); ++i) {
        std::vector<std::pair<long, std::size_t>> nearest;
        for (std::size_t j = 0; j < train.size(); ++j)
            if (j != i) nearest.emplace_back(squared_distance(train[i], train[j]), j);
        std::sort(nearest.begin(), nearest.end());
        for (std::size_t rank = 0; rank < 3; ++rank) {
            CHECK(rows[1 + i * 3 + rank][2] == std::to_string(nearest[rank].second));
            CHECK(rows[1 + i * 3 + rank][3] == std::to_string(nearest[rank].first));
        }
    }
    CHECK(graph({"--transform", "deskew"})
              .out.find("settings  transform deskew, k = 3, metric l2, form directed") != std::string::npos);
    const json settings = json::parse(graph({"--transform", "deskew", "--json", "-"}).out)["settings"];
    CHECK(settings["transform"] == "deskew");
    CHECK(!settings.contains("method"));
}

TEST_CASE("transform: images of any shape, also all of one gray") {
    for (const auto& [rows, cols] :
         {std::pair{1, 1}, {1, 784}, {784, 1}, {3, 5}, {2, 2}, {90, 20}, {257, 257}})
        for (const char gray : {'\0', 'M', '\xff', '?'}) {  // ?: not of one gray
            const Small small(rows, cols, 12, 5);
            for (const std::string part : {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"})
                if (gray != '?') {
                    std::string content = read_file(small.folder / part);
                    std::fill(content.begin() + 16, content.end(), gray);
                    write(small.folder / part, content);
                }
            std::vector<std::string> texts = {"deskew", "normalize", "blur", "gradients"};
            if (rows != 257) texts.emplace_back("hog");
            if (rows * cols < 100) texts.insert(texts.end(), {"pca:1", "gradients,pca:2"});
            for (const std::string& text : texts) {
                CAPTURE(rows);
                CAPTURE(cols);
                CAPTURE(text);
                const RunResult result = small.evaluate({"-q", "--transform", text});
                CAPTURE(result.err);
                CHECK(result.exit_code == 0);
                CHECK(result.out.find("accuracy") != std::string::npos);
            }
            for (const std::string text : {"pca:1", "hog"})  // rows too long to fit, too many features
                if (rows == 257)
                    check_usage_error({"evaluate", "--data", small.folder / "", "--transform", text});
        }
}

TEST_CASE("transform: wrong lists, methods and components are usage errors of one line") {
    const Small small(11, 9);
    const std::string data = small.folder / "";
    const std::vector<std::vector<std::string>> wrong = {
        {"evaluate", "--transform"},
        {"evaluate", "--transform", ""},
        {"evaluate", "--transform", "gradient"},
        {"evaluate", "--transform", "deskew,"},
        {"evaluate", "--transform", "deskew:3"},
        {"evaluate", "--transform", "deskew:-1"},
        {"evaluate", "--transform", "blur:0"},
        {"evaluate", "--transform", "blur:1000"},
        {"evaluate", "--transform", "pca"},
        {"evaluate", "--transform", "pca:0"},
        {"evaluate", "--transform", "pca:1.5"},
        {"evaluate", "--transform", "hog:4"},
        {"evaluate", "--transform", "hog,gradients"},
        {"evaluate", "--transform", "deskew", "--transform", "blur"},
        {"evaluate", "--method", "best"},
        {"evaluate", "--method", ""},
        {"evaluate", "--method"},
        {"evaluate", "--method", "raw", "--method", "gradients"},
        {"evaluate", "--data", data, "--transform", "pca:100"},  // of 99 pixels
        {"evaluate", "--data", data, "--transform", "pca:41"},   // of 40 images
        {"evaluate", "--data", data, "--transform", "pca:10", "--limit-train", "9"},
        {"evaluate", "--data", data, "--transform", "pca:10,pca:11"},
        {"graph", "--data", data, "--transform", "pca:41"},
        {"view", "--data", data, "--transform", "pca:41", "--text"},
        {"view", "--from", "report", "--transform", "deskew"},
        {"view", "--from", "report", "--method", "gradients"},
        {"classify", "--transform", "what", "a.png"},
        {"classify", "--method", "what", "a.png"},
        {"info", "--transform", "deskew"},
    };
    for (const auto& words : wrong)
        check_usage_error(words);
    for (const char* option : {"--method", "--transform"})
        CHECK(program({"evaluate", option, "gradient"}).err.find("did you mean gradients?") !=
              std::string::npos);
    CHECK(program({"evaluate", "--data", data, "--transform", "pca:41"})
              .err.starts_with(
                  "mnist-knn: error: transform pca: 41 components of 40 images of 99 bytes; expected 1 to "
                  "40\n"));
}

TEST_CASE("transform: a report whose transform is unknown or does not fit is refused") {
    const Small small(11, 9);
    REQUIRE(small.evaluate({"-q", "--transform", "gradients", "--report", small.folder / "r"}).exit_code ==
            0);
    const std::string file = small.folder / "r/report.json";
    const json report = json::parse(read_file(file));
    const auto view = [&](const json& transform) {
        json changed = report;
        changed["settings"]["transform"] = transform;
        write(file, changed.dump());
        return program({"view", "--from", file, "--text"});
    };
    for (const json& transform : {json("gradient"), json(""), json(3), json(nullptr), json::array()}) {
        const RunResult result = view(transform);
        CAPTURE(result.err);
        CHECK(result.exit_code == 1);
        CHECK(is_one_error_line(result.err));
        CHECK(result.err.find("settings.transform") != std::string::npos);
    }
    CHECK(view("pca:4000").exit_code != 0);  // more than there are images
    fs::remove(small.folder / "r/predictions.csv");
    CHECK(view("raw").exit_code == 1);  // other neighbors than those of the report
    CHECK(view("gradients").exit_code == 0);
    json older = report;  // as before there were transforms
    older["settings"].erase("transform");
    older["settings"].erase("method");
    write(file, older.dump());
    CHECK(program({"view", "--from", file, "--text"}).err.find("settings.transform") == std::string::npos);
}

TEST_CASE("method: classify keeps the features of the training set, with the same answers") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    fs::create_directory(folder.path / "in");
    for (int i = 0; i < 12; ++i)
        write(folder / ("in/" + std::to_string(10 + i) + ".pgm"), raw(digits.images, i));
    RunOptions cached;
    cached.environment["XDG_CACHE_HOME"] = folder / "cache";
    for (const std::string text : {"gradients", "deskew,pca:30"}) {
        CAPTURE(text);
        const std::vector<std::string> words = {"--transform", text, "--reject",   "off",
                                                "--json",      "-",  folder / "in"};
        const RunResult plain = digits.classify(words);
        REQUIRE(plain.exit_code == 0);
        REQUIRE(json::parse(plain.out).size() == 12);
        CHECK(digits.classify(words, cached).out == plain.out);  // makes the entry
        CHECK(digits.classify(words, cached).out == plain.out);  // reads it
        int entries = 0;
        for (const auto& entry : fs::directory_iterator(folder / "cache/mnist-knn"))
            if (entry.path().filename().string().starts_with("features-")) {
                ++entries;
                std::string damaged = read_file(entry.path());
                damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
                write(entry.path(), damaged);
            }
        CHECK(entries > 0);
        CHECK(digits.classify(words, cached).out == plain.out);
    }
    const RunResult text =
        digits.classify({"--method", "gradients", "--reject", "off", folder / "in/10.pgm"});
    CHECK(text.out.find("distance of features") != std::string::npos);
    const RunResult sure =
        digits.classify({"--method", "gradients", folder / "in"}, cached);  // with rejection
    CHECK(sure.exit_code == 0);
    const RunResult explained =
        digits.classify({"--method", "gradients", folder / "in/10.pgm", "--explain", folder / "why.png"});
    CHECK(explained.exit_code == 0);
    CHECK(read_file(folder / "why.png").starts_with("\x89PNG"));
}

TEST_CASE("transform: Ctrl-C ends the fit of components of thousands of pixels") {
    const Folder folder;
    SmallSet set;
    set.rows = set.cols = 60;
    set.write(folder.path);
    RunOptions options;
    options.signal = SIGINT;
    options.signal_after = std::chrono::milliseconds(1500);
    const RunResult result = program({"evaluate", "--data", folder / "", "--device", "cpu", "--transform",
                                      "pca:2", "-q", "--json", folder / "j"},
                                     options);
    CHECK(result.exit_code == 130);
    CHECK(result.seconds_after_signal < 3);
    CHECK(!std::filesystem::exists(folder.path / "j"));
}

TEST_CASE("rerank: fewer candidates than neighbors are refused") {
    check_usage_error({"evaluate", "--rerank", "both", "--candidates", "10", "-k", "50"});
}

TEST_CASE("rerank: more neighbors than the usual candidates make more candidates, as the report says") {
    const Small small(28, 28, 150);
    CHECK(small.settings({"--method", "accurate", "-k", "97"})["candidates"] == 97);
}
