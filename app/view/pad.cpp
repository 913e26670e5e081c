
#include "app/view/shown_window.h"

#include <array>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <string>

#include "app/report/answers.h"
#include "app/report/canvas.h"
#include "app/report/text.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr std::array pad_hints = {"draw with the mouse or a pen", "c: clear", "u: undo", "s: save",
                                  "q: quit"};
constexpr int pad_left = 36, pad_top = 84;  // where the pad lies in the window, in pixels
constexpr double answer_left = pad_left + PadDrawing::side + 40, nearest_top = 330;
constexpr std::size_t max_nearest = 6;
constexpr double nearest_side = 112, tile_step = 138, tile_pitch = 172;
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

/// At most two lines of a text of words.
void draw_lines(Canvas& canvas, const std::string& text, double size, double width, double x, double y) {
    std::size_t end = text.size();
    while (end < text.npos && Canvas::width_of(text.substr(0, end), size) > width)
        end = text.rfind(' ', end - 1);
    const bool is_split = end < text.size();
    canvas.text(is_split ? text.substr(0, end) : shortened(text, size, width), x, y, size, wrong_ink);
    if (is_split)
        canvas.text(shortened(text.substr(end + 1), size, width), x, y + 1.6 * size, size, wrong_ink);
}

void draw_answer(Canvas& canvas, const Answer& answer) {
    constexpr double big = 96, top = pad_top;
    canvas.text("28x28, searched for", answer_left, top + 8, 9);
    canvas.image(answer.image.pixels.data(), DigitImage::side, DigitImage::side, answer_left, top + 20, 168);
    const double x = answer_left + 210;
    if (!answer.label) {
        canvas.text("?", x, top + 20 + big, big, wrong_ink, Side::left, 0.12);
        if (answer.guess)
            canvas.text(symbol_and_guess(answer).substr(2), x, top + 20 + big + 44, 22, ink, Side::left,
                        0.12);
        draw_lines(canvas, answer.reason, 9, window_width - window_margin - answer_left, answer_left,
                   top + 212);
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
        canvas.image(answers.train.row(neighbor.index), DigitImage::side, DigitImage::side, x, y,
                     nearest_side);
        canvas.text(std::to_string(label), x + 8, y + nearest_side + 22, 14,
                    answer.label == label ? right_ink : wrong_ink, Side::left, 0.16);
        canvas.text(distance_text(answers.method.neighbor_measure(), neighbor.distance, true),
                    x + nearest_side, y + nearest_side + 20, 8, faint_ink, Side::right);
    }
}

/// A quarter of the pixels: the digit is found in a third of the time, and has 28×28 in the end.
cv::Mat half_of(const PadDrawing& drawing) {
    return zoomed(mat_of(drawing), 0.5);
}

class Pad {
  public:
    Pad(const PictureAnswers& answers, const std::function<Answer(const Picture&)>& classify)
        : answers_(answers), classify_(classify), window_("mnist-knn draw", "") {}

    void run() {
        show();
        window_.watch_mouse(
            [](void* pad, MouseAction action, int x, int y) {
                static_cast<Pad*>(pad)->mouse(action, {x - pad_left, y - pad_top});
            },
            this);
        while (true) {
            const int key = window_.wait_key();
            if (!window_.is_visible()) return;
            if (!press(key)) return;
            if (is_stale_) answer();
            if (is_changed_) show();
        }
    }

  private:
    void show() {
        window_.show(draw_pad(drawing_, answer_, answers_, message_));
        is_changed_ = false;
    }

    /// Called while the window waits for a key: drawing and classifying come afterwards.
    void mouse(MouseAction action, Point at) {
        if (action == MouseAction::press) {
            drawing_.press(at);
            message_.clear();
        } else if (drawing_.pen_is_down()) {
            drawing_.move(at);
            if (action == MouseAction::release) {
                drawing_.lift();
                is_stale_ = true;
            }
        }
        is_changed_ = true;
    }

    bool press(int key) {
        constexpr int escape = 27, backspace = 8, keysym_backspace = 0xff08, delete_key = 0xffff;
        if (key < 0) return true;
        key &= 0xffff;
        if (key == 'q' || key == 'Q' || key == escape) return false;
        const bool had_message = !message_.empty();
        message_.clear();
        if (key == 'c' || key == 'C' || key == delete_key) {
            drawing_.clear();
            is_stale_ = true;
        } else if (key == 'u' || key == 'U' || key == backspace || key == keysym_backspace) {
            is_stale_ = drawing_.undo();
        } else if (key == 's' || key == 'S') {
            message_ = save_picture("drawing", png_of(half_of(drawing_)));
        }
        is_changed_ = is_changed_ || had_message || !message_.empty();
        return true;
    }

    void answer() {
        answer_.reset();
        if (!drawing_.empty()) {
            const cv::Mat pad = half_of(drawing_);
            answer_ = classify_({pad.rows, pad.cols, {pad.datastart, pad.dataend}});
        }
        is_stale_ = false;
        is_changed_ = true;
    }

    const PictureAnswers& answers_;
    const std::function<Answer(const Picture&)>& classify_;
    ShownWindow window_;
    PadDrawing drawing_;
    std::optional<Answer> answer_;
    std::string message_;
    bool is_stale_ = false;    // the answer is not of this drawing
    bool is_changed_ = false;  // the window does not show what there is
};

}  // namespace

Frame draw_pad(const PadDrawing& drawing, const std::optional<Answer>& answer, const PictureAnswers& answers,
               const std::string& message) {
    Canvas canvas(window_width, window_height, 2);
    canvas.text("Draw a digit", window_margin, 52, 18, ink, Side::left, 0.15);
    if (answer) {
        draw_answer(canvas, *answer);
        draw_nearest(canvas, *answer, answers);
    }
    draw_foot(canvas, message, pad_hints);
    canvas.box(pad_left - 2, pad_top - 2, PadDrawing::side + 4, PadDrawing::side + 4, pad_border);
    const cv::Mat frame = canvas.picture();
    cv::Mat pad;
    cv::cvtColor(mat_of(drawing), pad, cv::COLOR_GRAY2BGR);
    pad.copyTo(frame(cv::Rect({pad_left, pad_top}, pad.size())));
    return {frame.rows, frame.cols, {frame.datastart, frame.dataend}};
}

void show_pad(const PictureAnswers& answers, const std::function<Answer(const Picture&)>& classify) {
    Pad(answers, classify).run();
}

}  // namespace knn
