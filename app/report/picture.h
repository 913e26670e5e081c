#pragma once
/// Pictures, by OpenCV. A build without it links picture_none.cpp, whose functions throw or return false.

#include <cstdint>
#include <vector>

#include "classifier/evaluation.h"

namespace knn {

/// Whether this build can draw at all.
bool pictures_available();

/// The confusion matrix as a PNG of at most about 1,000 × 1,000 pixels for any number of classes: labels,
/// counts if the cells are large enough, color scales. Throws DataError in a build without OpenCV.
std::vector<std::uint8_t> confusion_png(const Evaluation& evaluation);

}  // namespace knn
