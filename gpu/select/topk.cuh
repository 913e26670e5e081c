#pragma once
/// A block's K best keys in shared memory and a buffer of candidates, for bitonic_topk and the brute-force
/// fallback of the fused search.

#include <bit>
#include <cassert>

#include "data/core/problem.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

/// A barrier, for memory too, of a warp or of a block.
template <int threads>
__device__ inline void synchronize() {
    if constexpr (threads == warp_size) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

/// `size` keys, a power of two: the steps of stage `length` of a bitonic sort, by a warp or by a block of `threads` threads.
/// Ends without a barrier.
template <int threads>
__device__ inline void merge_stage(NeighborKey* keys, int size, int length) {
    for (int step = length / 2; step > 0; step /= 2) {
        synchronize<threads>();
        for (int pair = static_cast<int>(threadIdx.x) % threads; pair < size / 2; pair += threads) {
            const int i = 2 * pair - (pair & (step - 1)), j = i + step;
            const bool ascending = (i & length) == 0;
            const NeighborKey a = keys[i], b = keys[j];
            if ((a > b) == ascending) {
                keys[i] = b;
                keys[j] = a;
            }
        }
    }
}

/// The best keys of a query and the candidates, for a block of `threads` threads. K is a power of two, at
/// least k and at least `threads`. Only the first k are guaranteed to be the best.
template <int threads>
struct BlockTopK {
    NeighborKey* best;      // K keys, ascending
    NeighborKey* gathered;  // 2 · K keys
    int* count;             // of gathered keys
    int k, K;

    /// K for k <= max_device_k, and the shared memory that it needs.
    static int size_for(int k) {
        static_assert(bytes(max_device_k) <= 48 << 10, "more must be asked for");
        static_assert(threads <= max_device_k && (max_device_k & (max_device_k - 1)) == 0);
        return static_cast<int>(std::bit_ceil(static_cast<unsigned>(k < threads ? threads : k)));
    }
    static constexpr std::size_t bytes(int K) {
        return 3 * sizeof(NeighborKey) * static_cast<std::size_t>(K);
    }

    /// Called by the whole block before the first key.
    __device__ void clear() const {
        assert(blockDim.x == threads && 1 <= k && k <= K && threads <= K && (K & (K - 1)) == 0);
        for (int i = static_cast<int>(threadIdx.x); i < K; i += threads)
            best[i] = no_key;
        if (threadIdx.x == 0) *count = 0;
        __syncthreads();
    }

    /// At most `threads` keys between two calls of merge_when_full.
    __device__ void gather(NeighborKey key) const {
        if (key >= best[k - 1]) return;
        const int place = atomicAdd(count, 1);
        assert(place < 2 * K);
        gathered[place] = key;
    }
    /// Called by the whole block.
    __device__ void merge_when_full() const {
        __syncthreads();
        const bool full = *count > 2 * K - threads;
        __syncthreads();  // all have read the count before it changes
        if (full) merge();
    }

    /// Sorts the gathered keys and keeps the K smallest of all. Called by the whole block.
    __device__ void merge() const {
        const int n = *count;
        for (int i = n + static_cast<int>(threadIdx.x); i < 2 * K; i += threads)
            gathered[i] = no_key;
        merge_sorted(n > 1 ? 1 << (32 - __clz(n - 1)) : 1);
    }

    /// Like merge, but few keys are placed by their ranks, with two barriers instead of dozens. Called by the whole block.
    __device__ void merge_few() const {
        const int n = *count, t = static_cast<int>(threadIdx.x);
        if (n > threads || k > threads) return merge();
        const NeighborKey key = t < n ? gathered[t] : no_key, old = t < k ? best[t] : no_key;
        int rank = 0, moved = t;
        if (t < max(n, k))
            for (int j = 0; j < n; ++j) {
                rank += gathered[j] < key ? 1 : 0;
                moved += gathered[j] < old ? 1 : 0;
            }
        int below = 0;  // how many of the best are less than `key`
        for (int end = k; below < end;) {
            const int middle = (below + end) / 2;
            if (best[middle] < key)
                below = middle + 1;
            else
                end = middle;
        }
        __syncthreads();
        if (t < n && rank + below < k) best[rank + below] = key;
        if (t < k && moved < k) best[moved] = old;
        if (t == 0) *count = 0;
        __syncthreads();
    }

    /// Sorts the first `size` gathered keys, a power of two, and keeps the K smallest of these and of the best; beyond `size` there
    /// is none. Called by the whole block.
    __device__ void merge_sorted(int size) const {
        for (int length = 2; length <= size; length *= 2)
            merge_stage<threads>(gathered, size, length);
        __syncthreads();
        // The minima of best[i] and gathered[K − 1 − i] form a bitonic sequence of the K smallest.
        for (int i = static_cast<int>(threadIdx.x); i < K; i += threads)
            best[i] = min(best[i], gathered[K - 1 - i]);
        if (threadIdx.x == 0) *count = 0;
        merge_stage<threads>(best, K, K);
        __syncthreads();
    }
};

}  // namespace knn::gpu
