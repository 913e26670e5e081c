#pragma once
/// Distances for users, in files and on screen, computed from scores.

#include <string>

#include "classifier/method.h"

namespace knn {

/// "squared distance", "L1 distance", "cosine distance" ..., where there is a transform "... of features".
std::string distance_name(const Method& method);

/// The distance with just enough digits to identify it: for metrics that are not integral (see is_integral)
/// the number whose shortest decimal form is written to files.
double distance_number(const Measure& measure, std::uint32_t score);

/// For display: whole integers, optionally with commas; others rounded, so that columns align.
std::string distance_text(const Measure& measure, std::uint32_t score, bool commas = false);

}  // namespace knn
