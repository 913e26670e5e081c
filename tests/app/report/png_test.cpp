#include "app/report/png.h"

#include <doctest/doctest.h>

#include <utility>

#include "tests/support/oracle.h"
#include "tests/support/png.h"

using namespace knn;

TEST_CASE("gray_png keeps every pixel") {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 300}, {300, 1}, {28, 28}, {257, 63}}) {
        const auto pixels = test::random_rows(rows, cols, 7).pixels;
        const test::Png png = test::read_png(gray_png(pixels.data(), rows, cols));
        CHECK(png.height == rows);
        CHECK(png.width == cols);
        CHECK(png.channels == 1);
        CHECK(png.pixels == pixels);
    }
}

TEST_CASE("rgb_png keeps every pixel and the order of the colors") {
    const auto pixels = test::random_rows(31, 17 * 3, 7).pixels;
    const test::Png png = test::read_png(rgb_png(pixels.data(), 31, 17));
    CHECK(png.height == 31);
    CHECK(png.width == 17);
    CHECK(png.channels == 3);
    CHECK(png.pixels == pixels);
}
