// Radix select: the k-th smallest key digit by digit, then all keys up to it (Alabi et al., "Fast k-selection algorithms
// for graphics processing units", 2012). The row is read once, because a sample says below which distance to look.
//
// in       n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out      n_query × k neighbors
// launch   a block of 512 threads per query, 3 of them on an SM
// steps    1. Sample: lines of 32 distances, evenly spaced, 2,048 or n_train / 256 distances. Its r-th smallest is the limit,
//             where r is so far above k · sample / n_train that fewer than k distances below the limit are a matter of
//             chance at 4 standard deviations or more.
//          2. Distances up to the limit go to shared memory with their indices: 300 of 60,000 at k = 32.
//          3. Fewer than k, or more than there is space for: the k-th key of the whole row is found digit by digit in
//             device memory instead, and the keys up to it are gathered. Right for any row, up to 7 more reads.
//          4. The k-th of the gathered keys, digit by digit; those up to it, sorted.
// digits   11 bits from the top, 2,048 counters in shared memory. Ends when a digit's bin is needed as a whole.
// shared   4,096 keys and 2,048 counters, later the k keys: 40 KiB
// limits   n_train <= 2³⁰
// order    keys are distance << 32 | index, all different, so exactly k of them are up to the k-th
// work     4 · n_train bytes and n_train comparisons per query

#include <cassert>
#include <cmath>

#include "data/core/round_up.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

namespace {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int blocks_per_sm = 2;  // 1,024 threads are all that it holds
#else
constexpr int blocks_per_sm = 3;
#endif
constexpr int threads = 512, warps = threads / warp_size;
constexpr int digit_bits = 11, bins = 1 << digit_bits, bins_per_thread = bins / threads;
constexpr int capacity = 4096;
constexpr int line = 32;  // consecutive distances in the sample: 128 bytes
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
__device__ void find_bin(Shared& shared, unsigned rank) {
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

/// The distance up to which keys are gathered.
__device__ std::uint32_t sampled_limit(const std::uint32_t* row, std::int64_t n, std::int64_t sample,
                                       unsigned rank, Shared& shared) {
    if (n <= capacity) return 0xffffffff;
    const unsigned stride = n / (sample / line);
    const auto for_each = [&](auto f) {
        for (unsigned i = threadIdx.x; i < sample; i += threads)
            f(key_of(row[i / line * stride + i % line], i));
    };
    return static_cast<std::uint32_t>(bound_of(for_each, rank, 32, shared) >> 32);
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

template <bool vectors>
__global__ void __launch_bounds__(threads, blocks_per_sm)
    radix_select_kernel(DistanceRows in, NeighborRows out, unsigned sample, unsigned sample_rank) {
    __shared__ Shared shared;
    const std::uint32_t* row = in.row(blockIdx.x);
    const auto n = static_cast<unsigned>(in.cols);
    const auto k = static_cast<unsigned>(out.k);
    assert(blockDim.x == threads && k <= n);
    if (threadIdx.x == 0) shared.n_gathered = shared.n_best = 0;
    const std::uint32_t limit = sampled_limit(row, n, sample, sample_rank, shared);
    __syncthreads();
    const auto gather = [&](NeighborKey key) {
        const unsigned place = atomicAdd(&shared.n_gathered, 1u);
        if (place < capacity) shared.gathered[place] = key;
    };
    for_row<vectors>(row, n, [&](std::uint32_t distance, unsigned index) {
        if (distance <= limit) gather(key_of(distance, index));
    });
    __syncthreads();
    if (shared.n_gathered < k || shared.n_gathered > capacity) {
        const NeighborKey last = bound_of(
            [&](auto f) {
                for_row<vectors>(row, n,
                                 [&](std::uint32_t distance, unsigned index) { f(key_of(distance, index)); });
            },
            k, 0, shared);
        if (threadIdx.x == 0) shared.n_gathered = 0;
        __syncthreads();
        for_row<vectors>(row, n, [&](std::uint32_t distance, unsigned index) {
            const NeighborKey key = key_of(distance, index);
            if (key <= last) gather(key);
        });
        __syncthreads();
    }
    const unsigned gathered = shared.n_gathered;
    const auto for_gathered = [&](auto f) {
        for (unsigned i = threadIdx.x; i < gathered; i += threads)
            f(shared.gathered[i]);
    };
    const NeighborKey last = bound_of(for_gathered, k, 0, shared);
    int size = 1;  // of what is sorted, a power of two
    while (size < out.k)
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
        out.d_data[std::int64_t{blockIdx.x} * out.k + i] = neighbor_of(shared.best[i]);
}

/// Distances in the sample, a multiple of a line and at most n.
std::int64_t sample_size(std::int64_t n) {
    return std::max<std::int64_t>(2048, n / 256 / line * line);
}

/// Of the limit in the sample: the expected number of the k nearest in it is at least 4 standard deviations below.
unsigned sample_rank(std::int64_t n, int k) {
    const double expected =
        static_cast<double>(k) * static_cast<double>(sample_size(n)) / static_cast<double>(n);
    return static_cast<unsigned>(std::ceil(expected + 4 * std::sqrt(expected) + 4));
}

void enqueue(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void*,
             cudaStream_t stream) {
    assert(!refuse_problem(problem));
    check_arrays(problem, in, out);
    const auto kernel = in.aligned(sizeof(uint4)) ? radix_select_kernel<true> : radix_select_kernel<false>;
    kernel<<<grid_size(out.n_query), threads, 0, stream>>>(
        in, out, static_cast<unsigned>(sample_size(in.cols)), sample_rank(in.cols, out.k));
    check_launch("launching radix_select");
}

}  // namespace

extern const Selector radix_select_selector{.name = "radix_select",
                                            .summary = "the k-th key digit by digit, below a sampled limit",
                                            .enqueue = enqueue};

}  // namespace knn::gpu
