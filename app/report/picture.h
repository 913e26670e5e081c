#pragma once
/// Pictures, by OpenCV. A build without it links picture_none.cpp, whose functions throw or say so.

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/evaluation.h"

namespace knn {

/// Whether this build can draw at all.
bool pictures_available();

/// The confusion matrix as a PNG: labels, counts, color scale. Throws DataError in a build without OpenCV.
std::vector<std::uint8_t> confusion_png(const Evaluation& evaluation);

/// 8-bit gray pixels, rows × cols without gaps, as a PNG. Throws DataError in a build without OpenCV.
std::vector<std::uint8_t> gray_png(const std::uint8_t* pixels, int rows, int cols);

}  // namespace knn
