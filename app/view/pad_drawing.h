#pragma once
/// What the user draws in the window of `draw`; independent of any window system.

#include <vector>

namespace knn {

struct Point {
    int x = 0, y = 0;
    friend bool operator==(const Point&, const Point&) = default;
};

/// A line of the pen; one point is a dot.
using Stroke = std::vector<Point>;

/// Strokes on a square pad.
class PadDrawing {
  public:
    static constexpr int side = 480;  ///< pixels of the pad
    static constexpr int pen = 34;    ///< width of a stroke

    /// The pen goes down, moves, and is lifted. Points outside of the pad are moved to its border; a stroke begins inside.
    void press(Point at);
    void move(Point at);
    void lift() { pen_is_down_ = false; }

    /// Without the last stroke. False if there is none.
    bool undo();
    void clear();

    bool empty() const { return strokes_.empty(); }
    bool pen_is_down() const { return pen_is_down_; }
    const std::vector<Stroke>& strokes() const { return strokes_; }

  private:
    std::vector<Stroke> strokes_;
    bool pen_is_down_ = false;
};

}  // namespace knn
