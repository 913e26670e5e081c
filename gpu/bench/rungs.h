#pragma once

#include <span>

#include "gpu/distance/distance.h"
#include "gpu/select/select.h"

namespace knn::gpu {

/// Distance kernels that only `bench` runs, because each repeats a step of a paper: the rungs of seed 003, §3, and
/// the tiles of seed 004, §5. They must give the same answers as the others.
std::span<const DistanceKernel* const> rung_table();

/// The same for queries that are the first training points: one of each two equal distances is computed, and that of a
/// point to itself is `excluded_distance` (seed 004).
std::span<const DistanceKernel* const> half_table();

/// Selectors that only `bench` runs: each writes the k-th neighbor of a row in its place, and nothing else (seed 001,
/// Fig. 7, and Alabi et al. 2012, whose programs find the k-th value alone).
std::span<const Selector* const> kth_table();

/// Sorts of seed 003 that are wrong (§2), and return what cpu::unpadded_bitonic returns.
std::span<const Selector* const> unpadded_table();

}  // namespace knn::gpu
