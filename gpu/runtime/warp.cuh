#pragma once
/// Neighbors as sortable keys, and warp primitives.

#include <cassert>
#include <cstdint>

#include "data/core/neighbors.h"

namespace knn::gpu {

/// A neighbor as one number, in the order of neighbors: distance << 32 | index. No neighbor has the key no_key, because
/// indices stop below 2³² − 1. Selectors and the fused search sort these; `bitonic` has its own narrower keys.
using NeighborKey = unsigned long long;
inline constexpr NeighborKey no_key = ~NeighborKey{0};
inline constexpr std::int64_t key_bytes = sizeof(NeighborKey);

__device__ inline NeighborKey key_of(std::uint32_t distance, std::int64_t index) {
    assert(index >= 0 && index < 0xffffffff);
    return NeighborKey{distance} << 32 | static_cast<std::uint32_t>(index);
}
__device__ inline Neighbor neighbor_of(NeighborKey key) {
    return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
}

/// f(key) of the distances first .. n − 1 of a row, each by one of `threads` threads of which this is number `thread`: `ahead`
/// loads are in flight while the keys before are used. All call f equally often; no_key stands behind the end.
template <int threads, int ahead, class F>
__device__ inline void for_keys(const std::uint32_t* row, std::int64_t first, std::int64_t n, int thread,
                                F f) {
    for (std::int64_t begin = first; begin < n; begin += ahead * threads) {
        NeighborKey key[ahead];
#pragma unroll
        for (int i = 0; i < ahead; ++i) {
            const std::int64_t t = begin + i * threads + thread;
            key[i] = t < n ? key_of(row[t], t) : no_key;
        }
#pragma unroll
        for (int i = 0; i < ahead; ++i)
            f(key[i]);
    }
}

// What follows is called by the whole warp.

inline constexpr int warp_size = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

/// Reductions over all lanes; every lane gets the result.
template <class T, class Combine>
__device__ inline T warp_reduce(T value, Combine combine) {
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2)
        value = combine(value, __shfl_xor_sync(all_lanes, value, step));
    return value;
}
template <class T>
__device__ inline T warp_sum(T value) {
    return warp_reduce(value, [](T a, T b) { return a + b; });
}
__device__ inline NeighborKey warp_min(NeighborKey key) {
    return warp_reduce(key, [](NeighborKey a, NeighborKey b) { return min(a, b); });
}
__device__ inline NeighborKey warp_max(NeighborKey key) {
    return warp_reduce(key, [](NeighborKey a, NeighborKey b) { return max(a, b); });
}
__device__ inline std::int32_t warp_max(std::int32_t value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(all_lanes, value);
#else
    return warp_reduce(value, [](std::int32_t a, std::int32_t b) { return max(a, b); });
#endif
}
/// The bitwise or of all lanes. Before compute capability 8.0: all bits set if any lane has one.
__device__ inline unsigned warp_or(unsigned bits) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(all_lanes, bits);
#else
    return __any_sync(all_lanes, bits != 0) ? 0xffffffffu : 0;
#endif
}

/// One step of a bitonic network: each lane and the one `step` away keep the smaller key on the lane below
/// where `ascending`, else above.
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
