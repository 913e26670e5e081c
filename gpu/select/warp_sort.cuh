#pragma once
/// A bitonic network in registers: a key on each lane of a warp.

#include "gpu/select/warp_minimum.cuh"

namespace knn::gpu {

/// One step: each lane and the one `step` away keep the smaller on the lane below where `ascending`, else
/// above.
__device__ inline NeighborKey compare_exchange(NeighborKey key, int step, bool ascending, int lane) {
    const NeighborKey other = __shfl_xor_sync(all_lanes, key, step);
    const bool keeps_smaller = ((lane & step) == 0) == ascending;
    return (other < key) == keeps_smaller ? other : key;
}

/// The warp's keys, ascending by lane.
__device__ inline NeighborKey warp_sort(NeighborKey key, int lane) {
#pragma unroll
    for (int length = 2; length <= warp_size; length *= 2)
#pragma unroll
        for (int step = length / 2; step > 0; step /= 2)
            key = compare_exchange(key, step, (lane & length) == 0, lane);
    return key;
}

/// The 32 smallest of two ascending sequences, ascending.
__device__ inline NeighborKey warp_merge(NeighborKey a, NeighborKey b, int lane) {
    NeighborKey key = min(a, __shfl_sync(all_lanes, b, warp_size - 1 - lane));
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2)
        key = compare_exchange(key, step, true, lane);
    return key;
}

}  // namespace knn::gpu
