
#include "app/report/canvas.h"
#include "app/report/page.h"
#include "app/view/shown_window.h"
#include "tests/support/oracle.h"
#include "tests/support/png.h"
#include "tests/support/sample_evaluation.h"
#include "tests/support/test.h"

using namespace knn;

namespace {

/// Pixels that are clearly more blue than red (right), and more red than blue (wrong).
struct Hues {
    int blue = 0, orange = 0;
};
Hues hues(const test::Png& png) {
    Hues found;
    for (int row = 0; row < png.height; ++row)
        for (int col = 0; col < png.width - 120; ++col) {  // without the scales on the right
            const int excess = png.at(row, col, 0) - png.at(row, col, 2);
            found.blue += excess < -50;
            found.orange += excess > 50;
        }
    return found;
}

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

TEST_CASE("a PNG keeps every pixel and the order of the colors") {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 300}, {300, 1}, {28, 28}, {257, 63}})
        for (const int channels : {1, 3}) {
            const auto pixels = test::random_rows(rows, cols * channels, 7).pixels;
            const test::Png png = test::read_png(encode_png(pixels.data(), rows, cols, channels));
            CHECK(png.height == rows);
            CHECK(png.width == cols);
            CHECK(png.channels == channels);
            CHECK(png.pixels == pixels);
        }
}

TEST_CASE("confusion.png has a bounded size and both hues for any number of classes") {
    for (const int classes : {2, 3, 10, 26, 47, 100, 256}) {
        CAPTURE(classes);
        test::SampleOptions options;
        options.classes = classes;
        options.n_train = options.n_test = 6 * classes;
        const test::Sample sample = test::sample_evaluation(options);
        const test::Png png = test::read_png(confusion_png(sample.evaluation));
        CHECK(png.width >= 400);
        CHECK(png.width <= 1024);
        CHECK(png.height >= 400);
        CHECK(png.height <= 1024);
        CHECK(hues(png).blue > 500);
        CHECK(hues(png).orange > 50);
    }
}

TEST_CASE("confusion.png shows the matrix") {
    test::Sample sample = test::sample_evaluation();
    const auto before = test::read_png(confusion_png(sample.evaluation));
    CHECK(test::read_png(confusion_png(sample.evaluation)).pixels == before.pixels);

    auto& confusion = sample.evaluation.score.confusion;
    const auto kept = confusion;
    REQUIRE(confusion[2][9] == 0);
    confusion[2][9] = 1;
    const auto one_more = test::read_png(confusion_png(sample.evaluation));
    CHECK(one_more.pixels != before.pixels);
    CHECK(hues(one_more).orange > hues(before).orange + 1000);  // a cell is about 66 × 66 pixels

    confusion = kept;
    for (std::size_t row = 0; row < confusion.size(); ++row)
        for (std::size_t column = 0; column < confusion.size(); ++column)
            if (row != column) confusion[row][column] = 0;
    CHECK(hues(test::read_png(confusion_png(sample.evaluation))).orange == 0);
}

TEST_CASE("confusion.png and a sheet name the method, and of how many images they are") {
    test::Sample sample = test::sample_evaluation();
    Evaluation& evaluation = sample.evaluation;
    CHECK(confusion_words(evaluation)[2] == "method raw, k = 5, 300 training images, a made-up processor");
    evaluation.n_train = 200;
    evaluation.n_test = 20;
    CHECK(confusion_words(evaluation)[2] ==
          "method raw, k = 5, 200 of 300 training images, 20 of 400 test images, a made-up processor");
    evaluation.pictures.resize(20);
    evaluation.n_named = 40;
    CHECK(confusion_words(evaluation)[2] ==
          "method raw, k = 5, 200 of 300 training images, 20 of 40 pictures, a made-up processor");
    CHECK(test::contains(confusion_words(evaluation)[1], " pictures right"));

    Gallery gallery = first_images(20);
    CHECK(sheet_of(evaluation, gallery, 0).words.starts_with("20 digits, method raw, k = 5, accuracy "));
    CHECK(sheet_of(evaluation, gallery, 0).legend == "true label, predicted label, index, confidence");
    gallery.found = 40;
    CHECK(sheet_of(evaluation, gallery, 0).words.starts_with("20 of 40 digits, method raw, "));
    gallery.found = 400;
    gallery.images.resize(170);
    CHECK(sheet_of(evaluation, gallery, 1).words.starts_with("page 2 of 2, 170 of 400 digits, method raw, "));
}

TEST_CASE("confusion.png takes any name and an empty result") {
    test::Sample sample = test::sample_evaluation();
    sample.data->name = std::string(5000, 'x') + "\xff\n\t\x01 \xc3\xbc";
    CHECK(test::read_png(confusion_png(sample.evaluation)).width <= 1024);
    sample.data->name.clear();
    sample.evaluation.score = {};
    CHECK(test::read_png(confusion_png(sample.evaluation)).width <= 1024);
}

TEST_CASE("names of a million letters are shortened, as those of a hundred are") {
    const std::string short_name(100, 'x'), name(1'000'000, 'x');
    CHECK(shortened(name, 10, 200) == shortened(short_name, 10, 200));
    CHECK(shortened(name, 10, 200).size() > 10);
    CHECK(Canvas::width_of(shortened(name, 10, 200), 10) <= 200);
    CHECK(Canvas::width_of(shortened(name, 10, 200) + "x", 10) > 200);
    CHECK(shortened(name, 10, 1) == "...");
}

TEST_CASE("a sheet shows each digit of its page once") {
    const test::Sample sample = blank_sample();
    CHECK(sheet_pages(0) == 1);
    CHECK(sheet_pages(168) == 1);
    CHECK(sheet_pages(169) == 2);
    constexpr int tile = 84 * 84;
    for (const std::int64_t count : {1, 5, 14, 15, 168}) {
        const auto png = test::read_png(sheet_png(sheet_of(sample.evaluation, first_images(count), 0)));
        CHECK(black_pixels(png) == doctest::Approx(tile * double(count)).epsilon(0.001));
        CHECK(png.width <= 1500);
        CHECK(png.height <= 1800);
    }
    const auto rest = test::read_png(sheet_png(sheet_of(sample.evaluation, first_images(170), 1)));
    CHECK(black_pixels(rest) == doctest::Approx(tile * 2).epsilon(0.001));
    CHECK(black_pixels(test::read_png(sheet_png(sheet_of(sample.evaluation, {{}, "None"}, 0)))) == 0);
}

TEST_CASE("sheets and the window show names of classes, within their space") {
    const auto drawn = [](const std::vector<std::string>& names) {
        const test::Sample sample = test::sample_evaluation({.names = names});
        const Gallery gallery = first_images(20);
        return std::pair(sheet_png(sheet_of(sample.evaluation, gallery, 0)),
                         scene_png(sample.evaluation, Viewer(sample.evaluation, gallery.images)));
    };
    std::vector<std::string> names, long_names;
    for (int label = 0; label < 10; ++label) {
        names.push_back(std::to_string(label));
        long_names.push_back(std::string(1'000'000, 'W') + std::to_string(label));
    }
    for (const auto& some : {names, long_names}) {
        const auto png = test::read_png(confusion_png(test::sample_evaluation({.names = some}).evaluation));
        CHECK(png.width <= 1100);
        CHECK(png.height <= 1100);
    }
    const auto [sheet, scene] = drawn({});
    CHECK(drawn(names).first == sheet);
    const auto [long_sheet, long_scene] = drawn(long_names);
    CHECK(long_sheet != sheet);
    CHECK(long_scene != scene);
    CHECK(test::read_png(long_sheet).width == test::read_png(sheet).width);
    CHECK(test::read_png(long_scene).width == 1000);
}

TEST_CASE("a sheet is as wide as its legend, which is never cut") {
    const test::Sample sample = blank_sample();
    const auto width_with = [&](const std::string& legend) {
        return test::read_png(sheet_png(Sheet{.title = "t",
                                              .words = "",
                                              .legend = legend,
                                              .data = *sample.data,
                                              .images = sample.data->test}))
            .width;
    };
    const int usual = width_with("label");
    CHECK(width_with("label, what the neighbors suggest, index, probability that the label is wrong") ==
          usual);
    CHECK(width_with(std::string(400, 'W')) > 3 * usual);
}

TEST_CASE("a sheet takes any title and images of any size") {
    test::SampleOptions options;
    for (const auto& [rows, cols] : {std::pair(1, 1), {1, 200}, {300, 2}, {100, 120}}) {
        options.rows = rows;
        options.cols = cols;
        const test::Sample sample = test::sample_evaluation(options);
        Gallery gallery = first_images(20);
        gallery.title.assign(3000, 'W');
        gallery.title += "\xff\n";
        CHECK(test::read_png(sheet_png(sheet_of(sample.evaluation, gallery, 0))).width <= 1500);
        const Viewer viewer(sample.evaluation, gallery.images);
        CHECK(test::read_png(scene_png(sample.evaluation, viewer)).width == 1000);
    }
}

TEST_CASE("a confidence that is nearly 100 % fits in the window") {
    test::Sample sample = test::sample_evaluation();
    std::ranges::fill(sample.evaluation.confidence, 0.99999);
    const auto png = test::read_png(scene_png(sample.evaluation, Viewer(sample.evaluation, {3})));
    for (int row = 0; row < png.height; ++row)
        REQUIRE(png.at(row, png.width - 1) == 255);
}

TEST_CASE("the window of draw shows what a rejected digit would be") {
    Answer answer;
    answer.reason = "near more than one class";
    const auto shown = [&](std::optional<int> guess) {
        answer.guess = guess;
        answer.confidence = 0.62;
        return draw_pad({}, answer, {}, "").bgr;
    };
    CHECK(shown(1) != shown({}));
    CHECK(shown(1) != shown(2));
}

TEST_CASE("the window's picture changes with what it shows") {
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
