#include "data/picture/digit_image.h"

#include <ctime>
#include <opencv2/imgproc.hpp>

#include "data/core/errors.h"
#include "data/file/transfer.h"
#include "data/picture/digit_image_steps.h"
#include "tests/support/drawn.h"
#include "tests/support/mnist.h"
#include "tests/support/test.h"

using namespace knn::test;
using knn::DigitImage;
using knn::Picture;

TEST_CASE("digit image: OpenCV throws std::bad_alloc where memory is short") {
    knn::set_up_opencv();
    CHECK_THROWS_AS(CV_Error(cv::Error::StsNoMem, "none"), std::bad_alloc);
    CHECK_THROWS_AS(CV_Error(cv::Error::StsError, "other"), cv::Exception);
    cv::redirectError(nullptr);
}

TEST_CASE("digit image: marks that would take too long are refused, and loops over marks can be stopped") {
    knn::digit::Ink ink;
    ink.amount = cv::Mat::zeros(1600, 1600, CV_32F);
    for (int y = 0; y + 3 < 1600; y += 6)
        for (int x = 0; x + 3 < 1600; x += 6)
            ink.amount(cv::Rect(x, y, 3, 3)).setTo(1);
    CHECK_THROWS_WITH_AS(knn::digit::find_parts(ink), "has more than 50,000 marks; expected digits on paper",
                         knn::DataError);
    ink.amount = cv::Mat::zeros(1000, 1000, CV_32F);
    for (int at = 0; at < 500; at += 5)
        cv::rectangle(ink.amount, cv::Rect(at, at, 1000 - 2 * at, 1000 - 2 * at), cv::Scalar(1), 2);
    CHECK_THROWS_WITH_AS(knn::digit::find_parts(ink),
                         "has too many marks within one another; expected digits on paper", knn::DataError);

    static std::atomic<bool> stop;  // transfers may ask for it until the process ends
    knn::stop_transfers_on(stop);
    cv::Mat page(300, 300, CV_8U, cv::Scalar(255));
    page(cv::Rect(140, 100, 12, 90)).setTo(0);
    CHECK_NOTHROW(knn::extract_digits(picture_of(page)));
    stop = true;
    CHECK_THROWS_AS(knn::extract_digit(picture_of(page)), knn::Interrupted);
    CHECK_THROWS_AS(knn::extract_digits(picture_of(page)), knn::Interrupted);
    stop = false;
}

TEST_CASE("digit image: ink that is too wide for a few digits that touch is not cut") {
    const auto cuts = [](int width) {  // of a zigzag line on a page, about 34 pixels high
        cv::Mat page(300, 1200, CV_8U, cv::Scalar(255));
        for (int x = 20; x < 20 + width; x += 30) {
            cv::line(page, {x, 140}, {x + 15, 170}, 0, 4);
            cv::line(page, {x + 15, 170}, {x + 30, 140}, 0, 4);
        }
        const std::vector<DigitImage> digits = knn::extract_digits(picture_of(page));
        REQUIRE(digits.size() == 1);
        return digits[0].hypotheses.size();
    };
    CHECK(cuts(240) > 0);
    CHECK(cuts(1140) == 0);
}

TEST_CASE("digit image: MNIST-like pixels are kept, negatives inverted") {
    if (mnist_folder().empty()) return skip(no_mnist);
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
    // A bar on 28x28 pixels; what is taken as it is has no hypothesis of another size.
    const auto is_taken = [](int x, int y, int height, int value) {
        cv::Mat picture(28, 28, CV_8U, cv::Scalar(0));
        picture(cv::Rect(x, y, 4, height)).setTo(value);
        const DigitImage image = knn::extract_digit(picture_of(picture));
        CHECK((image.smaller || image.box.h == height));
        return !image.smaller;
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

TEST_CASE("digit image: a mark of many holes takes about as long as one of few") {
    const auto seconds = [](int side) {
        knn::digit::Ink ink;
        ink.amount = cv::Mat::zeros(800, 800, CV_32F);
        for (int y = 0; y < 800; ++y)
            for (int x = 0; x < 800; ++x)
                ink.amount.at<float>(y, x) = (x / side + y / side) % 2 == 0 ? 1 : 0;
        const std::clock_t start = std::clock();
        CHECK_NOTHROW(knn::digit::find_parts(ink));
        return double(std::clock() - start) / CLOCKS_PER_SEC;
    };
    const double few = seconds(8);
    CHECK(seconds(1) < 5 * few);
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
    CHECK(knn::extract_digit(picture_of(page)).refused == "no ink found");
    for (const int value : {0, 255}) {
        page.setTo(value);
        CHECK(knn::extract_digit(picture_of(page)).refused == "no ink found");
    }
    cv::RNG(3).fill(page, cv::RNG::UNIFORM, 0, 255);
    CHECK_FALSE(knn::extract_digit(picture_of(page)).refused.empty());
    page.setTo(210);
    page.rowRange(380, 400).setTo(40);  // a table's edge
    CHECK(knn::extract_digit(picture_of(page)).refused ==
          "all ink lies along the picture's border: a digit needs paper around it");
}

TEST_CASE("digit image: several digits, none of them dominant, are no digit") {
    const auto refused = [](std::initializer_list<std::pair<cv::Point, int>> fours) {
        cv::Mat page(400, 600, CV_8U, cv::Scalar(230));
        for (const auto& [at, zoom] : fours)
            draw_four(page, at, 6 * zoom, 40, zoom);
        return knn::extract_digit(picture_of(page)).refused;
    };
    const std::string several = "there are several digits in the picture: classify it as a page (many)";
    CHECK(refused({{{80, 100}, 2}}) == "");
    CHECK(refused({{{80, 100}, 2}, {{320, 100}, 2}}) == several);
    CHECK(refused({{{40, 150}, 1}, {{160, 150}, 1}, {{280, 150}, 1}, {{400, 150}, 1}}) == several);
    CHECK(refused({{{80, 40}, 3}, {{400, 200}, 1}}) == "");
    cv::Mat strip(200, 6000, CV_8U, cv::Scalar(230));
    draw_four(strip, {3000, 50}, 10, 40, 1);
    CHECK(knn::extract_digit(picture_of(strip)).refused ==
          "the ink is smaller than 2 % of the picture: classify it as a page (many)");
}

// Lines of text so near that their letters are joined are one mark, and left to the classifier's rejection.
TEST_CASE("digit image: a page full of text is refused in words" * doctest::should_fail()) {
    cv::Mat text(800, 800, CV_8U, cv::Scalar(240));
    for (int row = 1; row < 20; ++row)
        cv::putText(text, "many words on one page", {20, 40 * row}, cv::FONT_HERSHEY_SIMPLEX, 1, 20, 2);
    CHECK_FALSE(knn::extract_digit(picture_of(text)).refused.empty());
}

// Photo-like pages: ruled and squared paper, shadows, blackboards; very large and very small.

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

/// A four with this box, give or take `by` pixels.
void check_four(const DigitImage& image, const cv::Rect& box, int by, double least_likeness) {
    CHECK(near(image.box, box.x, box.y, box.width, box.height, by));
    CHECK(likeness(image) > least_likeness);
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
    rule(page, 60, 2, 150, false);
    draw_four(page, {300, 400}, 9, 30);
    for (int i = 0; i < 40; ++i)
        cv::circle(page, {17 * i, (613 * i) % 900}, 1, 90, cv::FILLED);
    page.colRange(0, 200) *= 0.6;
    check_four(digit_of(page), {295, 395, 70, 110}, 6, 0.8);
}

// Chosen on 960 pictures of training images 59,000 to 59,239 on sheets of all sizes, upright and turned, on desks of 5 to 110 of 255.
TEST_CASE("digit image: what lies around a sheet of paper is left out") {
    struct Scene {
        int desk, paper, ink;
        cv::Rect sheet;
        double turn;
    };
    const cv::Rect inner(200, 100, 260, 300), corner(0, 0, 420, 400), wide(0, 100, 800, 300);
    for (const Scene& scene :
         {Scene{30, 225, 60, inner, 0}, Scene{30, 225, 60, inner, 7}, Scene{100, 200, 90, inner, -20},
          Scene{30, 225, 60, corner, 0}, Scene{60, 225, 60, wide, 0}, Scene{220, 50, 190, inner, 10}}) {
        CAPTURE(scene.desk);
        CAPTURE(scene.turn);
        cv::Mat page(600, 800, CV_8U, cv::Scalar(scene.desk));
        page(scene.sheet).setTo(scene.paper);
        const cv::Point middle = (scene.sheet.tl() + scene.sheet.br()) / 2;
        draw_four(page, middle - cv::Point(30, 50), 9, scene.ink);
        const cv::Mat turn = cv::getRotationMatrix2D(middle, scene.turn, 1);
        cv::warpAffine(page, page, turn, page.size(), cv::INTER_LINEAR, cv::BORDER_REPLICATE);
        cv::GaussianBlur(page, page, {}, 1.5);
        const DigitImage image = digit_of(page);
        CHECK(near(image.box, middle.x - 34, middle.y - 54, 68, 108, 20));
        if (scene.turn == 0) CHECK(likeness(image) > 0.7);
        const std::vector<DigitImage> many = knn::extract_digits(picture_of(page));
        REQUIRE(many.size() == 1);
        CHECK(near(many[0].box, middle.x - 34, middle.y - 54, 68, 108, 20));
        std::vector<knn::Step> steps;
        knn::extract_digit(picture_of(page), &steps);
        CHECK(steps[1].name == "sheet");
    }
}

TEST_CASE("digit image: a desk with a grain is left out, however light it is") {
    for (const int desk : {60, 110, 150}) {
        CAPTURE(desk);
        cv::Mat page(600, 800, CV_8U);
        for (int y = 0; y < page.rows; ++y)
            page.row(y).setTo(desk * (1 + 0.15 * std::sin(y / 5.0)));
        page(cv::Rect(200, 100, 260, 300)).setTo(230);
        draw_four(page, {300, 200}, 9, 60);
        check_four(digit_of(page), {295, 195, 70, 110}, 8, 0.8);
    }
}

TEST_CASE("digit image: a stroke is no sheet, and half a page in shadow is a page") {
    cv::Mat one(300, 300, CV_8U, cv::Scalar(20));
    one(cv::Rect(120, 50, 60, 200)).setTo(220);
    CHECK(near(digit_of(one).box, 120, 50, 60, 200, 4));
    cv::Mat page(300, 600, CV_8U, cv::Scalar(220));
    for (const int x : {60, 220, 380, 500})
        draw_four(page, {x, 100}, 8, 50);
    page.colRange(320, 600) *= 0.6;
    CHECK(knn::extract_digits(picture_of(page)).size() == 4);
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
            check_four(digit_of(page), {241, 291, 138, 218}, 10, 0.8);
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
    check_four(digit_of(photo), {438, 238, 264, 424}, 12, 0.75);
}

TEST_CASE("digit image: 12 megapixels with two shadows, one of them through the digit") {
    for (const double soft : {2.0, 150.0}) {
        CAPTURE(soft);
        cv::Mat page(4000, 3000, CV_8U, cv::Scalar(225));
        draw_four(page, {1200, 1300}, 90, 40, 10);
        shade(page, 0.45, 1200, 1700, soft);
        shade(page, 0.4, 2900, 2000, soft);
        check_four(digit_of(page), {1155, 1255, 690, 1090}, 30, 0.8);
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

TEST_CASE("digit image: rules along two borders, which a crop of a form has kept of its box, go") {
    for (const bool upright : {false, true})
        for (const int thick : {6, 22}) {
            CAPTURE(upright);
            CAPTURE(thick);
            constexpr int side = 200, paper = 6;
            cv::Mat page(side, side, CV_8U, cv::Scalar(230));
            for (const int first : {paper, side - paper - thick})
                page(upright ? cv::Rect(first, 0, thick, side) : cv::Rect(0, first, side, thick)).setTo(40);
            draw_four(page, {70, 45}, 9, 40);
            check_four(digit_of(page), {65, 40, 70, 110}, 6, 0.8);
        }
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

TEST_CASE("digit images: several digits in reading order, on plain paper and on ruled paper with a shadow") {
    const int x[] = {100, 350, 600, 120, 500}, y[] = {100, 70, 80, 400, 420};
    for (const bool ruled : {false, true}) {
        cv::Mat page(700, 900, CV_8U, cv::Scalar(225));
        if (ruled) rule(page, 55, 2, 165, false);
        for (const int i : {3, 0, 4, 2, 1})
            draw_four(page, {x[i], y[i]}, 9, 40);
        if (ruled) shade(page, 0.4, 250, 480, 3);
        const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
        REQUIRE(images.size() == 5);
        for (std::size_t i = 0; i < 5; ++i) {
            CAPTURE(i);
            check_four(images[i], {x[i] - 5, y[i] - 5, 70, 110}, ruled ? 6 : 4, 0.75);
        }
        page.setTo(225);
        CHECK(knn::extract_digits(picture_of(page)).empty());
    }
}

TEST_CASE("digit images: faint strokes of pencil in a table whose lines are darker stay") {
    cv::Mat page(800, 1000, CV_8U, cv::Scalar(235));
    rule(page, 200, 2, 15, true);
    for (int row = 0; row < 2; ++row)
        for (int i = 0; i < 3; ++i) {
            const cv::Rect upper(200 + 200 * i, 150 + 200 * row, 6, 50);
            page(upper).setTo(130);
            page(upper + cv::Point(0, 50)).setTo(180);
        }
    const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
    REQUIRE(images.size() == 6);
    for (const DigitImage& image : images)
        CHECK(image.box.h >= 97);
}

TEST_CASE("digit images: the lines of a table are no digits, also if its digits are a third of a cell") {
    for (const cv::Size& cells : {cv::Size(3, 1), cv::Size(9, 1), cv::Size(9, 2), cv::Size(9, 3)}) {
        const int rows = cells.height, columns = cells.width;
        CAPTURE(rows);
        CAPTURE(columns);
        cv::Mat page(240 + 60 * rows, 140 + 60 * columns, CV_8U, cv::Scalar(245));
        for (int row = 0; row <= rows; ++row)
            cv::line(page, {40, 100 + 60 * row}, {40 + 60 * columns, 100 + 60 * row}, 30, 3);
        for (int column = 0; column <= columns; ++column)
            cv::line(page, {40 + 60 * column, 100}, {40 + 60 * column, 100 + 60 * rows}, 30, 3);
        for (int row = 0; row < rows; ++row)
            for (int column = 0; column < columns; ++column) {
                const int x = 60 + 60 * column, y = 120 + 60 * row;
                page(cv::Rect(x, y, 4, 20)).setTo(20);
                page(cv::Rect(x, y + 16, 14, 4)).setTo(20);
            }
        const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
        REQUIRE(images.size() == static_cast<std::size_t>(rows * columns));
        for (const DigitImage& image : images)
            CHECK(std::abs(image.box.h - 20) <= 2);
    }
}

// Chosen on 240 pictures of one training image in a box, turned by up to 10 degrees, and 330 of rows of boxes and of cells.
TEST_CASE("digit images: boxes around digits and rows of cells are left out, straight, askew and uneven") {
    for (const int gap : {-1, 0, 14})  // between boxes; -1: one box
        for (const int uneven : {0, 3})
            for (const double angle : {0.0, 4.0}) {
                CAPTURE(gap);
                CAPTURE(uneven);
                CAPTURE(angle);
                const int n = gap < 0 ? 1 : 4, cell = 150;
                cv::Mat page(400, 160 + n * (cell + gap), CV_8U, cv::Scalar(230));
                for (int i = 0; i < n; ++i) {
                    const int x = 80 + i * (cell + gap), y = 120, end = x + cell, u = uneven;
                    const std::vector<cv::Point> box = {{x, y + u},         {x + cell / 2, y - u},
                                                        {end, y},           {end + u, y + 75},
                                                        {end - u, y + 150}, {x, y + 150 - u}};
                    cv::polylines(page, box, true, 90, 4);
                    draw_four(page, {x + 45, y + 25}, 9, 40);
                }
                const cv::Point2f middle(float(page.cols) / 2, float(page.rows) / 2);
                cv::warpAffine(page, page, cv::getRotationMatrix2D(middle, angle, 1), page.size(),
                               cv::INTER_LINEAR, cv::BORDER_REPLICATE);
                const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
                REQUIRE(images.size() == static_cast<std::size_t>(n));
                for (const DigitImage& image : images)
                    CHECK(likeness(image) > 0.65);
                if (n == 1) CHECK(likeness(digit_of(page)) > 0.65);
            }
}

// Chosen on 60 pictures each of ten kinds of rings around one training image.
TEST_CASE("digit images: rings around digits are left out, closed, open and with crossing ends") {
    for (const double drift : {0.0, 14.0})  // of the radius
        for (const double turn : {0.97, 1.0, 1.05}) {
            CAPTURE(drift);
            CAPTURE(turn);
            cv::Mat page(400, 800, CV_8U, cv::Scalar(230));
            for (const int x : {200, 600}) {
                std::vector<cv::Point> ring;
                for (int i = 0; i <= 90; ++i) {
                    const double angle = 1 + turn * i / 90 * 2 * std::numbers::pi,
                                 radius = 110 + drift * i / 90;
                    ring.emplace_back(x + int(radius * std::cos(angle)), 200 + int(radius * std::sin(angle)));
                }
                cv::polylines(page, ring, false, 60, 6);
                draw_four(page, {x - 30, 150}, 9, 40);
            }
            const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
            REQUIRE(images.size() == 2);
            for (const DigitImage& image : images)
                CHECK(likeness(image) > 0.65);
            CHECK(likeness(digit_of(page(cv::Rect(0, 0, 400, 400)).clone())) > 0.65);
        }
}

TEST_CASE("digit images: a ring around several digits does not decide their size") {
    cv::Mat page(1000, 1400, CV_8U, cv::Scalar(230));
    cv::ellipse(page, {700, 500}, {640, 460}, 0, 0, 360, 60, 8);
    for (int i = 0; i < 6; ++i)
        draw_four(page, {420 + 250 * (i % 3), 300 + 260 * (i / 3)}, 9, 40);
    CHECK(knn::extract_digits(picture_of(page)).size() == 6);
}

// Chosen on 40 pictures each of seven kinds of lines below one training image, and on pages with one below each digit.
TEST_CASE("digit images: a line below a digit is left out, and the lowest bar of a display is not") {
    for (const int below : {6, 15, 40})
        for (const int slope : {0, 6}) {
            CAPTURE(below);
            CAPTURE(slope);
            cv::Mat page(320, 800, CV_8U, cv::Scalar(230));
            for (const int x : {140, 380, 600}) {
                draw_four(page, {x, 80}, 9, 40);
                cv::line(page, {x - 20, 190 + below}, {x + 80, 190 + below + slope}, 40, 6);
            }
            const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
            REQUIRE(images.size() == 3);
            for (const DigitImage& image : images)
                CHECK(likeness(image) > 0.65);
            CHECK(likeness(digit_of(page(cv::Rect(60, 20, 260, 290)).clone())) > 0.65);
        }
    cv::Mat two(300, 300, CV_8U, cv::Scalar(20));  // of bars, on a display
    for (const int y : {60, 140, 220})
        cv::line(two, {115, y}, {175, y}, 230, 12);
    cv::line(two, {190, 75}, {190, 125}, 230, 12);
    cv::line(two, {100, 155}, {100, 205}, 230, 12);
    CHECK(digit_of(two).box.h >= 160);
}

TEST_CASE("digit images: a box without ink in it stays, and so do round digits with ink in them") {
    cv::Mat page(400, 1000, CV_8U, cv::Scalar(230));
    cv::polylines(page,
                  std::vector<cv::Point>{{100, 100},
                                         {190, 100},
                                         {190, 160},
                                         {194, 165},
                                         {190, 170},
                                         {190, 230},
                                         {100, 230},
                                         {100, 170},
                                         {96, 165},
                                         {100, 160}},
                  true, 40, 8);  // notched
    cv::ellipse(page, {500, 165}, {45, 65}, 0, 0, 360, 40, 8);
    cv::line(page, {500, 140}, {500, 190}, 40, 8);
    cv::ellipse(page, {800, 165}, {45, 65}, 0, 0, 360, 40, 8);
    const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
    REQUIRE(images.size() == 3);
    for (const DigitImage& image : images)
        CHECK(image.box.h >= 125);
}

TEST_CASE("digit images: the lines of squared paper are no digits, far from these either") {
    cv::RNG random(7);
    for (int beside = 120; beside <= 220; beside += 20) {
        CAPTURE(beside);
        cv::Mat page(685 + beside, 1040 + beside, CV_8U, cv::Scalar(233)), noise;
        for (int at = 40; at < page.cols; at += 96) {
            if (at < page.rows) cv::line(page, {0, at}, {page.cols - 1, at}, 160, 4);
            cv::line(page, {at, 0}, {at, page.rows - 1}, 160, 4);
        }
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 8; ++i)
                draw_four(page, {120 + 115 * i, 115 + 190 * row}, 9, 40);
        cv::resize(page, page, {}, 0.5, 0.5, cv::INTER_AREA);
        noise.create(page.size(), CV_16S);
        random.fill(noise, cv::RNG::NORMAL, 0, 3);
        cv::add(page, noise, page, {}, CV_8U);
        CHECK(knn::extract_digits(picture_of(page)).size() == 24);
    }
}

// Chosen on 45 pages of training images 40,000 and more.
TEST_CASE("digit images: the teeth of a comb are no digits, ones that are written are") {
    for (const bool base : {false, true})
        for (const int tooth : {40, 100}) {
            CAPTURE(base);
            CAPTURE(tooth);
            cv::Mat page(600, 1100, CV_8U, cv::Scalar(235));
            for (int row = 0; row < 2; ++row) {
                const int bottom = 240 + 230 * row;
                if (base) cv::line(page, {80, bottom}, {80 + 8 * 115, bottom}, 60, 4);
                for (int i = 0; i <= 8; ++i)
                    cv::line(page, {80 + 115 * i, bottom - tooth}, {80 + 115 * i, bottom}, 60, 4);
                for (int i = 0; i < 8; ++i)
                    draw_four(page, {108 + 115 * i, bottom - 120}, 9, 40);
            }
            CHECK(knn::extract_digits(picture_of(page)).size() == 16);
        }
    cv::Mat page(300, 900, CV_8U, cv::Scalar(235));
    const int x[] = {100, 215, 300, 420, 505, 610}, top[] = {100, 92, 106, 96, 101, 88};
    for (int i = 0; i < 6; ++i)
        cv::line(page, {x[i], top[i]}, {x[i] - 4, 200 + top[i] % 7}, 40, 9);
    CHECK(knn::extract_digits(picture_of(page)).size() == 6);
}

TEST_CASE("digit images: digits on the edge of a shadow are read") {
    for (const double soft : {1.0, 3.0, 10.0}) {
        CAPTURE(soft);
        cv::Mat page(700, 900, CV_8U, cv::Scalar(225));
        for (int row = 0; row < 3; ++row)
            for (int i = 0; i < 6; ++i)
                draw_four(page, {90 + 125 * i, 90 + 190 * row}, 9, 40);
        shade(page, 0.45, 350, 420, soft);
        CHECK(knn::extract_digits(picture_of(page)).size() == 18);
    }
}

TEST_CASE("digit images: a digit of square pixels is one, however large they are") {
    for (int size = 2; size <= 8; ++size)
        for (int angle = 0; angle < 180; angle += 20) {
            CAPTURE(size);
            CAPTURE(angle);
            cv::Mat small(28, 28, CV_8U, cv::Scalar(255)), page;
            cv::ellipse(small, {14, 14}, {5, 8}, angle, 0, 360, 0, 3, cv::LINE_AA);
            cv::resize(small, page, {}, size, size, cv::INTER_NEAREST);
            CHECK(knn::extract_digits(picture_of(page)).size() == 1);
        }
}

TEST_CASE("digit images: a digit that is cut at the border of its page is read, what lies along it is not") {
    cv::Mat page(300, 1200, CV_8U, cv::Scalar(225));
    draw_four(page, {770, 100}, 18, 40);
    cv::ellipse(page, {1160, 150}, {50, 60}, 0, 0, 360, 40, 24);
    cv::rectangle(page, {0, 20, 10, 250}, 40, cv::FILLED);
    const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
    REQUIRE(images.size() == 2);
    CHECK(near(images[0].box, 761, 91, 78, 118, 5));
    CHECK(near(images[1].box, 1098, 78, 102, 144, 5));
}

TEST_CASE("digit images: the faint end of a stroke stays, faint print beside it goes") {
    cv::Mat page(300, 1200, CV_8U, cv::Scalar(225));
    for (const int x : {200, 400, 600}) {
        page(cv::Rect(x, 140, 12, 60)).setTo(40);
        page(cv::Rect(x, 188, 50, 12)).setTo(40);
        page(cv::Rect(x + 38, 120, 12, 68)).setTo(175);
        page(cv::Rect(x + 120, 130, 12, 60)).setTo(175);
    }
    const std::vector<DigitImage> images = knn::extract_digits(picture_of(page));
    REQUIRE(images.size() == 3);
    for (const DigitImage& image : images)
        CHECK(image.box.h >= 77);
}
