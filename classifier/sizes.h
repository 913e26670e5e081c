#pragma once
/// The two sizes of a digit in a picture: both are searched, and the nearer one is used.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/picture/digit_image.h"

namespace knn {

/// The pixels of each digit, followed by those of its smaller size if it has one: the rows to search for.
std::vector<std::uint8_t> rows_to_search(std::span<DigitImage* const> digits);

/// Each digit's row in the result of that search. Replaces the pixels of digits whose smaller size is chosen,
/// and clears `smaller` of all.
///
/// The size of 20 pixels is used unless the neighbors of the smaller one are at least 3 % nearer: smaller
/// digits have less ink, and so are slightly nearer to everything. docs/classify.md has the figures.
std::vector<std::int64_t> choose_sizes(std::span<DigitImage* const> digits, const Measure& measure,
                                       const Neighbors& found);

}  // namespace knn
