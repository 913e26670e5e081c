// The pictures in the windows of `view` and `draw`.

#include <algorithm>
#include <array>
#include <opencv2/imgproc.hpp>
#include <string>

#include "app/report/canvas.h"
#include "app/report/page.h"
#include "app/report/text.h"
#include "app/view/pad.h"
#include "app/view/viewer.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

constexpr double width = 1000, height = 710, margin = 36;
const Color right_ink = rgb(0x1f5fa6), wrong_ink = rgb(0xb8390d), line_color = rgb(0xe3e8ed);

Frame frame_of(const cv::Mat& picture) {
    return {picture.rows, picture.cols, {picture.datastart, picture.dataend}};
}

/// The last line: a message, or which keys there are.
void draw_foot(Canvas& canvas, const std::string& message, std::span<const char* const> hints) {
    constexpr double base = height - 20;
    if (!message.empty())
        return canvas.text(shortened(message, 11, width - 2 * margin), margin, base, 11, ink, Side::left,
                           0.15);
    double x = margin;
    for (const char* hint : hints) {
        canvas.text(hint, x, base, 10);
        x += Canvas::width_of(hint, 10) + 32;
    }
}

// Of `view`.

constexpr std::array viewer_hints = {"arrows, n, p: move", "0-9: one true label", "s: save", "h: help",
                                     "q: quit"};
constexpr double digit_top = 92, digit_side = 308;  // 11 pixels for each of MNIST's 28
constexpr double facts_left = margin + digit_side + 40, row_top = 448;
constexpr std::size_t max_neighbors = 10, max_votes = 6;
const Color right_bar = rgb(0x8ab6dc), wrong_bar = rgb(0xf2a05f), other_bar = rgb(0xc3ccd6);

/// The color of a label beside this digit.
const Color& ink_of(int label, const PageDigit& digit) {
    return label == digit.label ? right_ink : label == digit.predicted ? wrong_ink : faint_ink;
}

void draw_head(Canvas& canvas, const Evaluation& evaluation, const Viewer& viewer) {
    std::string place = with_commas(viewer.position()) + " of " + with_commas(viewer.count());
    if (viewer.filter()) place += ", true label " + std::to_string(*viewer.filter());
    canvas.text("Test image " + std::to_string(viewer.image()), margin, 52, 18, ink, Side::left, 0.15);
    canvas.text(place, width - margin, 52, 14, ink, Side::right);
    const std::string where = evaluation.data->name + ", k = " + std::to_string(evaluation.method.vote.k) +
                              ", accuracy " + percent(evaluation.score.accuracy);
    canvas.text(shortened(where, 9, width - 2 * margin), margin, 74, 9);
}

void draw_verdict(Canvas& canvas, const PageDigit& digit) {
    constexpr double big = 58, top = digit_top + 4, base = top + 32 + big;
    constexpr double second = facts_left + 230, third = facts_left + 440;
    canvas.text("true", facts_left, top + 10, 11);
    canvas.text("predicted", second, top + 10, 11);
    canvas.text("confidence", third, top + 10, 11);
    const std::string truth = std::to_string(digit.label);
    canvas.text(truth, facts_left, base, big, right_ink, Side::left, 0.12);
    const double from = facts_left + Canvas::width_of(truth, big) + 24;
    canvas.arrow(from, base - 12, std::max(20.0, second - 28 - from), 34, faint_ink);
    canvas.text(std::to_string(digit.predicted), second, base, big, ink_of(digit.predicted, digit),
                Side::left, 0.12);
    canvas.text(fixed(100 * digit.confidence, 0) + "%", third, base, 34, ink, Side::left, 0.11);
}

void draw_votes(Canvas& canvas, int k, const PageDigit& digit) {
    double y = digit_top + 138;
    canvas.text("votes of " + std::to_string(k) + ' ' + noun(k, "neighbor"), facts_left, y, 11);
    constexpr double bar_left = facts_left + 44, bar_room = 430;
    for (std::size_t i = 0; i < std::min(digit.votes.size(), max_votes); ++i) {
        const auto& [label, share] = digit.votes[i];
        y += 26;
        canvas.text(std::to_string(label), facts_left + 30, y, 12, ink_of(label, digit), Side::right, 0.16);
        const double length = std::max(2.0, bar_room * share);
        canvas.box(bar_left, y - 14, length, 16,
                   label == digit.label       ? right_bar
                   : label == digit.predicted ? wrong_bar
                                              : other_bar);
        canvas.text(percent(share, 0), bar_left + length + 10, y, 10, ink);
    }
    if (digit.votes.size() > max_votes)
        canvas.text("and " + std::to_string(digit.votes.size() - max_votes) + " other labels", bar_left,
                    y + 20, 9);
}

void draw_neighbors(Canvas& canvas, const Evaluation& evaluation, const PageDigit& digit) {
    const LabeledImages& train = evaluation.data->train;
    const std::size_t all = digit.neighbors.size(), count = std::min(all, max_neighbors);
    const Measure measure = evaluation.method.neighbor_measure();
    const std::string of_all = "the " + std::to_string(count) + " nearest of " +
                               with_commas(std::int64_t(all)) + " training images that vote, ";
    canvas.box(margin, row_top - 28, width - 2 * margin, 1, line_color);
    canvas.text((all > count ? of_all : "nearest training images, ") + "their labels and " +
                    distance_name(evaluation.method),
                margin, row_top, 11);
    const bool few = count <= 7;
    const double tile = few ? 112 : 78;
    const double step = (width - 2 * margin - tile) / double((few ? 7 : max_neighbors) - 1);
    for (std::size_t i = 0; i < count; ++i) {
        const Neighbor& neighbor = digit.neighbors[i];
        const double x = margin + double(i) * step, y = row_top + 18, middle = x + tile / 2;
        const int label = train.labels.data()[neighbor.index];
        canvas.image(train.images().row(neighbor.index), train.rows, train.cols, x, y, tile);
        canvas.text(std::to_string(label), middle, y + tile + 24, 15, ink_of(label, digit), Side::center,
                    0.16);
        canvas.text(distance_text(measure, neighbor.distance, true), middle, y + tile + 42, 8, ink,
                    Side::center);
        canvas.text(std::string("#").append(std::to_string(neighbor.index)), middle, y + tile + 58, 8,
                    faint_ink, Side::center);
    }
}

void draw_help(Canvas& canvas) {
    struct Line {
        const char *keys, *meaning;
    };
    constexpr std::array lines = {Line{"n, Right, Space", "the next digit"},
                                  Line{"p, Left", "the one before"},
                                  Line{"Page Down, Page Up", "ten further, ten back"},
                                  Line{"Home, End", "the first, the last"},
                                  Line{"0 to 9", "only this true label; again: all"},
                                  Line{"s", "save this picture in the current folder"},
                                  Line{"h", "this help"},
                                  Line{"q, Esc", "quit"}};
    constexpr double panel = 640, x = (width - panel) / 2, y = 120, line = 34;
    constexpr double panel_height = 84 + line * lines.size();
    canvas.box(x - 2, y - 2, panel + 4, panel_height + 4, faint_ink);
    canvas.box(x, y, panel, panel_height, paper);
    canvas.text("Keys", x + 32, y + 48, 18, ink, Side::left, 0.15);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const double base = y + 92 + line * double(i);
        canvas.text(lines[i].keys, x + 32, base, 12, right_ink, Side::left, 0.15);
        canvas.text(lines[i].meaning, x + 250, base, 12, ink);
    }
}

Canvas drawn(const Evaluation& evaluation, const Viewer& viewer) {
    Canvas canvas(width, height, 3);
    const LabeledImages& test = evaluation.data->test;
    const PageDigit digit = page_digit(evaluation, viewer.image());
    draw_head(canvas, evaluation, viewer);
    canvas.image(test.images().row(digit.index), test.rows, test.cols, margin, digit_top, digit_side);
    draw_verdict(canvas, digit);
    draw_votes(canvas, evaluation.method.vote.k, digit);
    draw_neighbors(canvas, evaluation, digit);
    return canvas;
}

// Of `draw`.

constexpr std::array pad_hints = {"draw with the mouse or a pen", "c: clear", "u: undo", "s: save",
                                  "q: quit"};
constexpr double answer_left = pad_left + PadDrawing::side + 40, nearest_top = 330;
constexpr std::size_t max_nearest = 6;
constexpr double tile = 112, tile_step = 138, tile_pitch = 172;
const Color pad_border = rgb(0xc3ccd6);

/// The pad, with the pen's lines in one value.
cv::Mat mat_of(const PadDrawing& drawing) {
    constexpr int paper_gray = 255, ink_gray = 20;
    cv::Mat pad(PadDrawing::side, PadDrawing::side, CV_8U, cv::Scalar(paper_gray));
    for (const Stroke& stroke : drawing.strokes()) {
        std::vector<cv::Point> points;
        for (const Point& point : stroke)
            points.emplace_back(point.x, point.y);
        if (points.size() == 1)
            cv::circle(pad, points[0], PadDrawing::pen / 2, ink_gray, cv::FILLED, cv::LINE_AA);
        cv::polylines(pad, points, false, ink_gray, PadDrawing::pen, cv::LINE_AA);
    }
    return pad;
}

void draw_answer(Canvas& canvas, const Answer& answer) {
    constexpr double big = 96, top = pad_top;
    canvas.text("28x28, searched for", answer_left, top + 8, 9);
    canvas.image(answer.image.pixels.data(), DigitImage::side, DigitImage::side, answer_left, top + 20, 168);
    const double x = answer_left + 210;
    if (!answer.label) {
        canvas.text("?", x, top + 20 + big, big, wrong_ink, Side::left, 0.12);
        canvas.text(shortened(answer.reason, 9, width - margin - answer_left), answer_left, top + 212, 9,
                    wrong_ink);
        return;
    }
    canvas.text(std::to_string(*answer.label), x, top + 20 + big, big, right_ink, Side::left, 0.12);
    canvas.text(percent(answer.confidence, 0), x, top + 20 + big + 44, 22, ink, Side::left, 0.12);
    canvas.text("confidence", x, top + 20 + big + 66, 9);
}

void draw_nearest(Canvas& canvas, const Answer& answer, const PictureAnswers& answers) {
    const std::size_t count = std::min(answer.neighbors.size(), max_nearest);
    if (count == 0) return;
    canvas.text("nearest training images", answer_left, nearest_top, 11);
    for (std::size_t i = 0; i < count; ++i) {
        const Neighbor& neighbor = answer.neighbors[i];
        const std::size_t row = i / 3, col = i % 3;
        const double x = answer_left + double(col) * tile_step,
                     y = nearest_top + 16 + double(row) * tile_pitch;
        const int label = answers.labels[neighbor.index];
        canvas.image(answers.train.row(neighbor.index), DigitImage::side, DigitImage::side, x, y, tile);
        canvas.text(std::to_string(label), x + 8, y + tile + 22, 14,
                    answer.label == label ? right_ink : wrong_ink, Side::left, 0.16);
        canvas.text(distance_text(answers.method.neighbor_measure(), neighbor.distance, true), x + tile,
                    y + tile + 20, 8, faint_ink, Side::right);
    }
}

/// A quarter of the pixels: the digit is found in a third of the time, and has 28×28 in the end.
cv::Mat half_of(const PadDrawing& drawing) {
    cv::Mat half;
    cv::resize(mat_of(drawing), half, {}, 0.5, 0.5, cv::INTER_AREA);
    return half;
}

}  // namespace

Frame draw_scene(const Evaluation& evaluation, const Viewer& viewer) {
    Canvas canvas = drawn(evaluation, viewer);
    canvas.box(margin, height - 46, width - 2 * margin, 1, line_color);
    draw_foot(canvas, viewer.message(), viewer_hints);
    if (viewer.help()) draw_help(canvas);
    return frame_of(canvas.picture());
}

std::vector<std::uint8_t> scene_png(const Evaluation& evaluation, const Viewer& viewer) {
    return png_of(drawn(evaluation, viewer).picture());
}

Picture picture_of(const PadDrawing& drawing) {
    const cv::Mat pad = half_of(drawing);
    return {pad.rows, pad.cols, {pad.datastart, pad.dataend}};
}

std::vector<std::uint8_t> drawing_png(const PadDrawing& drawing) {
    return png_of(half_of(drawing));
}

Frame draw_pad(const PadDrawing& drawing, const Answer* answer, const PictureAnswers& answers,
               const std::string& message) {
    Canvas canvas(width, height, 2);
    canvas.text("Draw a digit", margin, 52, 18, ink, Side::left, 0.15);
    if (answer != nullptr) {
        draw_answer(canvas, *answer);
        draw_nearest(canvas, *answer, answers);
    }
    draw_foot(canvas, message, pad_hints);
    canvas.box(pad_left - 2, pad_top - 2, PadDrawing::side + 4, PadDrawing::side + 4, pad_border);
    const cv::Mat frame = canvas.picture();
    cv::Mat pad;
    cv::cvtColor(mat_of(drawing), pad, cv::COLOR_GRAY2BGR);
    pad.copyTo(frame(cv::Rect(pad_left, pad_top, PadDrawing::side, PadDrawing::side)));
    return frame_of(frame);
}

}  // namespace knn
