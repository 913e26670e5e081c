#pragma once
/// Pixels as a PNG, by zlib: a build without OpenCV writes pages too, and one with it need not load OpenCV's
/// image formats, whose hundred libraries take longer to start than the rest of the program.

#include <cstdint>
#include <vector>

namespace knn {

/// 8-bit gray pixels, rows × cols without gaps, rows and cols at least 1. Throws DataError where zlib fails
/// (no memory).
std::vector<std::uint8_t> gray_png(const std::uint8_t* pixels, int rows, int cols);

/// The same for 8-bit red, green, blue.
std::vector<std::uint8_t> rgb_png(const std::uint8_t* pixels, int rows, int cols);

}  // namespace knn
