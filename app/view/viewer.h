#pragma once
/// The window of `view`: its state, which keys change, its picture, and the window itself.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/view/shown_window.h"
#include "classifier/evaluation.h"

namespace knn {

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
    std::optional<int> filter() const { return filter_; }  ///< the true label of all that are shown
    bool help() const { return help_; }
    const std::string& message() const { return message_; }
    /// Shows a message until the next key.
    void tell(const std::string& message) { message_ = message; }

  private:
    Reply move(std::int64_t by);
    Reply toggle_filter(int label);

    const Evaluation& evaluation_;
    std::vector<std::int64_t> images_, shown_;
    std::int64_t place_ = 0;
    std::optional<int> filter_;
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

}  // namespace knn
