#pragma once

#include <span>

#include "gpu/distance/distance.h"

namespace knn::gpu {

/// Distance kernels that only `bench` runs, because each repeats a step of a paper: the rungs of seed 003, §3, and
/// the tiles of seed 004, §5. They must give the same answers as the others.
std::span<const DistanceKernel* const> rung_table();

}  // namespace knn::gpu
