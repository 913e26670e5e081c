#include "app/view/pad.h"

#include <algorithm>
#include <optional>

namespace knn {

namespace {

bool is_inside(Point at) {
    return at.x >= 0 && at.x < PadDrawing::side && at.y >= 0 && at.y < PadDrawing::side;
}

Point on_pad(Point at) {
    return {std::clamp(at.x, 0, PadDrawing::side - 1), std::clamp(at.y, 0, PadDrawing::side - 1)};
}

enum Key { escape = 27, backspace = 8, keysym_backspace = 0xff08, delete_key = 0xffff };

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
        window_.show(draw_pad(drawing_, answer_ ? &*answer_ : nullptr, answers_, message_));
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

    /// False: quit.
    bool press(int key) {
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
            message_ = save_picture("drawing", drawing_png(drawing_));
        }
        is_changed_ = is_changed_ || had_message || !message_.empty();
        return true;
    }

    void answer() {
        answer_ = drawing_.empty() ? std::nullopt : std::optional(classify_(picture_of(drawing_)));
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

void PadDrawing::press(Point at) {
    if (!is_inside(at)) return;
    strokes_.push_back({at});
    pen_is_down_ = true;
}

void PadDrawing::move(Point at) {
    if (pen_is_down_ && strokes_.back().back() != on_pad(at)) strokes_.back().push_back(on_pad(at));
}

bool PadDrawing::undo() {
    pen_is_down_ = false;
    if (strokes_.empty()) return false;
    strokes_.pop_back();
    return true;
}

void PadDrawing::clear() {
    pen_is_down_ = false;
    strokes_.clear();
}

void show_pad(const PictureAnswers& answers, const std::function<Answer(const Picture&)>& classify) {
    Pad(answers, classify).run();
}

}  // namespace knn
