#pragma once
/// A window on the screen, which `view` and `draw` fill.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

}  // namespace knn
