#pragma once
/// Pixels as a PNG, by zlib: so that builds without OpenCV can write pages, and builds with it need not load
/// OpenCV's image formats, whose hundred libraries take longer to load than the rest of the program.

#include <cstdint>
#include <vector>

namespace knn {

/// 8-bit pixels of one channel (gray) or three (red, green, blue), rows × cols, contiguous, rows and cols at least 1.
/// Throws DataError if zlib fails (no memory).
std::vector<std::uint8_t> encode_png(const std::uint8_t* pixels, int rows, int cols, int channels);

}  // namespace knn
