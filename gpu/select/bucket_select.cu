// Bucket select: buckets of equal width between the smallest and the largest key, again within the bucket that has the
// k-th, until few keys are left up to its end (Alabi et al., "Fast k-selection algorithms for graphics processing units",
// 2012; seed 001 compares with it).
//
// in       n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out      n_query × k neighbors
// launch   a block of 512 threads per query, 3 of them on an SM
// steps    1. The smallest and the largest distance of the row.
//          2. Keys are counted in 2,048 buckets or fewer, whose width is a power of two: a shift instead of the paper's
//             multiplication, and the bounds of a bucket are exact. Again within the bucket that has the k-th key, until
//             at most 4,096 keys are up to its end, or exactly k.
//          3. These go to shared memory, and the k smallest of them are sorted; or the k-th alone is written:
//             `bucket_kth` (only for `bench`).
// shared   4,096 keys and 2,048 counters, later the k keys: 40 KiB
// limits   n_train <= 2³⁰
// order    keys are distance << 32 | index, all different. A bucket of width one has one key, so step 2 ends for any row;
//          equal distances are distinguished by their indices.
// work     a row of up to 4,096 distances is read once. Longer ones: 4 · n_train bytes per reading and query, 3 readings
//          if one division is enough, which it is unless thousands of keys share the k-th's bucket; 8 at most

#include <cassert>

#include "gpu/select/counting.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

using namespace counting;

/// Keys first .. last.
struct Range {
    NeighborKey first, last;
};

/// The range of a row's keys. Called by the whole block.
template <bool vectors>
__device__ Range range_of(const std::uint32_t* row, unsigned n, Shared& shared) {
    unsigned low = 0xffffffff, high = 0;
    for_row<vectors>(row, n, [&](std::uint32_t distance, unsigned) {
        low = min(low, distance);
        high = max(high, distance);
    });
    low = warp_reduce(low, [](unsigned a, unsigned b) { return min(a, b); });
    high = warp_reduce(high, [](unsigned a, unsigned b) { return max(a, b); });
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % warp_size == 0) {
        shared.count[thread / warp_size] = low;
        shared.count[warps + thread / warp_size] = high;
    }
    __syncthreads();
    for (int warp = 0; warp < warps; ++warp) {
        low = min(low, shared.count[warp]);
        high = max(high, shared.count[warps + warp]);
    }
    __syncthreads();  // all have read them before they become counters
    return {key_of(low, 0), key_of(high, n - 1)};
}

/// A bound with at least k keys of the row up to it, and at most `capacity`. Called by the whole block.
template <bool vectors>
__device__ NeighborKey last_wanted(const std::uint32_t* row, unsigned n, unsigned k, Shared& shared) {
    if (n <= capacity) return no_key;
    Range range = range_of<vectors>(row, n, shared);
    unsigned upto = n, rank = k;  // keys up to the end of the range; the k-th's rank in it, from 1
    while (upto > capacity) {
        const NeighborKey span = range.last - range.first;
        const int shift = max(0, 64 - __clzll(static_cast<long long>(span)) - digit_bits);
        assert(span >> shift < bins);
        for (int i = static_cast<int>(threadIdx.x); i < bins; i += threads)
            shared.count[i] = 0;
        __syncthreads();
        for_row<vectors>(row, n, [&](std::uint32_t distance, unsigned index) {
            const NeighborKey offset = key_of(distance, index) - range.first;  // large for those before it
            if (offset <= span) atomicAdd(&shared.count[offset >> shift], 1u);
        });
        __syncthreads();
        find_bin(shared, rank);
        range.first += NeighborKey{shared.digit} << shift;
        const NeighborKey width = NeighborKey{1} << shift;  // first + width may exceed 64 bits
        if (range.last - range.first >= width) range.last = range.first + (width - 1);
        rank -= shared.below;
        if (rank == shared.inside) break;  // exactly k
        upto = k - rank + shared.inside;
    }
    return range.last;
}

template <bool vectors, bool all>
__global__ void __launch_bounds__(threads, blocks_per_sm)
    bucket_select_kernel(DistanceRows in, NeighborRows out) {
    __shared__ Shared shared;
    const std::uint32_t* row = in.row(blockIdx.x);
    const auto n = static_cast<unsigned>(in.cols);
    const auto k = static_cast<unsigned>(out.k);
    assert(blockDim.x == threads && k <= n);
    if (threadIdx.x == 0) shared.n_gathered = shared.n_best = 0;
    __syncthreads();
    const NeighborKey last = last_wanted<vectors>(row, n, k, shared);
    gather_upto<vectors>(last, row, n, shared);
    take_nearest<all>(shared, k, out.d_data + std::int64_t{blockIdx.x} * out.k);
}

template <bool all>
void launch(const Problem&, const DistanceRows& in, const NeighborRows& out, void*, cudaStream_t stream) {
    const auto kernel =
        in.aligned(sizeof(uint4)) ? bucket_select_kernel<true, all> : bucket_select_kernel<false, all>;
    kernel<<<grid_size(out.n_query), threads, 0, stream>>>(in, out);
    check_launch("launching bucket_select");
}

}  // namespace

extern const Selector bucket_select_selector{.name = "bucket_select",
                                             .summary = "the k-th key by buckets between the extremes",
                                             .launch = launch<true>,
                                             .limits_rows = true};
extern const Selector bucket_kth_selector{.name = "bucket_kth",
                                          .summary = "the k-th neighbor alone, by the steps of bucket_select",
                                          .launch = launch<false>,
                                          .limits_rows = true};

}  // namespace knn::gpu
