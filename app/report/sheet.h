#pragma once
/// Contact sheets of digits, by OpenCV. A build without it links picture_none.cpp.

#include <cstdint>
#include <vector>

#include "app/report/html.h"

namespace knn {

/// Number of pages for `digits` digits; at least one.
std::int64_t sheet_pages(std::int64_t digits);

/// Page `page` (from 0) of the gallery as a PNG of at most about 1,500 × 1,800 pixels: each digit with
/// "true → predicted", its index and the confidence. Throws DataError in a build without OpenCV.
std::vector<std::uint8_t> sheet_png(const Evaluation& evaluation, const Gallery& gallery, std::int64_t page);

}  // namespace knn
