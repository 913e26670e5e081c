#include "app/report/answers.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "app/report/canvas.h"
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
constexpr double page_width = 1120, page_margin = 40, page_gap = 20;
constexpr double step_side = 244, digit_side = 244, neighbor_side = 112, moves_side = 168;
constexpr double neighbor_x = page_margin + digit_side + 50;
constexpr double step_pitch = step_side + 44, neighbor_pitch = neighbor_side + 98;
constexpr double caption_size = 11, heading = 12, title_size = 20, title_pitch = 30, detail_pitch = 26;
constexpr int steps_in_row = 4, neighbors_in_row = 5, moves_in_row = 4;  // as many as fit

const Color good = rgb(0x1a7f4b), bad = rgb(0xb8390d), frame = rgb(0xc9d1d9);
const Color at_place = rgb(0x58a6ff), moved = rgb(0xf0883e);

std::string file_name(const std::string& file) {
    return file == "-" ? "standard input" : file;
}

cv::Mat pixels_of(const Picture& picture) {
    return gray_mat(picture.rows, picture.cols, picture.gray.data());
}

/// A picture as a square with a thin frame and a caption below; pale gray separates it from its surroundings.
void framed(Canvas& canvas, const cv::Mat& picture, double x, double y, double side,
            const std::string& words) {
    canvas.box(x - 1, y - 1, side + 2, side + 2, frame);
    const int longest = std::max(picture.rows, picture.cols), pale = 236;
    const int above = (longest - picture.rows) / 2, left = (longest - picture.cols) / 2;
    cv::Mat square;
    cv::copyMakeBorder(picture, square, above, longest - picture.rows - above, left,
                       longest - picture.cols - left, cv::BORDER_CONSTANT, pale);
    canvas.image(square.data, longest, longest, x, y, side);
    canvas.text(shortened(words, caption_size, side + page_gap - 4), x + side / 2,
                y + side + caption_size + 10, caption_size, faint_ink, Side::center);
}

std::vector<std::string> lines_of(const std::string& words, double height) {
    return wrapped(printable(words), [&](const std::string& line) {
        return Canvas::width_of(line, height) <= page_width - 2 * page_margin;
    });
}

/// The file and the answer, with `detail` in smaller letters below.
struct Headline {
    std::vector<std::string> words, detail;

    explicit Headline(const std::string& answer, const std::string& smaller = "")
        : words(lines_of(answer, title_size)), detail(lines_of(smaller, heading)) {}

    double more_lines() const {
        return double(words.size() - 1) * title_pitch + double(detail.size() - 1) * detail_pitch;
    }
    void draw(Canvas& canvas, bool answered) const {
        canvas.box(0, 0, 4 * page_width, 1, frame);
        const Color& color = answered ? ink : bad;
        double y = page_margin + title_size;
        for (const std::string& line : words) {
            canvas.text(line, page_margin, y, title_size, color, Side::left, 0.14);
            y += title_pitch;
        }
        y += detail_pitch - title_pitch;
        for (const std::string& line : detail) {
            canvas.text(line, page_margin, y, heading, color);
            y += detail_pitch;
        }
    }
};

double neighbors_height(std::size_t count) {
    return heading + double(divide_up(std::int64_t(count), neighbors_in_row)) * neighbor_pitch;
}

/// Neighbors below a heading: the label of each above it, its index in the training set and its distance below. Returns the y
/// below them.
double draw_neighbors(Canvas& canvas, const Answer& answer, std::span<const Neighbor> neighbors,
                      const PictureAnswers& answers, const Measure& measure, const std::string& words,
                      double y) {
    canvas.text(words, neighbor_x, y + heading, heading);
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        const auto& [distance, index] = neighbors[i];
        const double x = neighbor_x + int(i) % neighbors_in_row * (neighbor_side + page_gap);
        const double top = y + heading + 40 + int(i) / neighbors_in_row * neighbor_pitch;
        const double middle = x + neighbor_side / 2;
        const int label = answers.labels[index];
        canvas.text(std::to_string(label), middle, top - 8, 14,
                    !answer.label            ? ink
                    : *answer.label == label ? good
                                             : bad,
                    Side::center, 0.16);
        framed(canvas, gray_mat(DigitImage::side, DigitImage::side, answers.train.row(index)), x, top,
               neighbor_side, std::string("no. ").append(std::to_string(index)));
        canvas.text(distance_text(measure, distance), middle, top + neighbor_side + 2 * caption_size + 18,
                    caption_size, faint_ink, Side::center);
    }
    return y + neighbors_height(neighbors.size());
}

std::span<const Neighbor> nearest_of(std::span<const Neighbor> neighbors, std::size_t count) {
    return neighbors.first(std::min(neighbors.size(), count));
}

/// The neighbor as it is compared, with its slant out; on it a dot at each point of the digit that has a gradient, and a
/// line from there to the place in the neighbor that looks like it, if that is another one.
void draw_moves(Canvas& canvas, const RerankSpec& rerank, const std::uint8_t* digit,
                const std::uint8_t* neighbor, double x, double y) {
    constexpr ImageShape shape{DigitImage::side, DigitImage::side};
    const DescriptorLayout layout(shape, rerank);
    const Skew skew = skew_of(moments_of(neighbor, shape), shape,
                              layout.has_gradients ? gradients_slant_part : cells_slant_part);
    std::vector<std::uint8_t> straight;
    for (int row = 0; row < shape.rows; ++row)
        for (int col = 0; col < shape.cols; ++col)
            straight.push_back(deskewed(neighbor, shape, skew, col, row));
    canvas.image(straight.data(), shape.rows, shape.cols, x, y, moves_side);

    const auto descriptor_of = [&](const std::uint8_t* image) {
        return describe(rerank, {image, 1, shape.dim()}, shape, 1).bytes;
    };
    constexpr double pixel = moves_side / DigitImage::side;
    constexpr double middle = 1;  // a point of the grid, like a cell, stands for 2 × 2 pixels
    for (const Move& move : moves(layout, descriptor_of(digit).data(), descriptor_of(neighbor).data())) {
        const double from_x = x + (middle + move.x) * pixel, from_y = y + (middle + move.y) * pixel;
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
                neighbor_x, y + heading, heading);
    double x = neighbor_x;
    for (const Neighbor& neighbor : nearest_of(answer.neighbors, moves_in_row)) {
        draw_moves(canvas, answers.method.rerank, answer.image.pixels.data(),
                   answers.train.row(neighbor.index), x, y + heading + 16);
        canvas.text(rank_before(answer, neighbor), x + moves_side / 2,
                    y + heading + 16 + moves_side + caption_size + 10, caption_size, faint_ink, Side::center);
        x += moves_side + page_gap;
    }
}

/// A picture with one digit: the steps in rows, below them the result and its neighbors.
cv::Mat explain_single(const PictureAnswer& picture, const PictureAnswers& answers) {
    const Answer& answer = picture.digits.at(0);
    const Method& method = answers.method;
    const std::string found =
        symbol_and_guess(answer) + (answer.label ? ", confidence " + percent(answer.confidence, 0) : "");
    const Headline words(file_name(picture.file) + ": " + found, answer.reason);
    const std::span<const Neighbor> neighbors = nearest_of(answer.neighbors, max_neighbors_drawn);
    std::vector<const Step*> steps;  // the result is shown below them
    for (const Step& step : picture.steps)
        if (&step != &picture.steps.back() || step.picture.rows != DigitImage::side) steps.push_back(&step);
    const double top = page_margin + title_size + 28 + (answer.reason.empty() ? 0 : detail_pitch) +
                       words.more_lines(),
                 middle = top + double(divide_up(std::ssize(steps), steps_in_row)) * step_pitch + 6;
    const bool reranked = !answer.candidates.empty();
    const double low = std::max(digit_side + 36, neighbors_height(neighbors.size())) +
                       (reranked ? heading + neighbor_pitch + heading + moves_side + 50 : 0);

    Canvas canvas(page_width, middle + low + page_margin / 2, 3);
    words.draw(canvas, answer.label.has_value());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const int row = int(i) / steps_in_row, col = int(i) % steps_in_row;
        framed(canvas, pixels_of(steps[i]->picture), page_margin + col * (step_side + page_gap),
               top + row * step_pitch, step_side, std::to_string(i + 1) + ". " + steps[i]->name);
    }
    framed(canvas, gray_mat(DigitImage::side, DigitImage::side, answer.image.pixels.data()), page_margin,
           middle, digit_side, std::to_string(steps.size() + 1) + ". 28x28, searched for");
    double y = middle;
    if (reranked)
        y = draw_neighbors(canvas, answer, nearest_of(answer.candidates, neighbors_in_row), answers,
                           method.measure, candidates_heading(answer.candidates.size(), method), y);
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
    std::string sure = digit.label ? short_percent(digit.confidence) : "";
    if (!sure.empty()) sure.pop_back();  // the sign
    const double symbol_width = Canvas::width_of(symbol(digit), height),
                 sure_width = sure.empty() ? 0 : Canvas::width_of(sure, small) + 5;
    Canvas tag(symbol_width + sure_width + 6, height + 6, 4, digit.label ? good : bad);
    tag.text(symbol(digit), 3, height + 3, height, paper, Side::left, 0.16);
    if (!sure.empty()) tag.text(sure, symbol_width + 8, height + 3, small, paper);
    const cv::Mat drawn = tag.picture();
    paste(mat, drawn, {box.x, box.y - drawn.rows >= top ? box.y - drawn.rows : box.y + box.height});
}

cv::Mat explain_page(const PictureAnswer& page) {
    Picture shown;
    if (!page.steps.empty()) shown = page.steps.front().picture;
    const Headline words(file_name(page.file) + ": " + digits_text(page));
    const int left = int(page_margin), top = int(page_margin + title_size + 26 + words.more_lines());
    Canvas canvas(std::max(page_width, shown.cols + 2 * page_margin), top + shown.rows + page_margin, 2);
    words.draw(canvas, !page.digits.empty());
    canvas.box(left - 1, top - 1, shown.cols + 2, shown.rows + 2, frame);
    cv::Mat mat = canvas.picture();
    if (shown.gray.empty()) return mat;
    cv::Mat place = mat(cv::Rect(left, top, shown.cols, shown.rows));
    cv::cvtColor(pixels_of(shown), place, cv::COLOR_GRAY2BGR);
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
    const Headline words(file_name(picture.file) + ": failed", picture.error);
    Canvas canvas(page_width, page_margin * 2 + title_size + detail_pitch + words.more_lines(), 2);
    words.draw(canvas, false);
    return canvas.picture();
}

}  // namespace

void reduce_step(Step& step, bool page) {
    Picture& picture = step.picture;
    const int longest = page ? longest_page : longest_step;
    const int most = std::max(picture.rows, picture.cols);
    if (most <= longest || picture.gray.empty()) return;
    const cv::Mat small = zoomed(pixels_of(picture), double(longest) / most);
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
    return png_of(whole);
}

}  // namespace knn
