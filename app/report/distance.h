#pragma once
/// Distances as users read them: what a score stands for, in files and on screens.

#include <string>

#include "data/core/metric.h"

namespace knn {

/// "squared distance", "L1 distance", "cosine distance" ...
const char* distance_name(Metric metric);

/// The distance with enough digits to tell it from all others, and no more: for metrics that are no integers
/// (see is_integral) the number whose shortest decimal form is written to files.
double distance_number(const Measure& measure, std::uint32_t score);

/// For people: integers whole, with commas where asked for; others rounded, so that columns line up.
std::string distance_text(const Measure& measure, std::uint32_t score, bool commas = false);

}  // namespace knn
