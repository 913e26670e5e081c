#include "data/picture/digit_image.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "data/core/dataset.h"
#include "data/set/locate.h"
#include "tests/support/drawn.h"
#include "tests/support/skip.h"

using namespace knn::test;
using knn::DigitImage;
using knn::Picture;

namespace {

knn::Dataset mnist() {
    knn::DataOptions options;
    options.folder = mnist_folder();
    return knn::load(knn::locate(options));
}

}  // namespace

TEST_CASE("digit image: OpenCV throws std::bad_alloc where memory is short") {
    knn::make_opencv_throw_bad_alloc();
    CHECK_THROWS_AS(CV_Error(cv::Error::StsNoMem, "none"), std::bad_alloc);
    CHECK_THROWS_AS(CV_Error(cv::Error::StsError, "other"), cv::Exception);
    cv::redirectError(nullptr);
}

TEST_CASE("digit image: MNIST-like pixels are kept, negatives inverted") {
    if (mnist_folder().empty()) return skip("MNIST was not found: set MNIST_KNN_DATA");
    const knn::Dataset data = mnist();
    int same = 0, negative = 0;
    for (std::int64_t i = 0; i < data.test.count; ++i) {
        const std::uint8_t* pixels = data.test.images().row(i);
        Picture picture{28, 28, std::vector<std::uint8_t>(pixels, pixels + 784)};
        const DigitImage image = knn::extract_digit(picture);
        same += std::equal(pixels, pixels + 784, image.pixels.begin()) && !image.smaller;
        for (std::uint8_t& value : picture.gray)
            value = static_cast<std::uint8_t>(255 - value);
        negative += std::equal(pixels, pixels + 784, knn::extract_digit(picture).pixels.begin());
    }
    CHECK(same == data.test.count);
    CHECK(negative == data.test.count);
}

TEST_CASE("digit image: how far from MNIST's size, middle and ink a picture is taken as it is") {
    // A bar on 28x28 pixels; what is taken as it is has the whole picture as its box.
    const auto is_taken = [](int x, int y, int height, int value) {
        cv::Mat picture(28, 28, CV_8U, cv::Scalar(0));
        picture(cv::Rect(x, y, 4, height)).setTo(value);
        return knn::extract_digit(picture_of(picture)).box.w == 28;
    };
    CHECK(is_taken(12, 5, 18, 255));
    CHECK(is_taken(13, 5, 18, 200));  // its middle is 0.75 pixels from MNIST's
    CHECK(!is_taken(14, 5, 18, 255));
    CHECK(!is_taken(12, 7, 18, 255));
    CHECK(is_taken(12, 4, 20, 255));
    CHECK(!is_taken(12, 3, 21, 255));
    CHECK(is_taken(12, 6, 16, 255));
    CHECK(!is_taken(12, 6, 15, 255));
    CHECK(!is_taken(12, 5, 18, 199));
}

TEST_CASE("digit image: the box, the 20x20 pixels and the center of mass") {
    for (const bool light : {false, true}) {
        cv::Mat page(600, 800, CV_8U, cv::Scalar(light ? 40 : 220));
        draw_four(page, {500, 300}, 9, light ? 210 : 50);
        const DigitImage image = knn::extract_digit(picture_of(page));
        CHECK(image.refused.empty());
        CHECK(near(image.box, 495, 295, 70, 110, 4));
        CHECK(*std::max_element(image.pixels.begin(), image.pixels.end()) == 255);
        const cv::Mat pixels(28, 28, CV_8U, const_cast<std::uint8_t*>(image.pixels.data()));
        CHECK(cv::boundingRect(pixels).height == 20);
        const cv::Moments moments = cv::moments(pixels);
        CHECK(std::abs(moments.m10 / moments.m00 - 14) <= 0.51);
        CHECK(std::abs(moments.m01 / moments.m00 - 14) <= 0.51);
        REQUIRE(image.smaller.has_value());
        const cv::Mat smaller(28, 28, CV_8U, const_cast<std::uint8_t*>(image.smaller->data()));
        CHECK(cv::boundingRect(smaller).height == 19);
    }
}

TEST_CASE("digit image: the box leaves out marks much darker or fainter than the digit") {
    const auto box_beside = [](int mark) {
        cv::Mat page(600, 800, CV_8U, cv::Scalar(220));
        draw_four(page, {500, 300}, 9, 150);
        page(cv::Rect(575, 330, 9, 30)).setTo(mark);
        return knn::extract_digit(picture_of(page)).box;
    };
    CHECK(near(box_beside(150), 495, 295, 89, 110, 4));  // a piece of the digit
    CHECK(near(box_beside(20), 495, 295, 70, 110, 4));
    CHECK(near(box_beside(205), 495, 295, 70, 110, 4));
}

TEST_CASE("digit image: thin straight strokes that span the picture stay, a frame and a line across it go") {
    using Strokes = std::vector<std::vector<cv::Point>>;
    const Strokes seven = {{{8, 8}, {192, 8}, {90, 192}}}, one = {{{100, 8}, {100, 192}}},
                  four = {{{30, 8}, {20, 120}, {192, 120}}, {{150, 8}, {150, 192}}},
                  frame = {{{8, 8}, {192, 8}, {192, 192}, {8, 192}, {8, 8}}}, line = {{{0, 175}, {199, 175}}};
    const auto box_of = [](const Strokes& strokes, bool with_four) {
        cv::Mat page(200, 200, CV_8U, cv::Scalar(230));
        cv::polylines(page, strokes, false, 30, 1, cv::LINE_AA);
        if (with_four) draw_four(page, {70, 50}, 5, 30);
        const DigitImage image = knn::extract_digit(picture_of(page));
        CHECK(image.refused.empty());
        return image.box;
    };
    CHECK(near(box_of(seven, false), 8, 8, 184, 184, 4));
    CHECK(near(box_of(one, false), 99, 8, 3, 184, 4));
    CHECK(near(box_of(four, false), 20, 8, 172, 184, 4));
    CHECK(near(box_of(frame, true), 68, 48, 66, 106, 4));
    CHECK(near(box_of(line, true), 68, 48, 66, 106, 4));
}

TEST_CASE("digit image: the box of a page that was made smaller holds the ink") {
    for (int shift = 0; shift < 6; ++shift) {
        cv::Mat page(1500, 1500, CV_8U, cv::Scalar(230));
        const cv::Rect ink(600 + shift, 500 + shift, 60, 400);
        page(ink).setTo(30);
        const knn::Box box = knn::extract_digit(picture_of(page)).box;
        CAPTURE(shift);
        CHECK((cv::Rect(box.x, box.y, box.w, box.h) & ink) == ink);
        CHECK(near(box, ink.x, ink.y, ink.width, ink.height, 2));
    }
}

TEST_CASE("digit image: pages without a digit are refused in words") {
    cv::Mat page(400, 300, CV_8U, cv::Scalar(200));
    CHECK(knn::extract_digit(picture_of(page)).refused.starts_with("no ink found: the "));
    for (const int value : {0, 255}) {
        page.setTo(value);
        CHECK(knn::extract_digit(picture_of(page)).refused.starts_with("no ink found: the "));
    }
    cv::RNG(3).fill(page, cv::RNG::UNIFORM, 0, 255);
    CHECK_FALSE(knn::extract_digit(picture_of(page)).refused.empty());
}

// Lines of text so near that their letters are joined are one mark, and left to the classifier's rejection.
TEST_CASE("digit image: a page full of text is refused in words" * doctest::should_fail()) {
    cv::Mat text(800, 800, CV_8U, cv::Scalar(240));
    for (int row = 1; row < 20; ++row)
        cv::putText(text, "many words on one page", {20, 40 * row}, cv::FONT_HERSHEY_SIMPLEX, 1, 20, 2);
    CHECK_FALSE(knn::extract_digit(picture_of(text)).refused.empty());
}

TEST_CASE("digit images: several digits in reading order") {
    cv::Mat page(700, 900, CV_8U, cv::Scalar(225));
    for (const cv::Point at : {cv::Point(600, 80), {100, 100}, {350, 70}, {120, 400}, {500, 420}})
        draw_four(page, at, 9, 40);
    const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
    REQUIRE(images.size() == 5);
    const int x[] = {100, 350, 600, 120, 500}, y[] = {100, 70, 80, 400, 420};
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(near(images[i].box, x[i] - 5, y[i] - 5, 70, 110, 4));
    page.setTo(225);
    CHECK(knn::extract_digits(picture_of(page)).empty());
}
