#pragma once
/// The state of the window of `view` and how keys change it; independent of any window system.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/evaluation.h"

namespace knn {

/// The window's action after a key.
enum class Reply { nothing, redraw, save, quit };

/// A position in a list of digits.
class Viewer {
  public:
    /// `images`: test images in their order, at least one.
    Viewer(const Evaluation& evaluation, std::vector<std::int64_t> images);

    /// A key by its code: a letter, or else an X11 keysym (as cv::waitKeyEx reports it, with the modifiers
    /// above the low 16 bits).
    Reply press(int key);

    std::int64_t image() const { return shown_[place_]; }
    std::int64_t position() const { return static_cast<std::int64_t>(place_) + 1; }  ///< from 1
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
    std::size_t place_ = 0;
    std::optional<int> filter_;
    bool help_ = false;
    std::string message_;
};

}  // namespace knn
