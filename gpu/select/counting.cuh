#pragma once
/// What radix_select and bucket_select share: counters of keys in shared memory, gathered keys, and the k smallest of
/// those. A block of 512 threads has a row.

#include <cassert>

#include "data/core/problem.h"
#include "gpu/runtime/warp.cuh"
#include "gpu/select/topk.cuh"

namespace knn::gpu::counting {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int blocks_per_sm = 2;  // 1,024 threads are all that it holds
#else
inline constexpr int blocks_per_sm = 3;
#endif
inline constexpr int threads = 512, warps = threads / warp_size;
inline constexpr int digit_bits = 11, bins = 1 << digit_bits, bins_per_thread = bins / threads;
inline constexpr int capacity = 4096;
static_assert(bins * sizeof(unsigned) >= max_k * sizeof(NeighborKey));

struct Shared {
    NeighborKey gathered[capacity];
    union {
        unsigned count[bins];
        NeighborKey best[max_k];
    };
    unsigned warp_total[warps];
    unsigned digit, below, inside;  // the bin that has the wanted rank, keys before it and in it
    unsigned n_gathered, n_best;
};
static_assert(sizeof(Shared) <= 48 << 10, "more must be asked for");

/// Finds the bin that has the key of this rank, from 1. Called by the whole block.
__device__ inline void find_bin(Shared& shared, unsigned rank) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size;
    unsigned own[bins_per_thread], total = 0;
    for (int i = 0; i < bins_per_thread; ++i) {
        own[i] = shared.count[thread * bins_per_thread + i];
        total += own[i];
    }
    unsigned upto = total;  // of this and the lanes before
    for (int step = 1; step < warp_size; step *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, upto, step);
        if (lane >= step) upto += other;
    }
    if (lane == warp_size - 1) shared.warp_total[thread / warp_size] = upto;
    __syncthreads();
    for (int warp = 0; warp < thread / warp_size; ++warp)
        upto += shared.warp_total[warp];
    unsigned before = upto - total;
    for (int i = 0; i < bins_per_thread; before += own[i], ++i)
        if (before < rank && rank <= before + own[i]) {
            shared.digit = static_cast<unsigned>(thread * bins_per_thread + i);
            shared.below = before;
            shared.inside = own[i];
        }
    __syncthreads();
}

/// A bound with at least `rank` keys up to it, and no more than `rank` if it is exact to the last bit, `last_bit` = 0.
/// for_each(f) calls f(key) of all keys, each by one thread. Called by the whole block.
template <class ForEach>
__device__ NeighborKey bound_of(const ForEach& for_each, unsigned rank, int last_bit, Shared& shared) {
    NeighborKey prefix = 0;
    int low = 64;  // of the bits that are known
    while (low > last_bit) {
        const int width = min(digit_bits, low);
        const int shift = low - width;
        for (int i = static_cast<int>(threadIdx.x); i < bins; i += threads)
            shared.count[i] = 0;
        __syncthreads();
        for_each([&](NeighborKey key) {
            if (low < 64 && (key ^ prefix) >> low != 0) return;
            atomicAdd(&shared.count[key >> shift & (bins - 1) >> (digit_bits - width)], 1u);
        });
        __syncthreads();
        find_bin(shared, rank);
        prefix |= NeighborKey{shared.digit} << shift;
        rank -= shared.below;
        low = shift;
        if (rank == shared.inside) break;
    }
    return low == 0 ? prefix : prefix | ((NeighborKey{1} << low) - 1);
}

/// f(distance, index) of the whole row, each by one thread.
template <bool vectors, class F>
__device__ void for_row(const std::uint32_t* row, unsigned n, F f) {
    unsigned done = 0;
    if constexpr (vectors) {
        constexpr unsigned ahead = 4;  // loads in flight per thread
        const unsigned n_vectors = n / 4;
        const auto* d_vectors = reinterpret_cast<const uint4*>(row);
        const auto use = [&](const uint4& v, unsigned i) {
            f(v.x, 4 * i);
            f(v.y, 4 * i + 1);
            f(v.z, 4 * i + 2);
            f(v.w, 4 * i + 3);
        };
        unsigned i = threadIdx.x;
        for (; i + (ahead - 1) * threads < n_vectors; i += ahead * threads) {
            uint4 v[ahead];
#pragma unroll
            for (unsigned j = 0; j < ahead; ++j)
                v[j] = d_vectors[i + j * threads];
#pragma unroll
            for (unsigned j = 0; j < ahead; ++j)
                use(v[j], i + j * threads);
        }
        for (; i < n_vectors; i += threads)
            use(d_vectors[i], i);
        done = 4 * n_vectors;
    }
    for (unsigned i = done + threadIdx.x; i < n; i += threads)
        f(row[i], i);
}

/// Keeps a key, if there is space; `n_gathered` counts all.
__device__ inline void gather(Shared& shared, NeighborKey key) {
    const unsigned place = atomicAdd(&shared.n_gathered, 1u);
    if (place < capacity) shared.gathered[place] = key;
}

/// Gathers the keys of a row up to `last`. Called by the whole block; ends with a barrier.
template <bool vectors>
__device__ void gather_upto(NeighborKey last, const std::uint32_t* row, unsigned n, Shared& shared) {
    for_row<vectors>(row, n, [&](std::uint32_t distance, unsigned index) {
        const NeighborKey key = key_of(distance, index);
        if (key <= last) gather(shared, key);
    });
    __syncthreads();
}

/// The largest of the gathered keys up to `last`, to the first thread. Called by the whole block.
template <class ForEach>
__device__ NeighborKey largest_upto(NeighborKey last, const ForEach& for_gathered, Shared& shared) {
    NeighborKey own = 0;
    for_gathered([&](NeighborKey key) {
        if (key <= last) own = max(own, key);
    });
    own = warp_max(own);
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % warp_size == 0) shared.best[thread / warp_size] = own;
    __syncthreads();
    NeighborKey largest = 0;
    for (int warp = 0; warp < warps; ++warp)
        largest = max(largest, shared.best[warp]);
    return largest;
}

/// The k smallest gathered keys, of which there are k to `capacity`, in order; or, unless `all`, only the last of them
/// in its place. After a barrier, by the whole block.
template <bool all>
__device__ void take_nearest(Shared& shared, unsigned k, Neighbor* d_out) {
    const unsigned gathered = shared.n_gathered;
    assert(k <= gathered && gathered <= capacity);
    const auto for_gathered = [&](auto f) {
        for (unsigned i = threadIdx.x; i < gathered; i += threads)
            f(shared.gathered[i]);
    };
    const NeighborKey last = bound_of(for_gathered, k, 0, shared);
    if constexpr (!all) {
        const NeighborKey kth = largest_upto(last, for_gathered, shared);
        if (threadIdx.x == 0) d_out[k - 1] = neighbor_of(kth);
        return;
    }
    int size = 1;  // of what is sorted, a power of two
    while (size < static_cast<int>(k))
        size *= 2;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += threads)
        shared.best[i] = no_key;
    __syncthreads();
    for_gathered([&](NeighborKey key) {
        if (key <= last) shared.best[atomicAdd(&shared.n_best, 1u)] = key;
    });
    for (int length = 2; length <= size; length *= 2)
        merge_stage<threads>(shared.best, size, length);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < k; i += threads)
        d_out[i] = neighbor_of(shared.best[i]);
}

}  // namespace knn::gpu::counting
