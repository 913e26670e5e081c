/// `classify` judged by the names of the pictures; folders in folders; turned pictures; pixels.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/cli/pictures.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A PGM turned clockwise by a quarter.
std::string turned(const std::string& pgm) {
    const std::size_t head = pgm.find("255\n") + 4;
    int cols = 0, rows = 0;
    std::sscanf(pgm.c_str(), "P5 %d %d", &cols, &rows);
    std::string gray(static_cast<std::size_t>(rows * cols), ' ');
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < cols; ++x)
            gray[static_cast<std::size_t>(x * rows + rows - 1 - y)] =
                pgm[head + static_cast<std::size_t>(y * cols + x)];
    return "P5\n" + std::to_string(rows) + ' ' + std::to_string(cols) + "\n255\n" + gray;
}

/// What the default method answers to the pictures of a list, by file: a digit, or null where it rejects.
std::map<std::string, json> default_answers(const std::vector<std::vector<std::string>>& list) {
    std::vector<std::string> words = {"classify", "--data", mnist_folder(), "--json", "-"};
    for (std::size_t i = 1; i < list.size(); ++i)
        words.push_back(pictures_folder() + '/' + list[i][0]);
    std::map<std::string, json> answers;
    for (const json& one : json::parse(program(words).out))
        answers[one["file"]] = one.contains("digit") ? one["digit"] : json();
    return answers;
}

}  // namespace

TEST_CASE("classify: real digits are right, and letters rejected") {
    if (pictures_folder().empty()) return skip("there are no pictures: set MNIST_KNN_PICTURES");
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    if (!has_opencv) return skip(no_opencv);
    const auto digits = csv_rows(read_file(pictures_folder() + "/labels.csv"));
    const auto letters = csv_rows(read_file(pictures_folder() + "/nondigits.csv"));
    int right = 0, wrong = 0, rejected = 0;
    std::map<std::string, json> answers = default_answers(digits);
    for (std::size_t i = 1; i < digits.size(); ++i) {
        const json& answer = answers[pictures_folder() + '/' + digits[i][0]];
        if (!answer.is_null()) ++(std::to_string(answer.get<int>()) == digits[i][1] ? right : wrong);
    }
    answers = default_answers(letters);
    for (std::size_t i = 1; i < letters.size(); ++i)
        rejected += letters[i][2] == "0" && answers[pictures_folder() + '/' + letters[i][0]].is_null();
    MESSAGE(right, " digits right, ", wrong, " wrong; ", rejected, " letters and signs rejected");
    CHECK(right >= 185);  // docs/classify.md has the figures
    CHECK(wrong <= 3);
    CHECK(rejected >= 55);
}

TEST_CASE("classify --expected: folders and names tell the digits, and right answers are counted") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    const std::vector<int> chosen = one_of_each(digits);
    fs::create_directories(folder.path / "in" / "3");
    fs::create_directories(folder.path / "in" / "more");
    write(folder / "in/3/photo_9.pgm", photo(digits, chosen[3]));  // the folder is asked first
    write(folder / "in/a_4.pgm", photo(digits, chosen[4]));
    write(folder / "in/5.pgm", photo(digits, chosen[5]));
    write(folder / "in/wrong-7.pgm", photo(digits, chosen[2]));
    write(folder / "in/img12.pgm", photo(digits, chosen[1]));  // tells nothing
    write(folder / "in/more/broken_1.pgm", "P5\n");
    const RunResult result = digits.classify({"-r", "--expected", "--reject", "off", folder / "in"});
    CAPTURE(result.err);
    CHECK(result.exit_code == 3);
    CHECK(result.out.starts_with(
        "3 of 5 pictures right, 1 wrong, 0 rejected, 1 failed; the name of 1 more tells "
        "no digit\nof those answered: accuracy 75"));
    CHECK(result.out.find("true \\ predicted") != std::string::npos);
    CHECK(result.out.ends_with("\nwrong:\n    " + (folder / "in/wrong-7.pgm") + ": 2, expected 7\n"));
    const json listed =
        digits.answers({"--expected", "--reject", "off", folder / "in/a_4.pgm", folder / "in/img12.pgm"});
    CHECK(listed[0]["expected"] == 4);
    CHECK(listed[1]["expected"].is_null());
    // However the folder is named.
    const std::string command =
        "cd \"$1/in/3\" && \"$0\" classify --expected -q --reject off --no-cache --data \"$2\" ";
    for (const std::string name : {".", "photo_9.pgm", "./photo_9.pgm", "../3", "../../in/3/photo_9.pgm"}) {
        CAPTURE(name);
        const RunResult named = run(
            {"/bin/sh", "-c", command + name, MNIST_KNN_BINARY, folder.path.string(), digits.folder / ""});
        CHECK(named.out.starts_with("1 of 1 picture"));
    }
    CHECK(digits.classify({"-q", "--expected", "--reject", "off", folder / "in/a_4.pgm"})
              .out.starts_with("1 of 1 picture right, 0 wrong"));
    const RunResult quiet = digits.classify({"-rq", "--expected", "--reject", "off", folder / "in"});
    CHECK(lines_of(quiet.out).size() == 2);

    const RunResult report = digits.classify(
        {"-rq", "--expected", "--reject", "off", folder / "in", "--report", folder / "report"});
    CAPTURE(report.err);
    const json written = json::parse(read_file(folder / "report/report.json"));
    CHECK(written["result"]["correct"] == 3);
    CHECK(written["result"]["total"] == 4);
    CHECK(written["timing"]["load_ms"] > 0);
    CHECK(written["timing"]["wall_ms"] >= written["timing"]["search_ms"]);
    CHECK(written["result"]["confusion"][7][2] == 1);
    CHECK(fs::exists(folder / "report/index.html"));
    CHECK(csv_rows(read_file(folder / "report/predictions.csv")).size() == 5);
    const RunResult viewed = program({"view", "--from", folder / "report", "--text"});
    CHECK(viewed.exit_code == 1);
    CHECK(contains(viewed.err, "is about pictures that classify read"));

    CHECK(digits.classify({"--expected", folder / "in/img12.pgm"}).exit_code == 1);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"--expected", "--many"}, {"--report", folder / "r"}, {"--pixels"}}) {
        std::vector<std::string> all = words;
        all.push_back(folder / "in/5.pgm");
        CHECK(digits.classify(all).exit_code == 2);
    }
}

TEST_CASE("classify: folders in folders are told of, and searched with -r") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    const std::vector<int> chosen = one_of_each(digits);
    fs::create_directories(folder.path / "in" / "b" / "c");
    fs::create_directories(folder.path / "in" / ".hidden");
    write(folder / "in/z.pgm", photo(digits, chosen[1]));
    write(folder / "in/b/y.pgm", photo(digits, chosen[2]));
    write(folder / "in/b/c/x.pgm", photo(digits, chosen[3]));
    write(folder / "in/.hidden/w.pgm", photo(digits, chosen[4]));
    fs::create_directory_symlink("..", folder.path / "in" / "b" / "loop");
    const RunResult flat = digits.classify({"--reject", "off", folder / "in"});
    CHECK(flat.exit_code == 0);
    CHECK(flat.err.find("1 folder in it left out; -r goes into them") != std::string::npos);
    CHECK(digits.classify({"-q", "--reject", "off", folder / "in"}).err.empty());
    CHECK(digits.classify({"-rq", "--reject", "off", folder / "in"}).out == "3\n2\n1\n");
    const RunResult none = digits.classify({"-q", folder / ""});
    CHECK(none.exit_code == 1);
    CHECK(none.err.find("holds no pictures but 1 folder; expected -r") != std::string::npos);
}

TEST_CASE("classify --rotate and --pixels") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    const std::string seven = photo(digits, one_of_each(digits)[7]);
    write(folder / "0.pgm", seven);
    write(folder / "90.pgm", turned(seven));
    write(folder / "180.pgm", turned(turned(seven)));
    write(folder / "270.pgm", turned(turned(turned(seven))));
    const json upright = digits.answers({"--pixels", "--reject", "off", folder / "0.pgm"})[0];
    REQUIRE(upright["pixels"].size() == 784);
    int most = 0;
    for (const json& pixel : upright["pixels"])
        most = std::max(most, pixel.get<int>());
    CHECK(most == 255);
    for (const int degrees : {90, 180, 270}) {
        const std::string file = folder / (std::to_string(degrees) + ".pgm");
        const std::string back = std::to_string(360 - degrees);
        json answer = digits.answers({"--rotate", back, "--pixels", "--reject", "off", file})[0];
        CHECK(answer["pixels"] == upright["pixels"]);
        CHECK(answer["box"] == upright["box"]);
    }
    CHECK(digits.classify({"--rotate", "45", folder / "0.pgm"}).exit_code == 2);
    CHECK(!digits.answers({folder / "0.pgm"})[0].contains("pixels"));
}

TEST_CASE("classify: a picture without ink says what was seen") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    write(folder / "blank.pgm", Page(200, 300).pgm());
    const std::string reason = digits.answers({folder / "blank.pgm"})[0]["reason"];
    CHECK(reason.starts_with("no ink found: the "));
    CHECK(reason.find(" % ") != std::string::npos);
}

TEST_CASE("classify --many: digits have rows, and real pages are read") {
    const std::string folder = pictures_folder();
    if (folder.empty()) return skip("there are no pictures: set MNIST_KNN_PICTURES");
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    int pages = 0, exact = 0;
    for (const auto& row : csv_rows(read_file(folder + "/pages.csv"))) {
        if (row[0] == "file") continue;
        const RunResult result = program({"classify", "--many", "-q", "--method", "gradients", "--data",
                                          mnist_folder(), folder + '/' + row[0]});
        std::string got = result.out;
        std::replace(got.begin(), got.end(), '\n', '/');
        ++pages;
        exact += got == row[1] + '/';
    }
    MESSAGE(exact, " of ", pages, " pages exact");
    CHECK(exact >= 9);
}
