#include "app/report/answers.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "app/report/canvas.h"
#include "app/report/png.h"
#include "app/report/text.h"
#include "classifier/host.h"
#include "data/core/format.h"
#include "data/core/round_up.h"
#include "data/rerank/distance.h"
#include "data/rerank/rerank.h"
#include "data/transform/deskew.h"

namespace knn {

namespace {

constexpr int longest_step = 500, longest_page = 1040;  // pixels of a reduced step

// In pixels of the finished picture.
constexpr double width = 1120, margin = 40, gap = 20;
constexpr double step_side = 244, digit_side = 244, neighbor_side = 112, moves_side = 168;
constexpr double caption = 11, heading = 12, title = 20, title_pitch = 30, detail_pitch = 26;

const Color good = rgb(0x1a7f4b), bad = rgb(0xb8390d), frame = rgb(0xc9d1d9);

std::string file_name(const std::string& file) {
    return file == "-" ? "standard input" : file;
}

/// Centered on a pale gray square, to separate the picture from its surroundings.
Picture squared(const Picture& picture) {
    const int side = std::max(picture.rows, picture.cols);
    if (picture.rows == picture.cols) return picture;
    Picture square{side, side, std::vector<std::uint8_t>(std::size_t(side) * std::size_t(side), 236)};
    const int above = (side - picture.rows) / 2, left = (side - picture.cols) / 2;
    for (int row = 0; row < picture.rows; ++row)
        std::copy_n(picture.gray.begin() + std::ptrdiff_t(row) * picture.cols, picture.cols,
                    square.gray.begin() + std::ptrdiff_t(row + above) * side + left);
    return square;
}

/// An image as a square with a thin frame and a caption below.
void framed(Canvas& canvas, const Picture& picture, double x, double y, double side, const std::string& words,
            const Color& color = frame) {
    const double edge = color == frame ? 1 : 3;
    canvas.box(x - edge, y - edge, side + 2 * edge, side + 2 * edge, color);
    const Picture square = squared(picture);
    canvas.image(square.gray.data(), square.rows, square.cols, x, y, side);
    canvas.text(shortened(printable(words), caption, side + gap - 4), x + side / 2, y + side + caption + 10,
                caption, faint_ink, Side::center);
}

Picture picture_of(const std::uint8_t* pixels) {
    constexpr int side = DigitImage::side;
    constexpr std::ptrdiff_t size = std::ptrdiff_t{side} * side;
    return {side, side, std::vector<std::uint8_t>(pixels, pixels + size)};
}

/// Number of squares per row.
int per_row(double side, double max_width) {
    return std::max(1, int((max_width + gap) / (side + gap)));
}

int count_rows(std::size_t count, int columns) {
    return int(divide_up(std::int64_t(count), columns));
}

/// The words in as many lines as they need; names of files break anywhere.
std::vector<std::string> lines_of(const std::string& words, double height) {
    std::vector<std::string> lines = {""};
    for (const char letter : printable(words)) {
        if (Canvas::width_of(lines.back() + letter, height) > width - 2 * margin) lines.emplace_back();
        lines.back() += letter;
    }
    return lines;
}

/// Height of the headline's lines after the first: titles are not cut.
double more_lines(const std::string& words, const std::string& detail) {
    return double(lines_of(words, title).size() - 1) * title_pitch +
           double(lines_of(detail, heading).size() - 1) * detail_pitch;
}

/// The file and the answer, with `detail` in smaller letters below.
void draw_headline(Canvas& canvas, const std::string& words, const std::string& detail, bool answered) {
    canvas.box(0, 0, 4 * width, 1, frame);
    const Color& color = answered ? ink : bad;
    double y = margin + title;
    for (const std::string& line : lines_of(words, title)) {
        canvas.text(line, margin, y, title, color, Side::left, 0.14);
        y += title_pitch;
    }
    y += detail_pitch - title_pitch;
    for (const std::string& line : lines_of(detail, heading)) {
        canvas.text(line, margin, y, heading, color, Side::left);
        y += detail_pitch;
    }
}

std::string headline(const PictureAnswer& picture, const Answer& answer) {
    const std::string file = file_name(picture.file) + ": ";
    return answer.label ? file + symbol(answer) + ", confidence " + percent(answer.confidence, 0)
                        : file + "?";
}

/// The steps to show; the result is shown below them.
std::vector<const Step*> steps_to_show(const PictureAnswer& picture) {
    std::vector<const Step*> shown;
    for (const Step& step : picture.steps)
        if (&step != &picture.steps.back() || step.picture.rows != DigitImage::side) shown.push_back(&step);
    return shown;
}

/// One neighbor: its label above, its index in the training set and its distance below.
void draw_neighbor(Canvas& canvas, const Answer& answer, const Neighbor& neighbor,
                   const PictureAnswers& answers, const Measure& measure, double x, double y) {
    const int label = answers.labels[neighbor.index];
    const Color color = !answer.label ? ink : *answer.label == label ? good : bad;
    const double middle = x + neighbor_side / 2;
    canvas.text(std::to_string(label), middle, y - 8, 14, color, Side::center, 0.16);
    framed(canvas, picture_of(answers.train.row(neighbor.index)), x, y, neighbor_side,
           std::string("no. ").append(std::to_string(neighbor.index)));
    canvas.text(distance_text(measure, neighbor.distance), middle, y + neighbor_side + 2 * caption + 18,
                caption, faint_ink, Side::center);
}

constexpr double neighbor_pitch = neighbor_side + 98, neighbor_x = margin + digit_side + 50;

/// Neighbors below a heading; returns the y below them.
double draw_neighbors(Canvas& canvas, const Answer& answer, std::span<const Neighbor> neighbors,
                      const PictureAnswers& answers, const Measure& measure, const std::string& words,
                      double y) {
    canvas.text(words, neighbor_x, y + heading, heading, faint_ink, Side::left);
    const int beside = per_row(neighbor_side, width - neighbor_x - margin);
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        const int row = int(i) / beside, col = int(i) % beside;
        draw_neighbor(canvas, answer, neighbors[i], answers, measure,
                      neighbor_x + col * (neighbor_side + gap), y + heading + 40 + row * neighbor_pitch);
    }
    return y + heading + count_rows(neighbors.size(), beside) * neighbor_pitch;
}

/// Those of which squares of `side` fill one row.
std::span<const Neighbor> one_row(std::span<const Neighbor> neighbors, double side) {
    const int beside = per_row(side, width - neighbor_x - margin);
    return neighbors.first(std::min(neighbors.size(), std::size_t(beside)));
}

const Color at_place = rgb(0x58a6ff), moved = rgb(0xf0883e);

std::vector<std::uint8_t> straightened(const std::uint8_t* image, ImageShape shape, double part) {
    const Skew skew = skew_of(moments_of(image, shape), shape, part);
    std::vector<std::uint8_t> straight;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x)
            straight.push_back(deskewed(image, shape, skew, x, y));
    return straight;
}

std::vector<std::uint8_t> descriptor_of(const Rerank& rerank, ImageShape shape, const std::uint8_t* image) {
    return describe(rerank, {image, 1, shape.dim()}, shape, 1).bytes;
}

/// The neighbor as it is compared, with its slant out, as a square of `side`; on it a dot at each point of the query that
/// has a gradient, and a line from there to the place in the neighbor that looks like it, if that is another one. Both
/// images have shape.rows × shape.cols pixels.
void draw_moves(Canvas& canvas, const Rerank& rerank, ImageShape shape, const std::uint8_t* query,
                const std::uint8_t* neighbor, double x, double y, double side) {
    const DescriptorLayout layout(shape, rerank);
    const double part = layout.has_gradients ? gradients_slant_part : cells_slant_part;
    canvas.image(straightened(neighbor, shape, part).data(), shape.rows, shape.cols, x, y, side);
    const double pixel = side / std::max(shape.rows, shape.cols);
    // The square is centered, and a point of the grid, like a cell, stands for 2 × 2 pixels.
    constexpr double middle = 1;
    const double left = x + (side - pixel * shape.cols) / 2 + middle * pixel;
    const double top = y + (side - pixel * shape.rows) / 2 + middle * pixel;
    for (const Move& move : moves(layout, descriptor_of(rerank, shape, query).data(),
                                  descriptor_of(rerank, shape, neighbor).data())) {
        const double from_x = left + move.x * pixel, from_y = top + move.y * pixel;
        const bool stays = move.dx == 0 && move.dy == 0;
        if (!stays)
            canvas.line(from_x, from_y, from_x + move.dx * pixel, from_y + move.dy * pixel, 0.25 * pixel,
                        moved);
        canvas.disc(from_x, from_y, 0.3 * pixel, stays ? at_place : moved);
    }
}

/// What each of the nearest was before re-ranking, and where the digit's pixels are in it.
void draw_moved(Canvas& canvas, const Answer& answer, const PictureAnswers& answers, double y) {
    canvas.text("where the pixels of the digit are in these: each dot is looked for at the end of its line",
                neighbor_x, y + heading, heading, faint_ink, Side::left);
    double x = neighbor_x;
    for (const Neighbor& neighbor : one_row(answer.neighbors, moves_side)) {
        draw_moves(canvas, answers.method.rerank, {DigitImage::side, DigitImage::side},
                   answer.image.pixels.data(), answers.train.row(neighbor.index), x, y + heading + 16,
                   moves_side);
        canvas.text(rank_before(answer, neighbor), x + moves_side / 2,
                    y + heading + 16 + moves_side + caption + 10, caption, faint_ink, Side::center);
        x += moves_side + gap;
    }
}

/// A picture with one digit: the steps in rows, below them the result and its neighbors.
cv::Mat explain_single(const PictureAnswer& picture, const PictureAnswers& answers) {
    const Answer& answer = picture.digits.at(0);
    const Method& method = answers.method;
    const std::span<const Neighbor> neighbors =
        std::span(answer.neighbors).first(std::min(answer.neighbors.size(), max_neighbors_drawn));
    const std::vector<const Step*> steps = steps_to_show(picture);
    const int columns = per_row(step_side, width - 2 * margin);
    const double step_pitch = step_side + 44;
    const int beside = per_row(neighbor_side, width - neighbor_x - margin);
    const double top = margin + title + 28 + (answer.reason.empty() ? 0 : detail_pitch) +
                       more_lines(headline(picture, answer), answer.reason),
                 middle = top + count_rows(steps.size(), columns) * step_pitch + 6;
    const bool reranked = !answer.candidates.empty();
    const double moved_height = reranked ? heading + neighbor_pitch + heading + moves_side + 50 : 0;
    const double low =
        std::max(digit_side + 36, heading + count_rows(neighbors.size(), beside) * neighbor_pitch) +
        moved_height;

    Canvas canvas(width, middle + low + margin / 2, 3);
    draw_headline(canvas, headline(picture, answer), answer.reason, answer.label.has_value());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const int row = int(i) / columns, col = int(i) % columns;
        const double x = margin + col * (step_side + gap), y = top + row * step_pitch;
        framed(canvas, steps[i]->picture, x, y, step_side, std::to_string(i + 1) + ". " + steps[i]->name);
    }
    framed(canvas, picture_of(answer.image.pixels.data()), margin, middle, digit_side,
           std::to_string(steps.size() + 1) + ". 28x28, searched for");
    double y = middle;
    if (reranked)
        y = draw_neighbors(canvas, answer, one_row(answer.candidates, neighbor_side), answers, method.measure,
                           candidates_heading(answer.candidates.size(), method), y);
    if (!neighbors.empty())
        y = draw_neighbors(canvas, answer, neighbors, answers, method.neighbor_measure(),
                           neighbors_heading(answer.neighbors.size(), method), y);
    if (reranked) draw_moved(canvas, answer, answers, y);
    return canvas.picture();
}

/// The answer and its confidence in percent as a small label at a corner of its box, outside of it if there is space.
void draw_tag(cv::Mat& mat, const Answer& digit, const cv::Rect& box, int top) {
    const double height = std::clamp(box.height * 0.2, 9.0, 16.0);
    // The confidence follows in smaller letters, in percent: tags of neighbors must not cover it.
    const double small = std::max(7.0, 0.6 * height);
    const std::string sure = digit.label ? std::to_string(std::lround(100 * digit.confidence)) : "";
    const double symbol_width = Canvas::width_of(symbol(digit), height),
                 sure_width = sure.empty() ? 0 : Canvas::width_of(sure, small) + 5;
    Canvas tag(symbol_width + sure_width + 6, height + 6, 4, digit.label ? good : bad);
    tag.text(symbol(digit), 3, height + 3, height, paper, Side::left, 0.16);
    if (!sure.empty()) tag.text(sure, symbol_width + 8, height + 3, small, paper, Side::left);
    const cv::Mat drawn = tag.picture();
    const int y = box.y - drawn.rows >= top ? box.y - drawn.rows : box.y + box.height;
    const cv::Rect place(box.x, y, drawn.cols, drawn.rows), seen = place & cv::Rect({}, mat.size());
    drawn(seen - place.tl()).copyTo(mat(seen));
}

/// The whole page with a box and the answer for each digit.
cv::Mat explain_page(const PictureAnswer& page) {
    Picture shown;
    if (!page.steps.empty()) shown = page.steps.front().picture;
    const std::int64_t count = std::ssize(page.digits);
    const std::string words =
        file_name(page.file) + ": " + (count == 0 ? "no digits" : counted(count, "digit"));
    const int left = int(margin), top = int(margin + title + 26 + more_lines(words, ""));
    Canvas canvas(std::max(width, shown.cols + 2 * margin), top + shown.rows + margin, 2);
    draw_headline(canvas, words, "", count > 0);
    canvas.box(left - 1, top - 1, shown.cols + 2, shown.rows + 2, frame);
    cv::Mat mat = canvas.picture();
    if (shown.gray.empty()) return mat;
    const cv::Mat gray(shown.rows, shown.cols, CV_8UC1, shown.gray.data());
    cv::Mat place = mat(cv::Rect(left, top, shown.cols, shown.rows));
    cv::cvtColor(gray, place, cv::COLOR_GRAY2BGR);
    const double scale = double(shown.cols) / page.cols;
    for (const Answer& digit : page.digits) {
        const Box& box = digit.image.box;
        const cv::Rect around(left + int(box.x * scale) - 3, top + int(box.y * scale) - 3,
                              int(box.w * scale) + 6, int(box.h * scale) + 6);
        cv::rectangle(mat, around, digit.label ? good : bad, 2);
        draw_tag(mat, digit, around, top);
    }
    return mat;
}

cv::Mat explain_failure(const PictureAnswer& picture) {
    const std::string words = file_name(picture.file) + ": failed";
    Canvas canvas(width, margin * 2 + title + detail_pitch + more_lines(words, picture.error), 2);
    draw_headline(canvas, words, picture.error, false);
    return canvas.picture();
}

}  // namespace

void reduce_step(Step& step, bool page) {
    Picture& picture = step.picture;
    const int longest = page ? longest_page : longest_step;
    const int most = std::max(picture.rows, picture.cols);
    if (most <= longest || picture.gray.empty()) return;
    const double zoom = double(longest) / most;
    const cv::Mat whole(picture.rows, picture.cols, CV_8UC1, picture.gray.data());
    cv::Mat small;
    const cv::Size size(std::max(1, int(std::lround(picture.cols * zoom))),
                        std::max(1, int(std::lround(picture.rows * zoom))));
    cv::resize(whole, small, size, 0, 0, cv::INTER_AREA);
    picture = {small.rows, small.cols, {small.datastart, small.dataend}};
}

std::vector<std::uint8_t> explanation_png(const PictureAnswers& answers) {
    std::vector<cv::Mat> parts;
    int rows = 0, cols = 0;
    for (const PictureAnswer& picture : answers.pictures) {
        if (parts.size() == max_explained) break;
        parts.push_back(!picture.error.empty() ? explain_failure(picture)
                        : answers.pages        ? explain_page(picture)
                                               : explain_single(picture, answers));
        rows += parts.back().rows;
        cols = std::max(cols, parts.back().cols);
    }
    cv::Mat whole(std::max(rows, 1), std::max(cols, 1), CV_8UC3, paper);
    int y = 0;
    for (const cv::Mat& part : parts) {
        part.copyTo(whole(cv::Rect(0, y, part.cols, part.rows)));
        y += part.rows;
    }
    cv::cvtColor(whole, whole, cv::COLOR_BGR2RGB);
    return rgb_png(whole.data, whole.rows, whole.cols);
}

}  // namespace knn
