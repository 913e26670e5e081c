#pragma once
/// A decoded picture.

#include <cstdint>
#include <vector>

namespace knn {

/// rows × cols of 8-bit luminance without gaps, 255 = white. Upright (EXIF orientation applied), transparency
/// composited on white, color and 16-bit samples reduced to 8-bit gray.
struct Picture {
    int rows = 0, cols = 0;
    std::vector<std::uint8_t> gray;
};

/// What a file says of the opacity of its pixels and a codec does not.
struct Opacity {
    bool none = false;      ///< a fourth sample is none
    bool weighted = false;  ///< colors are multiplied with it already
    int transparent = -1;   ///< the gray that shows the paper, as decoded
};

/// A rectangle of a picture, in pixels.
struct Box {
    int x = 0, y = 0, w = 0, h = 0;
};

}  // namespace knn
