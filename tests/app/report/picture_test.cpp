#include "app/report/picture.h"

#include <doctest/doctest.h>

#include <string>

#include "data/core/errors.h"
#include "tests/support/build.h"
#include "tests/support/png.h"
#include "tests/support/sample_evaluation.h"
#include "tests/support/skip.h"

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

}  // namespace

TEST_CASE("pictures are available where the build has OpenCV") {
    CHECK(pictures_available() == test::has_opencv);
}

TEST_CASE("a build without OpenCV says so") {
    if (test::has_opencv) return test::skip("this build has OpenCV");
    CHECK_THROWS_AS(confusion_png(test::sample_evaluation().evaluation), DataError);
}

TEST_CASE("confusion.png has a bounded size and both hues for any number of classes") {
    if (!test::has_opencv) return test::skip(test::no_opencv);
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
    if (!test::has_opencv) return test::skip(test::no_opencv);
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

TEST_CASE("confusion.png takes any name and an empty result") {
    if (!test::has_opencv) return test::skip(test::no_opencv);
    test::Sample sample = test::sample_evaluation();
    sample.data->name = std::string(5000, 'x') + "\xff\n\t\x01 \xc3\xbc";
    CHECK(test::read_png(confusion_png(sample.evaluation)).width <= 1024);
    sample.data->name.clear();
    sample.evaluation.score = {};
    CHECK(test::read_png(confusion_png(sample.evaluation)).width <= 1024);
}
