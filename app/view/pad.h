#pragma once
/// The window of `draw`: what the user draws, its picture, and the window itself.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/view/shown_window.h"
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

// The picture, by OpenCV. A build without it links no_pictures.cpp, which throws.

/// Where the pad lies in the window, in pixels.
inline constexpr int pad_left = 36, pad_top = 84;

/// The pad as a picture, dark ink on white paper, half as wide and high.
Picture picture_of(const PadDrawing& drawing);
/// The same as a PNG.
std::vector<std::uint8_t> drawing_png(const PadDrawing& drawing);

/// The pad, the answer (none: nothing was asked yet), its neighbors, keys and a message. `answers`: the training set and
/// the method.
Frame draw_pad(const PadDrawing& drawing, const Answer* answer, const PictureAnswers& answers,
               const std::string& message);

/// Shows a pad until the user quits or closes the window; `classify` answers the drawing after each stroke. `answers`: the
/// training set and the method. Throws DeviceError, Interrupted, and what `classify` throws.
void show_pad(const PictureAnswers& answers, const std::function<Answer(const Picture&)>& classify);

}  // namespace knn
