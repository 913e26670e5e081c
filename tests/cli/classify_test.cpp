/// What `classify` answers.

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/cli/pictures.h"
#include "tests/support/build.h"
#include "tests/support/skip.h"

using namespace knn::test;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("images as they are in the data set get the answers of evaluate") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const RunResult content = run({"/bin/sh", "-c", "gzip -cdf \"$0\"/t10k-images*", mnist_folder()});
    if (content.out.size() != 16 + 10000 * 784) return skip("there is no gzip");
    const Folder folder;
    const int count = 60;
    fs::create_directory(folder.path / "in");
    for (int i = 0; i < count; ++i)
        write(folder / ("in/" + std::to_string(1000 + i) + ".pgm"), raw(content.out.substr(16), i));
    for (const std::string transform : {"raw", "gradients"}) {
        CAPTURE(transform);
        REQUIRE(program({"evaluate", "-q", "--data", mnist_folder(), "--device", "cpu", "-k", "7",
                         "--limit-test", "60", "--transform", transform, "--predictions", folder / "p",
                         "--neighbors-csv", folder / "n"})
                    .exit_code == 0);
        const auto predictions = csv_rows(read_file(folder / "p")),
                   neighbors = csv_rows(read_file(folder / "n"));
        const RunResult result = program({"classify", "--data", mnist_folder(), "-k", "7", "--transform",
                                          transform, "--reject", "off", "--json", "-", folder / "in"});
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
}

TEST_CASE("a blank picture is answered with a question mark") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
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
    if (!has_opencv) return skip(no_opencv);
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

TEST_CASE("the neighbors and the votes of a picture belong together") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
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
