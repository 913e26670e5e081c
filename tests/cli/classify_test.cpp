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
    RunOptions cached;  // evaluate fits, and classify reads what it has fitted
    cached.environment["XDG_CACHE_HOME"] = folder / "cache";
    for (const std::string method : {"raw", "gradients", "accurate"}) {
        CAPTURE(method);
        REQUIRE(program({"evaluate", "-q", "--data", mnist_folder(), "--device", "cpu", "-k", "7",
                         "--limit-test", "60", "--method", method, "--predictions", folder / "p",
                         "--neighbors-csv", folder / "n"},
                        cached)
                    .exit_code == 0);
        const auto predictions = csv_rows(read_file(folder / "p")),
                   neighbors = csv_rows(read_file(folder / "n"));
        std::vector<std::string> words = {"classify", "--data", mnist_folder(), "-k", "7",
                                          "--reject", "off",    "--json",       "-",  folder / "in"};
        if (method != "accurate") words.insert(words.end(), {"--method", method});  // the default of classify
        const json list = json::parse(program(words, cached).out);
        REQUIRE(list.size() == count);
        for (std::size_t i = 0; i < count; ++i) {
            CHECK(list[i]["file"] == folder / ("in/" + std::to_string(1000 + i) + ".pgm"));
            CHECK(std::to_string(list[i]["digit"].get<int>()) == predictions[i + 1][2]);
            CHECK(list[i]["confidence"].get<double>() == std::stod(predictions[i + 1][3]));
            CHECK(list[i]["vote_share"].get<double>() == std::stod(predictions[i + 1][4]));
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
    CHECK(!rejected.contains("guess"));
    CHECK(rejected.contains("confidence"));
    CHECK(rejected.contains("neighbors"));
    const json forced = digits.answers({"--reject", "off", folder / "blank.pgm"})[0];
    CHECK(forced["digit"].is_number_integer());
    CHECK(!forced.contains("reason"));
    CHECK(forced["confidence"] == 0);        // without ink nothing is likely to be right
    CHECK(forced["neighbors"].size() == 4);  // of accurate
    const json page = digits.answers({"--many", folder / "blank.pgm"})[0];
    CHECK(page["digits"].empty());
    CHECK(digits.classify({"-q", "--many", folder / "blank.pgm"}).out == "?\n");
}

TEST_CASE("without MNIST classify says first what its answers are worth, and how to get it") {
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    write(folder / "blank.pgm", Page(200, 300).pgm());
    const RunResult result =
        program({"classify", "--method", "raw", "--limit-train", "500", folder / "blank.pgm", "nowhere.png"});
    CHECK(
        result.err.starts_with("mnist-knn: note: no data set found: comparing with the built-in synthetic "
                               "digits, by which a quarter of real "
                               "digits are rejected; tools/fetch_mnist.sh gets MNIST\n"));
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
        CHECK(answer["neighbors"].size() == 4);
        int votes = 0;
        for (const auto& vote : answer["votes"].items())
            votes += vote.value().get<int>();
        CHECK(votes == 4);
        for (const json& neighbor : answer["neighbors"])
            CHECK(answer["votes"].contains(std::to_string(neighbor["label"].get<int>())));
    }
}

TEST_CASE("classify is accurate unless told otherwise, and options override its parts") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    for (int i = 0; i < 5; ++i)
        write(folder / (std::to_string(i) + ".pgm"), photo(digits, i));
    const json usual = digits.answers({folder / ""});
    CHECK(usual == digits.answers({"--method", "accurate", folder / ""}));
    const json plain = digits.answers({"--method", "raw", folder / ""});
    CHECK(plain != usual);
    CHECK(plain[0]["neighbors"].size() == 5);
    const json parts = digits.answers(
        {"--transform", "raw", "--rerank", "none", "--vote", "majority", "-k", "5", folder / ""});
    CHECK(parts == plain);
    CHECK(program({"classify", "--help"}).out.find("(default accurate)") != std::string::npos);
    CHECK(program({"evaluate", "--help"}).out.find("(default raw)") != std::string::npos);
}

TEST_CASE("a share of digits may be lost: more is rejected the larger it is") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    for (int i = 0; i < 60; ++i)
        write(folder / (std::to_string(i) + ".pgm"), raw(digits.images, i));
    std::size_t before = 0;
    for (const std::string share : {"0%", "1%", "10%", "50%"}) {
        std::size_t rejected = 0;
        for (const json& one : digits.answers({"--reject", share, folder / ""})) {
            const bool is_rejected = one["digit"].is_null();
            CHECK(is_rejected == (one["usual"].get<double>() < std::stod(share) / 100));
            CHECK(is_rejected == one.contains("reason"));
            CHECK(is_rejected == one.contains("guess"));
            rejected += is_rejected ? 1 : 0;
        }
        CHECK(rejected >= before);
        before = rejected;
    }
    CHECK(before > 10);
    CHECK(digits.answers({"--reject", "auto", folder / ""}) ==
          digits.answers({"--reject", "0.8%", folder / ""}));
    for (const std::string wrong : {"0.5", "maybe", "-1%", "51%", "%", "x%", "nan%", ""})
        check_usage_error({"classify", "a.png", "--reject", wrong});
}

TEST_CASE("the explanation of one picture also shows candidates before re-ranking and what moved") {
    const Digits digits;
    if (!has_opencv) return skip(no_opencv);
    const Folder folder;
    write(folder / "a.pgm", photo(digits, 3));
    const auto height = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"--reject", "off", folder / "a.pgm", "--explain", folder / "why.png"});
        REQUIRE(digits.classify(words).exit_code == 0);
        const std::string png = read_file(folder / "why.png");
        REQUIRE(png.starts_with("\x89PNG"));
        const auto byte = [&](std::size_t at) { return int{static_cast<unsigned char>(png[at])}; };
        return byte(20) << 24 | byte(21) << 16 | byte(22) << 8 | byte(23);
    };
    // Two rows more: candidates are 112 pixels high and images with lines 168, both with words.
    const int plain = height({"--rerank", "none"});
    for (const std::string name : {"both", "distortion", "cells"})
        CHECK(height({"--rerank", name}) > plain + 112 + 168);
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
