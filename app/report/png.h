#pragma once
/// Gray pixels as a PNG, by zlib: the page needs no more, and a build without OpenCV writes pages too.

#include <cstdint>
#include <vector>

namespace knn {

/// 8-bit gray pixels, rows × cols without gaps, rows and cols at least 1. Throws DataError where zlib fails
/// (no memory).
std::vector<std::uint8_t> gray_png(const std::uint8_t* pixels, int rows, int cols);

}  // namespace knn
