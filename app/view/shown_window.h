#pragma once
/// Windows on the screen: what those of `view` and `draw` have in common, then each.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classifier/evaluation.h"
#include "classifier/picture_answers.h"
#include "data/picture/picture.h"
#include "data/picture/picture_module.h"

namespace knn {

/// rows × cols contiguous pixels of 8-bit blue, green, red.
struct Frame {
    int rows = 0, cols = 0;
    std::vector<std::uint8_t> bgr;
};

/// Throws DeviceError if no window can be opened, DataError if the build or the installation has no window support; both
/// name `other_forms`, which do without. Call it before a search, to fail early.
void check_window(const std::string& other_forms);

class ShownWindow {
  public:
    /// Appears with the first frame.
    ShownWindow(const char* title, std::string other_forms);
    ShownWindow(const ShownWindow&) = delete;
    ShownWindow& operator=(const ShownWindow&) = delete;
    ~ShownWindow();

    /// Throws DeviceError.
    void show(const Frame& frame);
    /// The next key, or -1 after some time. Throws Interrupted.
    int wait_key();
    /// False once the user has closed it.
    bool is_visible() const { return module_.is_visible(title_); }
    /// After the first frame.
    void watch_mouse(void (*call)(void* data, MouseAction action, int x, int y), void* data) {
        module_.watch_mouse(title_, call, data);
    }

  private:
    const PictureModule& module_;
    const char* title_;
    std::string other_forms_;
};

inline constexpr double window_width = 1000, window_height = 710, window_margin = 36;

/// The last line of a window, by OpenCV: a message, or which keys there are.
void draw_foot(class Canvas& canvas, const std::string& message, std::span<const char* const> hints);

/// Writes a PNG to a new file in the current folder, STEM.png, STEM-2.png ...; a sentence about it, or about what failed.
std::string save_picture(const std::string& stem, std::span<const std::uint8_t> png);

// The window of `view`: its state, which keys change, its picture, and the window itself.

/// The window's action after a key.
enum class Reply { nothing, redraw, save, quit };

/// A position in a list of digits; independent of any window system.
class Viewer {
  public:
    /// `images`: test images in their order, at least one.
    Viewer(const Evaluation& evaluation, std::vector<std::int64_t> images);

    /// A key by its code: a letter, or else an X11 keysym (as cv::waitKeyEx reports it, with the modifiers
    /// above the low 16 bits).
    Reply press(int key);

    std::int64_t image() const { return shown_[static_cast<std::size_t>(place_)]; }
    std::int64_t position() const { return place_ + 1; }  ///< from 1
    std::int64_t count() const { return std::ssize(shown_); }
    const std::optional<std::string>& filter() const {
        return filter_;
    }  ///< the true label of all that are shown
    bool help() const { return help_; }
    const std::string& message() const { return message_; }
    /// Shows a message until the next key.
    void tell(const std::string& message) { message_ = message; }

  private:
    Reply move(std::int64_t by);
    Reply toggle_filter(const std::string& label);

    const Evaluation& evaluation_;
    std::vector<std::int64_t> images_, shown_;
    std::int64_t place_ = 0;
    std::optional<std::string> filter_;
    bool help_ = false;
    std::string message_;
};

// The picture, by OpenCV. A build without it links no_pictures.cpp, which throws.

/// The digit enlarged, its labels and votes, its neighbors, the position in the list, keys, help and message.
Frame draw_scene(const Evaluation& evaluation, const Viewer& viewer);

/// The same as a PNG to save: without keys, help and message.
std::vector<std::uint8_t> scene_png(const Evaluation& evaluation, const Viewer& viewer);

/// What `view` can do instead, for messages.
inline constexpr const char* view_without_window = ", or one of --sheet OUT.png, --html OUT.html and --text";

/// Shows these test images, at least one, until the user quits or closes the window. Throws DeviceError, Interrupted.
void show_window(const Evaluation& evaluation, const std::vector<std::int64_t>& images);

// The window of `draw`: what the user draws, and the window itself.

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

/// What the window shows: the drawing, its answer with the nearest of the training set, keys and message. A build without OpenCV
/// throws.
Frame draw_pad(const PadDrawing& drawing, const std::optional<Answer>& answer, const PictureAnswers& answers,
               const std::string& message);

/// Shows a pad until the user quits or closes the window; `classify` answers the drawing after each stroke. `answers`: the
/// training set and the method. Throws DeviceError, Interrupted, and what `classify` throws. A build without OpenCV links
/// no_pictures.cpp, which throws.
void show_pad(const PictureAnswers& answers, const std::function<Answer(const Picture&)>& classify);

}  // namespace knn
