#pragma once
/// The window of `draw`: what the user draws, and the window itself.

#include <algorithm>
#include <functional>
#include <vector>

#include "classifier/picture_answers.h"
#include "data/picture/picture.h"

namespace knn {

struct Point {
    int x = 0, y = 0;
    friend bool operator==(const Point&, const Point&) = default;
};

/// A line of the pen; one point is a dot.
using Stroke = std::vector<Point>;

/// Strokes on a square pad; independent of any window system.
class PadDrawing {
  public:
    static constexpr int side = 480;  ///< pixels of the pad
    static constexpr int pen = 34;    ///< width of a stroke

    /// The pen goes down, moves, and is lifted. Points outside of the pad are moved to its border; a stroke begins inside.
    void press(Point at) {
        if (on_pad(at) != at) return;
        strokes_.push_back({at});
        pen_is_down_ = true;
    }
    void move(Point at) {
        if (pen_is_down_ && strokes_.back().back() != on_pad(at)) strokes_.back().push_back(on_pad(at));
    }
    void lift() { pen_is_down_ = false; }

    /// Without the last stroke. False if there is none.
    bool undo() {
        lift();
        if (strokes_.empty()) return false;
        strokes_.pop_back();
        return true;
    }
    void clear() {
        lift();
        strokes_.clear();
    }

    bool empty() const { return strokes_.empty(); }
    bool pen_is_down() const { return pen_is_down_; }
    const std::vector<Stroke>& strokes() const { return strokes_; }

  private:
    static Point on_pad(Point at) { return {std::clamp(at.x, 0, side - 1), std::clamp(at.y, 0, side - 1)}; }

    std::vector<Stroke> strokes_;
    bool pen_is_down_ = false;
};

/// Shows a pad until the user quits or closes the window; `classify` answers the drawing after each stroke. `answers`: the
/// training set and the method. Throws DeviceError, Interrupted, and what `classify` throws. A build without OpenCV links
/// no_pictures.cpp, which throws.
void show_pad(const PictureAnswers& answers, const std::function<Answer(const Picture&)>& classify);

}  // namespace knn
