#pragma once
/// What app/ calls of the GPU to measure it. Plain C++: no CUDA type crosses this line.

#include <memory>
#include <string>
#include <vector>

#include "data/core/bench.h"

namespace knn::gpu {

/// Distance kernels that stand in no table because they repeat a step of a paper, not to be used: the rungs
/// of seed 003, §3, and the tiles of seed 004, §5.
std::vector<std::string> rung_kernels();

/// What this device reaches now. Throws DeviceError.
Limits measure_limits(int device);

/// The images of the request on its device, and room for a matrix of as many queries as fit; distances are by
/// its metric. Its k is the largest that will be selected; strategies are named later. The watch outlives the
/// stand; the images do too.
std::unique_ptr<Stand> stand(const SearchRequest& request, const Watch& watch);

/// A matrix of uniformly random values and nothing else: only selection can be timed. The same seed gives the
/// same values.
std::unique_ptr<Stand> random_stand(int device, const Problem& problem, std::uint64_t seed,
                                    const Watch& watch);

}  // namespace knn::gpu
