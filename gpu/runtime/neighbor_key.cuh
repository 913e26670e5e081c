#pragma once
/// A neighbor as one number, in the order of neighbors. Selectors and the fused search sort these; `bitonic` has
/// its own narrower keys.

#include <cassert>
#include <cstdint>

#include "data/core/neighbors.h"

namespace knn::gpu {

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

}  // namespace knn::gpu
