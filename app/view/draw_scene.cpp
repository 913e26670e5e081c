#include "app/view/pad.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "app/report/canvas.h"
#include "app/report/distance.h"
#include "app/report/png.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr double width = 1000, height = 710, margin = pad_left;
constexpr double facts_left = pad_left + PadDrawing::side + 40, row_top = 330;
constexpr std::size_t max_neighbors = 6;
constexpr double tile = 112, tile_step = 138, tile_pitch = 172;
const Color line_color = rgb(0xc3ccd6), answer_ink = rgb(0x1f5fa6), other_ink = rgb(0xb8390d);

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
    canvas.text("28x28, searched for", facts_left, top + 8, 9, faint_ink, Side::left);
    canvas.image(answer.image.pixels.data(), DigitImage::side, DigitImage::side, facts_left, top + 20, 168);
    const double x = facts_left + 210;
    if (!answer.label) {
        canvas.text("?", x, top + 20 + big, big, other_ink, Side::left, 0.12);
        canvas.text(shortened(printable(answer.reason), 9, width - margin - facts_left), facts_left,
                    top + 212, 9, other_ink, Side::left);
        return;
    }
    canvas.text(std::to_string(*answer.label), x, top + 20 + big, big, answer_ink, Side::left, 0.12);
    canvas.text(percent(answer.confidence, 0), x, top + 20 + big + 44, 22, ink, Side::left, 0.12);
    canvas.text("confidence", x, top + 20 + big + 66, 9, faint_ink, Side::left);
}

void draw_nearest(Canvas& canvas, const Answer& answer, const PictureAnswers& answers) {
    const std::size_t count = std::min(answer.neighbors.size(), max_neighbors);
    if (count == 0) return;
    canvas.text("nearest training images", facts_left, row_top, 11, faint_ink, Side::left);
    for (std::size_t i = 0; i < count; ++i) {
        const Neighbor& neighbor = answer.neighbors[i];
        const std::size_t row = i / 3, col = i % 3;
        const double x = facts_left + double(col) * tile_step, y = row_top + 16 + double(row) * tile_pitch;
        const int label = answers.labels[neighbor.index];
        canvas.image(answers.train.row(neighbor.index), DigitImage::side, DigitImage::side, x, y, tile);
        canvas.text(std::to_string(label), x + 8, y + tile + 22, 14,
                    answer.label == label ? answer_ink : other_ink, Side::left, 0.16);
        canvas.text(distance_text(answers.method.neighbor_measure(), neighbor.distance, true), x + tile,
                    y + tile + 20, 8, faint_ink, Side::right);
    }
}

void draw_foot(Canvas& canvas, const std::string& message) {
    constexpr double base = height - 20;
    if (!message.empty())
        return canvas.text(shortened(printable(message), 11, width - 2 * margin), margin, base, 11, ink,
                           Side::left, 0.15);
    double x = margin;
    for (const char* hint : {"draw with the mouse or a pen", "c: clear", "u: undo", "s: save", "q: quit"}) {
        canvas.text(hint, x, base, 10, faint_ink, Side::left);
        x += Canvas::width_of(hint, 10) + 32;
    }
}

/// A quarter of the pixels: the digit is found in a third of the time, and has 28×28 in the end.
cv::Mat half_of(const PadDrawing& drawing) {
    cv::Mat half;
    cv::resize(mat_of(drawing), half, {}, 0.5, 0.5, cv::INTER_AREA);
    return half;
}

}  // namespace

Picture picture_of(const PadDrawing& drawing) {
    const cv::Mat pad = half_of(drawing);
    return {pad.rows, pad.cols, {pad.datastart, pad.dataend}};
}

std::vector<std::uint8_t> drawing_png(const PadDrawing& drawing) {
    cv::Mat rgb;
    cv::cvtColor(half_of(drawing), rgb, cv::COLOR_GRAY2RGB);
    return rgb_png(rgb.data, rgb.rows, rgb.cols);
}

Frame draw_pad(const PadDrawing& drawing, const Answer* answer, const PictureAnswers& answers,
               const std::string& message) {
    Canvas canvas(width, height, 2);
    canvas.text("Draw a digit", margin, 52, 18, ink, Side::left, 0.15);
    if (answer != nullptr) {
        draw_answer(canvas, *answer);
        draw_nearest(canvas, *answer, answers);
    }
    draw_foot(canvas, message);
    canvas.box(pad_left - 2, pad_top - 2, PadDrawing::side + 4, PadDrawing::side + 4, line_color);
    const cv::Mat frame = canvas.picture();
    cv::Mat pad;
    cv::cvtColor(mat_of(drawing), pad, cv::COLOR_GRAY2BGR);
    pad.copyTo(frame(cv::Rect(pad_left, pad_top, PadDrawing::side, PadDrawing::side)));
    return {frame.rows, frame.cols, {frame.datastart, frame.dataend}};
}

}  // namespace knn
