/// Photo-like pages: ruled and squared paper, shadows, blackboards; very large and very small.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "data/picture/digit_image.h"
#include "tests/support/drawn.h"

using namespace knn::test;
using knn::DigitImage;

namespace {

DigitImage digit_of(const cv::Mat& page) {
    DigitImage image = knn::extract_digit(picture_of(page));
    CHECK(image.refused == "");
    return image;
}

/// The share of ink that matches a plain drawing of the same digit, allowing one pixel of shift, since both
/// are positioned by whole pixels.
double likeness(const DigitImage& image) {
    cv::Mat plain(160, 120, CV_8U, cv::Scalar(255));
    draw_four(plain, {30, 30}, 9, 0);
    DigitImage expected = knn::extract_digit(picture_of(plain));
    const cv::Mat right(28, 28, CV_8U, expected.pixels.data());
    const cv::Mat found(28, 28, CV_8U, const_cast<std::uint8_t*>(image.pixels.data()));
    double best = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            const cv::Mat moved = found(cv::Rect(1 + dx, 1 + dy, 26, 26)),
                          same = right(cv::Rect(1, 1, 26, 26));
            best = std::max(best, cv::sum(cv::min(moved, same))[0] / cv::sum(cv::max(moved, same))[0]);
        }
    return best;
}

void rule(cv::Mat& page, int pitch, int width, int value, bool squares) {
    for (int y = pitch / 2; y < page.rows; y += pitch)
        cv::line(page, {0, y}, {page.cols - 1, y + 6}, value, width);
    for (int x = pitch / 2; squares && x < page.cols; x += pitch)
        cv::line(page, {x, 0}, {x - 6, page.rows - 1}, value, width);
}

/// Darkens everything left of a line from x = `top` to x = `bottom`; `soft`: width of the shadow's edge.
void shade(cv::Mat& page, double share, int top, int bottom, double soft) {
    for (int y = 0; y < page.rows; ++y)
        for (int x = 0; x < page.cols; ++x) {
            const double edge = top + double(bottom - top) * y / page.rows;
            const double light = 1 - share / (1 + std::exp((x - edge) / soft));
            page.at<std::uint8_t>(y, x) = static_cast<std::uint8_t>(light * page.at<std::uint8_t>(y, x));
        }
}

}  // namespace

TEST_CASE("digit image: shadow, ruled lines and specks are left out") {
    cv::Mat page(900, 700, CV_8U, cv::Scalar(230));
    for (int y = 30; y < 900; y += 60)
        cv::line(page, {0, y}, {699, y + 6}, 150, 2);
    draw_four(page, {300, 400}, 9, 30);
    for (int i = 0; i < 40; ++i)
        cv::circle(page, {17 * i, (613 * i) % 900}, 1, 90, cv::FILLED);
    page.colRange(0, 200) *= 0.6;
    const DigitImage image = digit_of(page);
    CHECK(near(image.box, 295, 395, 70, 110, 6));
    CHECK(likeness(image) > 0.8);
}

TEST_CASE("digit image: squared paper, fine and wide, with a shadow and without") {
    for (const int pitch : {25, 40, 70})
        for (const double share : {0.0, 0.4}) {
            CAPTURE(pitch);
            CAPTURE(share);
            cv::Mat page(900, 700, CV_8U, cv::Scalar(225));
            rule(page, pitch, 2, 165, true);
            draw_four(page, {250, 300}, 18, 40, 2);
            shade(page, share, 100, 500, 2);
            const DigitImage image = digit_of(page);
            CHECK(near(image.box, 241, 291, 138, 218, 10));
            CHECK(likeness(image) > 0.8);
        }
}

TEST_CASE("digit image: chalk on an uneven blackboard") {
    cv::Mat board(900, 1200, CV_8U), chalk(900, 1200, CV_8U, cv::Scalar(0)), grain(900, 1200, CV_8U);
    for (int y = 0; y < board.rows; ++y)
        for (int x = 0; x < board.cols; ++x)
            board.at<std::uint8_t>(y, x) =
                static_cast<std::uint8_t>(50 + 25 * std::sin(x / 300.0) + 15 * std::sin(y / 200.0));
    draw_four(chalk, {450, 250}, 24, 200, 4);
    cv::RNG random(4);
    random.fill(grain, cv::RNG::UNIFORM, 130, 255);
    cv::multiply(chalk, grain, chalk, 1 / 255.0);
    cv::Mat photo = cv::max(board, chalk), noise(photo.size(), CV_32F);
    random.fill(noise, cv::RNG::NORMAL, 0, 6);
    photo.convertTo(photo, CV_32F);
    photo += noise;
    photo.convertTo(photo, CV_8U);
    const DigitImage image = digit_of(photo);
    CHECK(near(image.box, 438, 238, 264, 424, 12));
    CHECK(likeness(image) > 0.75);
}

TEST_CASE("digit image: 12 megapixels with two shadows, one of them through the digit") {
    for (const double soft : {2.0, 150.0}) {
        CAPTURE(soft);
        cv::Mat page(4000, 3000, CV_8U, cv::Scalar(225));
        draw_four(page, {1200, 1300}, 90, 40, 10);
        shade(page, 0.45, 1200, 1700, soft);
        shade(page, 0.4, 2900, 2000, soft);
        const DigitImage image = digit_of(page);
        CHECK(near(image.box, 1155, 1255, 690, 1090, 30));
        CHECK(likeness(image) > 0.8);
    }
}

TEST_CASE("digit image: 12x12 pixels, dark on light and light on dark") {
    cv::Mat page(120, 120, CV_8U, cv::Scalar(255)), tiny;
    draw_four(page, {30, 10}, 12, 0);
    cv::resize(page, tiny, {12, 12}, 0, 0, cv::INTER_AREA);
    CHECK(likeness(digit_of(tiny)) > 0.6);
    CHECK(likeness(digit_of(255 - tiny)) > 0.6);
}

TEST_CASE("digit image: a digit that touches the border of its picture, or all four") {
    cv::Mat page(300, 260, CV_8U, cv::Scalar(220));
    draw_four(page, {70, 50}, 18, 30, 2);  // its ink: x 61 to 199, y 41 to 259
    for (const cv::Rect& part :
         {cv::Rect(61, 0, 199, 300), cv::Rect(0, 41, 260, 259), cv::Rect(0, 0, 199, 300),
          cv::Rect(0, 0, 260, 259), cv::Rect(61, 41, 199, 259), cv::Rect(61, 41, 138, 218)}) {
        CAPTURE(part.x);
        CAPTURE(part.y);
        CHECK(likeness(digit_of(page(part).clone())) > 0.8);
        CHECK(likeness(digit_of(255 - page(part))) > 0.8);
    }
}

TEST_CASE("digit image: a table's edge along the border is no digit, and the words say so") {
    cv::Mat page(400, 600, CV_8U, cv::Scalar(210));
    page.rowRange(380, 400).setTo(40);
    CHECK(knn::extract_digit(picture_of(page)).refused ==
          "all ink lies along the picture's border: a digit needs paper around it");
}

TEST_CASE("digit image: pictures a few pixels wide are scaled to one pixel at least") {
    for (const auto& [rows, cols] : {std::pair{5000, 1}, {1, 5000}, {3, 20'000}, {4799, 2}, {1, 1}, {3, 3}}) {
        cv::Mat page(rows, cols, CV_8U);
        cv::RNG random(3);
        random.fill(page, cv::RNG::UNIFORM, 0, 256);
        CHECK_NOTHROW(knn::extract_digits(picture_of(page)));
        CHECK_NOTHROW(knn::extract_digit(picture_of(page)));
    }
}

TEST_CASE("digit image: several digits on ruled paper with a shadow, in reading order") {
    cv::Mat page(700, 900, CV_8U, cv::Scalar(225));
    rule(page, 55, 2, 165, false);
    const int x[] = {100, 350, 600, 120, 500}, y[] = {100, 70, 80, 400, 420};
    for (const int i : {3, 0, 4, 2, 1})
        draw_four(page, {x[i], y[i]}, 9, 40);
    shade(page, 0.4, 250, 480, 3);
    const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
    REQUIRE(images.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CAPTURE(i);
        CHECK(near(images[i].box, x[i] - 5, y[i] - 5, 70, 110, 6));
        CHECK(likeness(images[i]) > 0.75);
    }
}
