#pragma once
/// Seed 003's versions before its last: without padding (§2), and before the improvements as a whole (§4.1).

#include <span>

#include "app/bench/data.h"
#include "app/bench/run.h"

namespace knn {

/// How many test images of the data set, from the first on, these votes label right.
std::int64_t count_right(std::span<const Vote> votes, const Dataset& data);

/// Adds both tables. The arrays keep the distances of `ladder_scalar`.
void previous_versions(BenchRun& run, const BenchData& data, BenchArrays& arrays, int k);

}  // namespace knn
