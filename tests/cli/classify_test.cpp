#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "tests/cli/program.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Real digits of the data set that the program draws: 28×28 pixels each, 0 = background.
struct Digits {
    Folder folder;  ///< with the four IDX files
    std::string images;
    bool none = false;  ///< this build has no pictures

    Digits() {
        REQUIRE(program({"info", "--write-synthetic", folder / ""}).exit_code == 0);
        images = read_file(folder / "t10k-images-idx3-ubyte").substr(16);
        none = !json::parse(program({"info", "--json", "-"}).out)["build"].contains("opencv");
    }
    int pixel(int i, int row, int col) const {
        return static_cast<unsigned char>(images[static_cast<std::size_t>(i * 784 + row * 28 + col)]);
    }
    /// Runs `classify` with these images as training set.
    RunResult classify(std::vector<std::string> words, RunOptions options = {}) const {
        words.insert(words.begin(), {"classify", "--data", folder / ""});
        return program(words, options);
    }
    json answers(std::vector<std::string> words) const {
        words.insert(words.end(), {"--json", "-"});
        return json::parse(classify(words).out);
    }
};

/// Paper with digits on it, dark on light, as PGM.
struct Page {
    int rows, cols;
    std::string gray;

    Page(int rows_, int cols_)
        : rows(rows_), cols(cols_), gray(static_cast<std::size_t>(rows_ * cols_), '\xf0') {}
    void draw(const Digits& digits, int i, int y, int x, int zoom) {
        for (int row = 0; row < 28 * zoom; ++row)
            for (int col = 0; col < 28 * zoom; ++col) {
                char& target = gray[static_cast<std::size_t>((y + row) * cols + x + col)];
                const int ink = digits.pixel(i, row / zoom, col / zoom);
                target = static_cast<char>(
                    std::min<int>(static_cast<unsigned char>(target), 240 - ink * 220 / 255));
            }
    }
    std::string pgm() const {
        return "P5\n" + std::to_string(cols) + " " + std::to_string(rows) + "\n255\n" + gray;
    }
};

std::string photo(const Digits& digits, int i) {
    Page page(28 * 4 + 60, 28 * 4 + 90);
    page.draw(digits, i, 30, 45, 4);
    return page.pgm();
}

/// The very 28×28 pixels.
std::string raw(const std::string& images, int i) {
    return "P5\n28 28\n255\n" + images.substr(static_cast<std::size_t>(i * 784), 784);
}

void write(const std::string& name, const std::string& content) {
    std::ofstream(name, std::ios::binary) << content;
}

/// Images that are right when they are classified as `evaluate` does it, one for each label.
std::vector<int> one_of_each(const Digits& digits) {
    const json report = json::parse(program({"evaluate", "--data", digits.folder / "", "--device", "cpu",
                                             "--predictions", digits.folder / "p.csv", "--json", "-"})
                                        .out);
    std::vector<int> chosen(10, -1);
    for (const auto& row : csv_rows(read_file(digits.folder / "p.csv")))
        if (row[0] != "index" && row[1] == row[2] && row[3].starts_with("1"))
            chosen[static_cast<std::size_t>(std::stoi(row[1]))] = std::stoi(row[0]);
    return chosen;
}

RunOptions with_cache(const std::string& folder) {
    RunOptions options;
    options.environment["XDG_CACHE_HOME"] = folder;
    return options;
}

constexpr const char* no_opencv = "this build has no OpenCV";

}  // namespace

TEST_CASE("images as they are in the data set get the answers of evaluate") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const RunResult content = run({"/bin/sh", "-c", "gzip -cdf \"$0\"/t10k-images*", mnist_folder()});
    if (content.out.size() != 16 + 10000 * 784) return skip("there is no gzip");
    const Folder folder;
    const int count = 60;
    fs::create_directory(folder.path / "in");
    for (int i = 0; i < count; ++i)
        write(folder / ("in/" + std::to_string(1000 + i) + ".pgm"), raw(content.out.substr(16), i));
    REQUIRE(program({"evaluate", "-q", "--data", mnist_folder(), "--device", "cpu", "-k", "7", "--limit-test",
                     "60", "--predictions", folder / "p", "--neighbors-csv", folder / "n"})
                .exit_code == 0);
    const auto predictions = csv_rows(read_file(folder / "p")), neighbors = csv_rows(read_file(folder / "n"));
    const RunResult result = program(
        {"classify", "--data", mnist_folder(), "-k", "7", "--reject", "off", "--json", "-", folder / "in"});
    const json list = json::parse(result.out);
    REQUIRE(list.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
        CHECK(list[i]["file"] == folder / ("in/" + std::to_string(1000 + i) + ".pgm"));
        CHECK(std::to_string(list[i]["digit"].get<int>()) == predictions[i + 1][2]);
        CHECK(list[i]["confidence"].get<double>() == doctest::Approx(std::stod(predictions[i + 1][3])));
        int votes = 0;
        for (const auto& vote : list[i]["votes"].items())
            votes += vote.value().get<int>();
        CHECK(votes == 7);
        REQUIRE(list[i]["neighbors"].size() == 7);
        for (std::size_t rank = 0; rank < 7; ++rank) {
            const auto& row = neighbors[1 + i * 7 + rank];
            const json& neighbor = list[i]["neighbors"][rank];
            CHECK(std::to_string(neighbor["index"].get<int>()) == row[2]);
            CHECK(std::to_string(neighbor["label"].get<int>()) == row[3]);
            CHECK(std::to_string(neighbor["distance"].get<int>()) == row[4]);
        }
        CHECK(list[i]["box"].size() == 4);
    }
}

TEST_CASE("files, folders and standard input at once, in the order given") {
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const Folder folder;
    const std::vector<int> chosen = one_of_each(digits);
    fs::create_directories(folder.path / "in" / "deeper");
    write(folder / "in/b.pgm", photo(digits, chosen[3]));
    write(folder / "in/a.PGM", photo(digits, chosen[2]));
    write(folder / "in/no ending", photo(digits, chosen[4]));
    write(folder / "in/notes.txt", "no picture");
    write(folder / "in/.hidden.pgm", "no picture");
    write(folder / "in/deeper/c.pgm", photo(digits, chosen[5]));
    write(folder / "7.pgm", photo(digits, chosen[7]));
    const RunResult result = run({"/bin/sh", "-c",
                                  "\"$0\" classify --data \"$1\" -q --reject off \"$2/7.pgm\" \"$2/in\" - < "
                                  "\"$2/in/deeper/c.pgm\"",
                                  MNIST_KNN_BINARY, digits.folder / "", folder.path.string()},
                                 with_cache("/dev/null"));
    CHECK(result.out == "7\n2\n3\n4\n5\n");
    CHECK(result.err.empty());
    CHECK(result.exit_code == 0);

    const RunResult text = digits.classify({folder / "7.pgm", folder / "in", "--reject", "off"});
    CHECK(lines_of(text.out).size() == 16);
    CHECK(text.out.starts_with((folder / "7.pgm") + ": 7  (confidence "));
    const json list = digits.answers({folder / "in", folder / "7.pgm"});
    CHECK(list[0]["file"] == folder / "in/a.PGM");
    CHECK(list[3]["file"] == folder / "7.pgm");
}

TEST_CASE("bad files are told one by one and the others answered") {
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const Folder folder;
    write(folder / "good.pgm", photo(digits, one_of_each(digits)[6]));
    write(folder / "empty.png", "");
    write(folder / "text.png", "this is no picture at all");
    write(folder / "huge.pgm", "P5\n100000 100000\n255\n");
    write(folder / "short.pgm", photo(digits, 0).substr(0, 500));
    fs::create_directory(folder.path / "none");
    const std::vector<std::string> bad = {
        folder / "empty.png", folder / "text.png",    folder / "huge.pgm",   folder / "short.pgm",
        folder / "none",      folder / "missing.png", folder / "two\nlines", ""};
    std::vector<std::string> all = bad;
    all.insert(all.begin() + 3, folder / "good.pgm");
    all.emplace_back("-q");
    const RunResult some = digits.classify(all);
    CAPTURE(some.err);
    CHECK(some.exit_code == 3);
    CHECK(some.out == "6\n");
    CHECK(lines_of(some.err).size() == bad.size());
    for (const std::string& line : lines_of(some.err))
        CHECK(is_one_error_line(line + '\n'));

    const json list = digits.answers(all);
    REQUIRE(list.size() == bad.size() + 1);
    for (std::size_t i = 0; i < list.size(); ++i) {
        CHECK(list[i].contains("error") == (i != 3));
        CHECK(list[i].contains("digit") == (i == 3));
        if (i != 3) CHECK(list[i].size() == 2);
    }
    CHECK(lines_of(some.err).back().find(": error: '': ") != std::string::npos);  // the name that is empty
    for (const std::string& file : bad) {
        const RunResult one = digits.classify({file});
        CAPTURE(file);
        CHECK(one.exit_code == 1);
        CHECK(one.out.empty());
        CHECK(is_one_error_line(one.err));
    }
}

TEST_CASE("a blank picture is answered with a question mark") {
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const Folder folder;
    write(folder / "blank.pgm", Page(200, 300).pgm());
    const RunResult quiet = digits.classify({"-q", folder / "blank.pgm"});
    CHECK(quiet.out == "?\n");
    CHECK(quiet.exit_code == 0);
    const json rejected = digits.answers({folder / "blank.pgm"})[0];
    CHECK(rejected["digit"].is_null());
    CHECK(!rejected["reason"].get<std::string>().empty());
    CHECK(rejected.contains("confidence"));
    CHECK(rejected.contains("neighbors"));
    const json forced = digits.answers({"--reject", "off", folder / "blank.pgm"})[0];
    CHECK(forced["digit"].is_number_integer());
    CHECK(!forced.contains("reason"));
    CHECK(forced["neighbors"].size() == 5);
    const json page = digits.answers({"--many", folder / "blank.pgm"})[0];
    CHECK(page["digits"].empty());
    CHECK(digits.classify({"-q", "--many", folder / "blank.pgm"}).out == "?\n");
}

TEST_CASE("the digits of a page in reading order, and a picture that explains them") {
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const Folder folder;
    const std::vector<int> chosen = one_of_each(digits);
    Page page(360, 640);
    const int rows[2][4] = {{3, 1, 4, 2}, {5, 9, 0, 6}};
    for (int row = 0; row < 2; ++row)
        for (int col = 0; col < 4; ++col)
            page.draw(digits, chosen[static_cast<std::size_t>(rows[row][col])],
                      30 + 160 * row + 7 * (col % 2), 40 + 140 * col, 4);
    write(folder / "page.pgm", page.pgm());
    const RunResult text = digits.classify(
        {"--many", "-q", "--reject", "off", folder / "page.pgm", "--explain", folder / "page.png"});
    CHECK(text.out == "3142\n5906\n");
    CHECK(read_file(folder / "page.png").starts_with("\x89PNG"));
    const json found = digits.answers({"--many", "--reject", "off", folder / "page.pgm"})[0]["digits"];
    REQUIRE(found.size() == 8);
    CHECK(found[0]["digit"] == 3);
    CHECK(found[7]["digit"] == 6);
    CHECK(found[7]["box"][0].get<int>() > 40 + 140 * 3);
    CHECK(found[7]["box"][1].get<int>() > 30 + 160);

    const RunResult single =
        digits.classify({"-q", folder / "page.pgm", folder / "none.pgm", "--explain", folder / "single.png"});
    CHECK(single.exit_code == 3);
    CHECK(read_file(folder / "single.png").starts_with("\x89PNG"));
    CHECK(folder.names() == std::vector<std::string>{"page.pgm", "page.png", "single.png"});
}

TEST_CASE("classify: wrong command lines and training sets") {
    const Digits digits;
    const Folder folder;
    write(folder / "a.pgm", photo(digits, 0));
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {},
             {"-", "-"},
             {folder / "a.pgm", "--reject", "maybe"},
             {folder / "a.pgm", "--limit-test", "5"},
             {folder / "a.pgm", "-k", "0"},
             {folder / "a.pgm", "--json", folder / "x.png", "--explain", folder / "./x.png"},
             {folder / "a.pgm", "--engine", "cpu", "--device", "gpu"}}) {
        const RunResult result = digits.classify(words);
        CAPTURE(result.err);
        CHECK(result.exit_code == 2);
        CHECK(is_usage_error(result.err));
    }
    if (digits.none) return skip(no_opencv);
    CHECK(digits.classify({folder / "a.pgm", "-k", "9", "--limit-train", "8"}).exit_code == 2);
    SmallSet().write(folder.path);
    const RunResult small = program({"classify", folder / "a.pgm", "--data", folder / ""});
    CHECK(small.exit_code == 1);
    CHECK(is_one_error_line(small.err));
    CHECK(small.err.find("5x3") != std::string::npos);
    CHECK(digits.classify({folder / "a.pgm", "--explain", "/nonexistent/a.png"}).exit_code == 1);
    CHECK(digits.classify({folder / "a.pgm", "--json", "/dev/full"}).exit_code == 1);
}

TEST_CASE("with a cache, two at once, damaged or not, the answers are the same") {
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const Folder folder;
    for (const std::string name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
        if (run({"/bin/sh", "-c", "gzip \"$0\"", digits.folder / name}).exit_code != 0)
            return skip("there is no gzip");
    write(folder / "a.pgm", raw(digits.images, 11));
    const RunOptions cached = with_cache(folder / "cache");
    const std::vector<std::string> words = {folder / "a.pgm", "--json", "-"};
    const std::string expected = digits.classify(words).out;
    REQUIRE(!expected.empty());
    CHECK(!fs::exists(folder / "cache"));
    {
        std::vector<std::jthread> both;
        for (int i = 0; i < 4; ++i)
            both.emplace_back([&] { CHECK(digits.classify(words, cached).out == expected); });
    }
    CHECK(digits.classify(words, cached).out == expected);
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder / "cache/mnist-knn")) {
        ++files;
        const std::string whole = read_file(entry.path());
        for (const std::size_t at : {std::size_t{3}, std::size_t{40}, whole.size() / 2, whole.size() - 1}) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(~damaged[at]);
            write(entry.path(), damaged);
            CHECK(digits.classify(words, cached).out == expected);
            CHECK(read_file(entry.path()) == whole);  // written anew
        }
        write(entry.path(), whole.substr(0, whole.size() / 2));
        CHECK(digits.classify(words, cached).out == expected);
        CHECK(read_file(entry.path()) == whole);
    }
    CHECK(files == 2);
    fs::remove_all(folder / "cache");
    auto bypassed = words;
    bypassed.emplace_back("--no-cache");
    CHECK(digits.classify(bypassed, cached).out == expected);
    CHECK(!fs::exists(folder / "cache"));
}

TEST_CASE("classify waits for a pipe, and Ctrl-C ends the waiting") {
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const Folder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    RunOptions options = with_cache("/dev/null");
    options.signal = SIGINT;
    options.signal_after = std::chrono::milliseconds(700);
    const RunResult stopped = digits.classify({"-q", pipe}, options);
    CHECK(stopped.exit_code == 130);
    CHECK(stopped.seconds_after_signal < 5);
    CHECK(stopped.out.empty());

    const int seven = one_of_each(digits)[7];
    std::jthread writer([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        write(pipe, photo(digits, seven));
    });
    CHECK(digits.classify({"-q", "--reject", "off", pipe}).out == "7\n");
}

TEST_CASE("the neighbors and the votes of a picture belong together") {
    const Digits digits;
    if (digits.none) return skip(no_opencv);
    const Folder folder;
    for (int i = 0; i < 20; ++i)
        write(folder / (std::to_string(i) + ".pgm"), photo(digits, i));
    const json one = digits.answers({"--reject", "off", folder / ""});
    REQUIRE(one.size() == 20);
    for (const json& answer : one) {
        CHECK(answer["neighbors"].size() == 5);
        int votes = 0;
        for (const auto& vote : answer["votes"].items())
            votes += vote.value().get<int>();
        CHECK(votes == 5);
        for (const json& neighbor : answer["neighbors"])
            CHECK(answer["votes"].contains(std::to_string(neighbor["label"].get<int>())));
    }
}

TEST_CASE("photos whose names end in their digit") {
    if (photos_folder().empty()) return skip("there are no photos: set MNIST_KNN_PHOTOS");
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const RunResult result = program({"classify", photos_folder(), "--data", mnist_folder(), "--json", "-"});
    CHECK(result.exit_code == 0);
    for (const json& one : json::parse(result.out)) {
        const std::string stem = fs::path(one["file"].get<std::string>()).stem().string();
        CAPTURE(stem);
        CHECK(one["digit"] == stem.back() - '0');
    }
}
