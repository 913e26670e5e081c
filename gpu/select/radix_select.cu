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
//          `radix_kth` (only for `bench`) writes the k-th alone.
// digits   11 bits from the top, 2,048 counters in shared memory. Ends when a digit's bin is needed as a whole.
// shared   4,096 keys and 2,048 counters, later the k keys: 40 KiB
// limits   n_train <= 2³⁰
// order    keys are distance << 32 | index, all different, so exactly k of them are up to the k-th
// work     4 · n_train bytes and n_train comparisons per query

#include <cassert>
#include <cmath>

#include "gpu/select/counting.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

using namespace counting;

constexpr int line = 32;  // consecutive distances in the sample: 128 bytes

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

template <bool vectors, bool all>
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
    for_row<vectors>(row, n, [&](std::uint32_t distance, unsigned index) {
        if (distance <= limit) gather(shared, key_of(distance, index));
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
        gather_upto<vectors>(last, row, n, shared);
    }
    take_nearest<all>(shared, k, out.d_data + std::int64_t{blockIdx.x} * out.k);
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

template <bool all>
void launch(const Problem&, const DistanceRows& in, const NeighborRows& out, void*, cudaStream_t stream) {
    const auto kernel =
        in.aligned(sizeof(uint4)) ? radix_select_kernel<true, all> : radix_select_kernel<false, all>;
    kernel<<<grid_size(out.n_query), threads, 0, stream>>>(
        in, out, static_cast<unsigned>(sample_size(in.cols)), sample_rank(in.cols, out.k));
    check_launch("launching radix_select");
}

}  // namespace

extern const Selector radix_select_selector{.name = "radix_select",
                                            .summary = "the k-th key digit by digit, below a sampled limit",
                                            .launch = launch<true>,
                                            .limits_rows = true};
extern const Selector radix_kth_selector{.name = "radix_kth",
                                         .summary = "the k-th neighbor alone, by the steps of radix_select",
                                         .launch = launch<false>,
                                         .limits_rows = true};

}  // namespace knn::gpu
