#include "app/report/canvas.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <sstream>

#include "app/report/page.h"

namespace knn {

namespace {

constexpr int font = cv::FONT_HERSHEY_SIMPLEX;
constexpr double font_capitals = 21;  // the height of the font's capitals at scale 1
constexpr double word_gap = 0.5;      // between words, in heights; the font's space is too wide

}  // namespace

Color rgb(int hex) {
    return {double(hex & 255), double(hex >> 8 & 255), double(hex >> 16 & 255)};
}

Canvas::Canvas(double width, double height, int fine, const Color& ground)
    : fine_(fine), mat_(int(std::ceil(height)) * fine, int(std::ceil(width)) * fine, CV_8UC3, ground) {}

void Canvas::box(double x, double y, double width, double height, const Color& color) {
    const cv::Point2d from(x * fine_, y * fine_), to((x + width) * fine_ - 1, (y + height) * fine_ - 1);
    cv::rectangle(mat_, cv::Point(from), cv::Point(to), color, cv::FILLED);
}

void Canvas::text(const std::string& words, double x, double y, double height, const Color& color, Side side,
                  double stroke) {
    x -= width_of(words, height) * (side == Side::left ? 0 : side == Side::center ? 0.5 : 1);
    std::istringstream rest(words);
    for (std::string word; rest >> word; x += width_of(word, height) + word_gap * height)
        cv::putText(mat_, word, cv::Point2d(x * fine_, y * fine_), font, height * fine_ / font_capitals,
                    color, std::max(1, int(std::lround(height * fine_ * stroke))), cv::LINE_AA);
}

void Canvas::text_upward(const std::string& words, double x, double y, double height, const Color& color) {
    Canvas strip(width_of(words, height) + 4, height * 2, fine_);
    strip.text(words, 2, height * 1.5, height, color);
    cv::rotate(strip.mat_, strip.mat_, cv::ROTATE_90_COUNTERCLOCKWISE);
    paste(mat_, strip.mat_,
          cv::Point2d(x * fine_ - strip.mat_.cols / 2.0, y * fine_ - strip.mat_.rows / 2.0));
}

void Canvas::arrow(double x, double y, double length, double height) {
    const double middle = y - height / 2, barb = height * 0.3, stroke = height * 0.11;
    line(x, middle, x + length, middle, stroke, faint_ink);
    for (const double side : {-barb, barb})
        line(x + length, middle, x + length - barb, middle + side, stroke, faint_ink);
}

void Canvas::line(double x1, double y1, double x2, double y2, double width, const Color& color) {
    cv::line(mat_, cv::Point2d(x1 * fine_, y1 * fine_), cv::Point2d(x2 * fine_, y2 * fine_), color,
             std::max(1, int(std::lround(width * fine_))), cv::LINE_AA);
}

void Canvas::disc(double x, double y, double radius, const Color& color) {
    cv::circle(mat_, cv::Point2d(x * fine_, y * fine_), int(std::lround(radius * fine_)), color, cv::FILLED,
               cv::LINE_AA);
}

void Canvas::image(const std::uint8_t* gray, int rows, int cols, double x, double y, double side) {
    box(x, y, side, side, rgb(0));
    const cv::Mat sized = zoomed(gray_mat(rows, cols, gray), side * fine_ / std::max(rows, cols));
    cv::Mat colored;
    cv::cvtColor(sized, colored, cv::COLOR_GRAY2BGR);
    const int margin_x = (int(side * fine_) - sized.cols) / 2,
              margin_y = (int(side * fine_) - sized.rows) / 2;
    paste(mat_, colored, {int(x * fine_) + margin_x, int(y * fine_) + margin_y});
}

double Canvas::width_of(const std::string& words, double height) {
    constexpr int finer = 4;  // OpenCV rounds coordinates to whole pixels
    std::istringstream rest(words);
    double width = 0;
    for (std::string word; rest >> word;)
        width +=
            (width > 0 ? word_gap * height : 0) +
            cv::getTextSize(word, font, height * finer / font_capitals, 1, nullptr).width / double(finer);
    return width;
}

double Canvas::fitted(const std::string& words, double x, double y, double height, double max_width,
                      double share, const Color& color, Side side, double stroke) {
    const std::string all = printable(words);
    const double fits = height * std::clamp(max_width / width_of(all, height), share, 1.0);
    const std::string shown = shortened(all, fits, max_width);
    text(shown, x, y, fits, color, side, stroke);
    return width_of(shown, fits);
}

cv::Mat Canvas::picture() const {
    cv::Mat small;
    cv::resize(mat_, small, mat_.size() / fine_, 0, 0, cv::INTER_AREA);
    return small;
}

cv::Mat gray_mat(int rows, int cols, const std::uint8_t* gray) {
    return {rows, cols, CV_8UC1, const_cast<std::uint8_t*>(gray)};
}

cv::Mat zoomed(const cv::Mat& picture, double zoom) {
    const cv::Size size(std::max(1, int(std::lround(picture.cols * zoom))),
                        std::max(1, int(std::lround(picture.rows * zoom))));
    cv::Mat sized;
    cv::resize(picture, sized, size, 0, 0, zoom < 1 ? cv::INTER_AREA : cv::INTER_NEAREST);
    return sized;
}

void paste(cv::Mat& whole, const cv::Mat& part, cv::Point corner) {
    const cv::Rect place(corner, part.size()), seen = place & cv::Rect({}, whole.size());
    part(seen - corner).copyTo(whole(seen));
}

std::vector<std::uint8_t> png_of(const cv::Mat& picture) {
    cv::Mat rgb;
    cv::cvtColor(picture, rgb, picture.channels() == 1 ? cv::COLOR_GRAY2RGB : cv::COLOR_BGR2RGB);
    return encode_png(rgb.data, rgb.rows, rgb.cols, 3);  // a new Mat has no gaps between its rows
}

std::string printable(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x80 && byte < 0xc0) continue;  // the second and later bytes of a character in UTF-8
        result += byte >= 0x20 && byte < 0x7f ? c : '?';
    }
    return result;
}

std::string shortened(const std::string& text, double height, double max_width) {
    const std::string words = printable(text);
    if (Canvas::width_of(words, height) <= max_width) return words;
    std::size_t fits = 0;
    for (std::size_t too_long = words.size() + 1; too_long - fits > 1;) {
        const std::size_t middle = std::midpoint(fits, too_long);
        const double width = Canvas::width_of(words.substr(0, middle) + "...", height);
        (width <= max_width ? fits : too_long) = middle;
    }
    return words.substr(0, fits) + "...";
}

}  // namespace knn
