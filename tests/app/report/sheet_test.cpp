#include "app/report/sheet.h"

#include <doctest/doctest.h>

#include <numeric>

#include "app/view/scene.h"
#include "data/core/errors.h"
#include "tests/support/build.h"
#include "tests/support/png.h"
#include "tests/support/sample_evaluation.h"
#include "tests/support/skip.h"

using namespace knn;

namespace {

Gallery first_images(std::int64_t count) {
    Gallery gallery{std::vector<std::int64_t>(static_cast<std::size_t>(count)), "Some digits"};
    std::iota(gallery.images.begin(), gallery.images.end(), 0);
    return gallery;
}

/// Black pixels: on a sheet only the background of digits is black.
int black_pixels(const test::Png& png) {
    int count = 0;
    for (int row = 0; row < png.height; ++row)
        for (int col = 0; col < png.width; ++col)
            count += png.at(row, col, 0) + png.at(row, col, 1) + png.at(row, col, 2) < 30;
    return count;
}

/// All images black, so that their area can be counted.
test::Sample blank_sample() {
    test::Sample sample = test::sample_evaluation();
    std::fill_n(sample.data->test.pixels.data(), sample.data->test.pixels.size(), std::uint8_t{0});
    return sample;
}

}  // namespace

TEST_CASE("a sheet shows each digit of its page once") {
    if (!test::has_opencv) return test::skip(test::no_opencv);
    const test::Sample sample = blank_sample();
    CHECK(sheet_pages(0) == 1);
    CHECK(sheet_pages(168) == 1);
    CHECK(sheet_pages(169) == 2);
    constexpr int tile = 84 * 84;
    for (const std::int64_t count : {1, 5, 14, 15, 168}) {
        const auto png = test::read_png(sheet_png(sample.evaluation, first_images(count), 0));
        CHECK(black_pixels(png) == doctest::Approx(tile * double(count)).epsilon(0.001));
        CHECK(png.width <= 1500);
        CHECK(png.height <= 1800);
    }
    const auto rest = test::read_png(sheet_png(sample.evaluation, first_images(170), 1));
    CHECK(black_pixels(rest) == doctest::Approx(tile * 2).epsilon(0.001));
    CHECK(black_pixels(test::read_png(sheet_png(sample.evaluation, {{}, "None"}, 0))) == 0);
}

TEST_CASE("a sheet takes any title and images of any size") {
    if (!test::has_opencv) return test::skip(test::no_opencv);
    test::SampleOptions options;
    for (const auto& [rows, cols] : {std::pair(1, 1), {1, 200}, {300, 2}, {100, 120}}) {
        options.rows = rows;
        options.cols = cols;
        const test::Sample sample = test::sample_evaluation(options);
        Gallery gallery = first_images(20);
        gallery.title = std::string(3000, 'W') + "\xff\n";
        CHECK(test::read_png(sheet_png(sample.evaluation, gallery, 0)).width <= 1500);
        const Viewer viewer(sample.evaluation, gallery.images);
        CHECK(test::read_png(scene_png(sample.evaluation, viewer)).width == 1000);
    }
}

TEST_CASE("the window's picture changes with what it shows") {
    if (!test::has_opencv) {
        const test::Sample sample = test::sample_evaluation();
        CHECK_THROWS_AS(draw_scene(sample.evaluation, {sample.evaluation, {1}}), DataError);
        return;
    }
    for (const int k : {1, 5, 10, 64}) {
        test::SampleOptions options;
        options.k = k;
        const test::Sample sample = test::sample_evaluation(options);
        Viewer viewer(sample.evaluation, {3, 8, 13});
        const Frame first = draw_scene(sample.evaluation, viewer);
        CHECK(first.bgr.size() == static_cast<std::size_t>(first.rows * first.cols * 3));
        const auto kept = scene_png(sample.evaluation, viewer);
        viewer.press('h');
        CHECK(draw_scene(sample.evaluation, viewer).bgr != first.bgr);
        CHECK(scene_png(sample.evaluation, viewer) == kept);  // what is saved has no help in it
        viewer.press('h');
        CHECK(draw_scene(sample.evaluation, viewer).bgr == first.bgr);
        viewer.press('n');
        CHECK(draw_scene(sample.evaluation, viewer).bgr != first.bgr);
        CHECK(scene_png(sample.evaluation, viewer) != kept);
    }
}
