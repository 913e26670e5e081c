#pragma once
/// Image formats and windows, in a separate module: they load more than a hundred shared libraries, 60
/// ms of every start, so the program loads them when it first needs one of these functions.

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/picture/picture.h"

namespace knn {

/// Of the left button.
enum class MouseAction { press, move, release };

/// What the module exports, as `extern "C" const PictureModule mnist_knn_pictures`. It is built with the
/// program and loaded by no other. Functions fill `error` (one line, no file name) and return false where
/// something is wrong; none throws.
struct PictureModule {
    /// The first picture in the bytes, as 8-bit gray on white, not turned: EXIF orientation is the caller's,
    /// who passes a TIFF that needs no turn. `damaged` is set if a codec made up for missing or
    /// broken data. `error` stays empty if there was no memory.
    bool (*decode)(const std::uint8_t* bytes, std::size_t size, const Opacity& opacity, Picture& picture,
                   bool& damaged, std::string& error);

    /// Shows rows × cols × (blue, green, red) bytes in the window `name`, created if it does not exist; the
    /// picture sets its size. Qt ends the process if there is no display: look for one first.
    bool (*show)(const char* name, const std::uint8_t* bgr, int rows, int cols, std::string& error);
    /// Waits up to `milliseconds` (0: as long as it takes) and keeps the windows alive meanwhile. The key's
    /// full code (cv::waitKeyEx), or -1.
    int (*wait_key)(int milliseconds);
    /// False once the user has closed the window.
    bool (*is_visible)(const char* name);
    void (*close)(const char* name);
    /// Calls `call(data, action, x, y)` from wait_key for the mouse in the window `name`, which must exist; x, y: pixels of
    /// the picture that is shown.
    void (*watch_mouse)(const char* name, void (*call)(void* data, MouseAction action, int x, int y),
                        void* data);
};

/// Loads the module on the first call: from the program's own folder, or from mnist-knn/ in the library
/// folder of its installation. Throws DataError if it is missing, or if this build has none.
const PictureModule& picture_module();

/// What that exception says of a module that is missing, without loading one that is there; empty: it is there.
std::string missing_picture_module();

}  // namespace knn
