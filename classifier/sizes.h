#pragma once
/// The two sizes of a digit that was found in a picture: both are searched for, and the nearer is kept.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/picture/digit_image.h"

namespace knn {

/// The pixels of each digit, followed by those of its smaller size if it has one: the rows to search for.
std::vector<std::uint8_t> rows_to_search(std::span<DigitImage* const> digits);

/// Each digit's row in the answer of that search. A digit whose smaller size is chosen has these pixels from
/// now on; `smaller` is gone from all.
///
/// The usual size of 20 pixels stays unless the neighbors of the smaller one are at least 3 % nearer: smaller
/// digits have less ink, and so are a little nearer to everything. docs/classify.md has the figures.
std::vector<std::int64_t> choose_sizes(std::span<DigitImage* const> digits, const Measure& measure,
                                       const Neighbors& found);

}  // namespace knn
