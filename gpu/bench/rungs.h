#pragma once

#include <span>

#include "gpu/distance/distance.h"

namespace knn::gpu {

/// The kernels that only `bench` runs (gpu/bench/bench.h). They must give the same answers as the others.
std::span<const DistanceKernel* const> rung_table();

}  // namespace knn::gpu
