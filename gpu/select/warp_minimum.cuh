#pragma once
/// Keys and reductions that selectors with a warp for each query share.

#include <cassert>
#include <cstdint>

#include "data/core/neighbors.h"

namespace knn::gpu {

inline constexpr int warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

/// distance << 32 | index; no neighbor has the key no_key, because indices stop below 2³² − 1.
using NeighborKey = unsigned long long;
inline constexpr NeighborKey no_key = ~NeighborKey{0};

__device__ inline NeighborKey key_of(std::uint32_t distance, std::int64_t index) {
    assert(index >= 0 && index < 0xffffffff);
    return NeighborKey{distance} << 32 | static_cast<std::uint32_t>(index);
}
__device__ inline Neighbor neighbor_of(NeighborKey key) {
    return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
}

/// The smallest, or largest, of the warp's keys, on every lane.
__device__ inline NeighborKey warp_min(NeighborKey key) {
    for (int step = warp_size / 2; step > 0; step /= 2)
        key = min(key, __shfl_xor_sync(all_lanes, key, step));
    return key;
}
__device__ inline NeighborKey warp_max(NeighborKey key) {
    for (int step = warp_size / 2; step > 0; step /= 2)
        key = max(key, __shfl_xor_sync(all_lanes, key, step));
    return key;
}

}  // namespace knn::gpu
