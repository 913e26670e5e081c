#pragma once
/// Pixels as a PNG, by zlib: so that builds without OpenCV can write pages, and builds with it need not load
/// OpenCV's image formats, whose hundred libraries take longer to load than the rest of the program.

#include <cstdint>
#include <vector>

namespace knn {

/// 8-bit gray pixels, rows × cols, contiguous, rows and cols at least 1. Throws DataError if zlib fails (no
/// memory).
std::vector<std::uint8_t> gray_png(const std::uint8_t* pixels, int rows, int cols);

/// The same for 8-bit red, green, blue.
std::vector<std::uint8_t> rgb_png(const std::uint8_t* pixels, int rows, int cols);

}  // namespace knn
