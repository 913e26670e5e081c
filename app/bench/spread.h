#pragma once
/// The engines on several devices, or among several ranks.

#include "app/bench/run.h"

namespace knn {

/// Rows of both ways to spread; nothing if there is one device and one rank.
void compare_spread(BenchRun& run, const Workload& work, const std::string& experiment, int k);
std::int64_t spread_rows(const BenchRun& run);

}  // namespace knn
