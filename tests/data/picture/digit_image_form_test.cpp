#include "classifier/form.h"
#include "data/core/errors.h"
#include "data/picture/digit_image.h"
#include "tests/support/drawn.h"
#include "tests/support/test.h"

using namespace knn::test;
using knn::DigitImage;
using knn::FormBox;
using knn::FormFrame;

namespace {

/// A sheet with a frame of 3 × 3 cells of 160 pixels, on a dark desk, with a 4 in the cells 0, 4 and 5.
cv::Mat sheet_with_grid() {
    cv::Mat page(900, 900, CV_8U, cv::Scalar(70));
    page(cv::Rect(120, 120, 660, 660)).setTo(230);
    for (int i = 0; i <= 3; ++i) {
        cv::line(page, {210 + 160 * i, 210}, {210 + 160 * i, 690}, 50, 5);
        cv::line(page, {210, 210 + 160 * i}, {690, 210 + 160 * i}, 50, 5);
    }
    for (const int cell : {0, 4, 5})
        draw_four(page, {260 + 160 * (cell % 3), 240 + 160 * (cell / 3)}, 9, 50);
    return page;
}

cv::Mat askew(const cv::Mat& page) {
    const std::array<cv::Point2f, 4> from = {{{0, 0}, {900, 0}, {900, 900}, {0, 900}}},
                                     to = {{{60, 10}, {870, 90}, {820, 880}, {20, 830}}};
    cv::Mat seen;
    cv::warpPerspective(page, seen, cv::getPerspectiveTransform(from.data(), to.data()), page.size(),
                        cv::INTER_LINEAR, cv::BORDER_CONSTANT, 70);
    return seen;
}

std::vector<int> rows_of(const std::vector<DigitImage>& digits) {
    std::vector<int> rows;
    for (const DigitImage& digit : digits)
        rows.push_back(digit.row);
    return rows;
}

}  // namespace

TEST_CASE("forms: the digits of a frame's cells, seen straight and askew, dark and light") {
    const std::vector<FormBox> cells = knn::grid_form(3, 3).boxes;
    const cv::Mat straight = sheet_with_grid();
    for (const cv::Mat& page : {straight, askew(straight), cv::Mat(255 - straight)}) {
        const std::vector<DigitImage> digits = knn::extract_form(picture_of(page), FormFrame::lines, cells);
        CHECK(rows_of(digits) == std::vector{0, 4, 5});
        for (const DigitImage& digit : digits)
            CHECK(digit.hypotheses.empty());
    }
    const std::vector<DigitImage> digits = knn::extract_form(picture_of(straight), FormFrame::lines, cells);
    REQUIRE(digits.size() == 3);
    CHECK(near(digits[1].box, 416, 396, 68, 108, 8));
    CHECK(near(digits[2].box, 576, 396, 68, 108, 8));
}

TEST_CASE("forms: boxes are parts of the sheet, of its frame or of the whole picture") {
    const cv::Mat page = sheet_with_grid();
    const auto found = [&](FormFrame frame, double left, double size) {
        // The cell in the middle, which begins at 370 and has 160 pixels.
        const std::array box = {
            FormBox{(370 - left) / size, (370 - left) / size, 160 / size, 160 / size, false}};
        return knn::extract_form(picture_of(page), frame, box);
    };
    CHECK(found(FormFrame::picture, 0, 900).size() == 1);
    CHECK(found(FormFrame::paper, 120, 660).size() == 1);
    CHECK(found(FormFrame::lines, 208, 484).size() == 1);
    const std::array empty = {FormBox{0.4, 0.7, 0.1, 0.1, false}};
    CHECK(knn::extract_form(picture_of(page), FormFrame::lines, empty).empty());
}

TEST_CASE("forms: boxes of very different sizes") {
    cv::Mat page(1000, 1600, CV_8U, cv::Scalar(240));
    std::vector<FormBox> boxes;
    const auto add_box = [&](int x, int y, int zoom) {
        boxes.push_back({x / 1600.0, y / 1000.0, 120.0 * zoom / 1600, 150.0 * zoom / 1000});
        draw_four(page, {x + 30 * zoom, y + 25 * zoom}, 8 * zoom, 30, zoom);
    };
    for (int i = 0; i < 5; ++i)
        add_box(50 + 150 * i, 50, 1);
    for (int i = 0; i < 2; ++i)
        add_box(50 + 600 * i, 300, 4);
    CHECK(rows_of(knn::extract_form(picture_of(page), FormFrame::picture, boxes)) ==
          std::vector{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("forms: a sheet on a dark desk that takes most of the picture") {
    constexpr int desk = 250;  // on each side; the sheet has 660
    cv::Mat page;
    cv::copyMakeBorder(sheet_with_grid(), page, desk, desk, desk, desk, cv::BORDER_CONSTANT, 70);
    const std::array box = {
        FormBox{(370.0 - 120) / 660, (370.0 - 120) / 660, 160.0 / 660, 160.0 / 660, false}};
    CHECK(knn::extract_form(picture_of(page), FormFrame::paper, box).size() == 1);
    for (const cv::Mat& seen : {page, cv::Mat(255 - page)})
        CHECK(rows_of(knn::extract_form(picture_of(seen), FormFrame::lines, knn::grid_form(3, 3).boxes)) ==
              std::vector{0, 4, 5});
}

TEST_CASE("forms: many marks in one box take about as long as in many boxes") {
    cv::Mat page(1200, 1200, CV_8U, cv::Scalar(230));
    for (int cell = 0; cell < 30 * 30; ++cell)
        cv::circle(page, {20 + 40 * (cell % 30), 20 + 40 * (cell / 30)}, 11, 50, 4);
    const auto seconds = [&](int cols, std::size_t digits) {
        const std::vector<FormBox> cells = knn::grid_form(30, cols).boxes;
        const std::clock_t start = std::clock();
        CHECK(knn::extract_form(picture_of(page), FormFrame::picture, cells).size() == digits);
        return double(std::clock() - start) / CLOCKS_PER_SEC;
    };
    const double many_boxes = seconds(30, 900);
    CHECK(seconds(1, 30) < 5 * many_boxes);
}

TEST_CASE(
    "forms: a strip of cells, whose frame is so narrow that a wrong pixel of its corners would be "
    "perspective") {
    constexpr int side = 160;
    for (const auto& [n_cells, thickness] : {std::pair{20, 5}, {50, 5}, {50, 10}}) {
        const int cells = n_cells, line = thickness;  // clang captures no structured bindings
        CAPTURE(cells);
        CAPTURE(line);
        cv::Mat page(side * cells + 120, side + 120, CV_8U, cv::Scalar(230));
        std::vector<int> drawn;
        for (int cell = 0; cell < cells; ++cell) {
            cv::rectangle(page, cv::Rect(60, 60 + side * cell, side, side), 50, line);
            if (cell % 3 == 1) continue;
            draw_four(page, {110, 90 + side * cell}, 9, 50);
            drawn.push_back(cell);
        }
        const auto rows_in = [&](const cv::Mat& seen, const std::vector<FormBox>& boxes) {
            return rows_of(knn::extract_form(picture_of(seen), FormFrame::lines, boxes));
        };
        CHECK(rows_in(page, knn::grid_form(cells, 1).boxes) == drawn);
        CHECK(rows_in(page.t(), knn::grid_form(1, cells).boxes) == drawn);
    }
}

TEST_CASE("forms: a picture without a frame is refused") {
    const std::vector<FormBox> cells = knn::grid_form(3, 3).boxes;
    cv::Mat page(600, 600, CV_8U, cv::Scalar(230));
    draw_four(page, {270, 250}, 9, 50);
    CHECK_THROWS_WITH_AS(
        knn::extract_form(picture_of(page), FormFrame::lines, cells),
        "has no frame of lines; expected one around all cells or boxes, of at least a tenth of the picture",
        knn::DataError);
    // A square on its tip: its corners could be those of either way to turn it.
    page.setTo(230);
    const std::array<cv::Point, 4> tips = {{{300, 60}, {540, 300}, {300, 540}, {60, 300}}};
    cv::polylines(page, std::vector<cv::Point>(tips.begin(), tips.end()), true, 50, 5);
    CHECK_THROWS_AS(knn::extract_form(picture_of(page), FormFrame::lines, cells), knn::DataError);
    for (const auto& [rows, cols] : {std::pair{1, 1}, {3, 5000}, {5000, 3}}) {
        const cv::Mat tiny(rows, cols, CV_8U, cv::Scalar(200));
        CHECK_THROWS_AS(knn::extract_form(picture_of(tiny), FormFrame::lines, cells), knn::DataError);
    }
}

TEST_CASE("forms: boxes in which digits would be too small to be found are refused") {
    const std::vector<FormBox> cells = knn::grid_form(20, 20).boxes;
    for (const int side : {3, 100, 4200}) {  // the last is reduced, as a form has at most 16 megapixels
        const cv::Mat page(side, side, CV_8U, cv::Scalar(230));
        CAPTURE(side);
        if (side == 4200)
            CHECK(knn::extract_form(picture_of(page), FormFrame::picture, cells).empty());
        else
            CHECK_THROWS_WITH_AS(knn::extract_form(picture_of(page), FormFrame::picture, cells),
                                 doctest::Contains("expected boxes of at least 9 pixels"), knn::DataError);
    }
    const std::vector<FormBox> small = knn::grid_form(150, 150).boxes;
    CHECK_THROWS_WITH_AS(
        knn::extract_form(picture_of(cv::Mat(4500, 4500, CV_8U, cv::Scalar(230))), FormFrame::picture, small),
        doctest::Contains("has boxes 30 pixels high, in which digits"), knn::DataError);
}

TEST_CASE("forms: boxes too narrow for a digit are refused") {
    const auto digits = [](int rows, int cols, int boxes) {
        const cv::Mat page(rows, cols, CV_8U, cv::Scalar(230));
        return knn::extract_form(picture_of(page), FormFrame::picture, knn::grid_form(1, boxes).boxes);
    };
    CHECK(digits(100, 500, 20).empty());
    CHECK_THROWS_WITH_AS(
        digits(100, 500, 21),
        "has a box 24 pixels wide and 100 high, in which a digit has no room; expected at least 25 pixels",
        knn::DataError);
    CHECK_THROWS_AS(digits(5000, 3, 1), knn::DataError);
}

TEST_CASE("digit images: minus signs and points, which are neither bars nor pieces of digits") {
    cv::Mat page(500, 900, CV_8U, cv::Scalar(225));
    cv::line(page, {60, 155}, {110, 152}, 40, 9);  // minus
    draw_four(page, {150, 100}, 9, 40);
    cv::circle(page, {245, 196}, 8, 40, cv::FILLED);  // point
    draw_four(page, {280, 100}, 9, 40);
    draw_four(page, {300, 320}, 9, 40);
    cv::line(page, {300, 300}, {350, 300}, 40, 9);    // above the 4: part of it
    cv::circle(page, {420, 340}, 8, 40, cv::FILLED);  // in the middle: no point
    std::vector<knn::PageMark> marks;
    const std::vector<DigitImage> digits = knn::extract_digits(picture_of(page), nullptr, &marks);
    REQUIRE(digits.size() == 3);
    CHECK(digits[2].box.y <= 302);
    REQUIRE(marks.size() == 2);
    CHECK(marks[0].sign == '-');
    CHECK(near(marks[0].box, 55, 147, 60, 14, 4));
    CHECK(marks[1].sign == '.');
    CHECK(near(marks[1].box, 237, 188, 17, 17, 4));
    CHECK(marks[1].row == digits[1].row);
}

TEST_CASE("digit images: a minus sign may be short and thick, or longer than a digit is high") {
    const auto signs = [](int length, int thickness) {
        cv::Mat page(400, 700, CV_8U, cv::Scalar(225));
        draw_four(page, {100, 100}, 9, 40);
        cv::rectangle(page, {280, 150, length, thickness}, 40, cv::FILLED);
        draw_four(page, {310 + length, 100}, 9, 40);
        std::vector<knn::PageMark> marks;
        std::string found(knn::extract_digits(picture_of(page), nullptr, &marks).size(), '4');
        for (const knn::PageMark& mark : marks)
            found += mark.sign;
        return found;
    };
    CHECK(signs(50, 9) == "44-");
    CHECK(signs(22, 10) == "44-");
    CHECK(signs(130, 9) == "44-");
    CHECK(signs(200, 9) == "444");  // too long
}
