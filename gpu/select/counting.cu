// Selection by counting: keys are counted in 2,048 bins of a range, again within the bin that has the k-th smallest, until few
// keys are left up to its end (Alabi et al., "Fast k-selection algorithms for graphics processing units", 2012; seed 001
// compares with it).
//
// bins       in shared memory, of a power of two of keys, so that bounds are exact and a shift is enough. `radix_*` begin with the
//            range of all keys: a bin is a digit of 11 bits; `bucket_*` with the smallest and the largest distance of the row.
// launch     radix_select, bucket_select: a block of 512 threads per query, 3 of them on an SM.
//            1. radix_select  A sample says how far to look: lines of 32 distances, evenly spaced, 2,048 or n_train / 256
//                             distances, whose r-th smallest is the limit. r is so far above k · sample / n_train that fewer than
//                             k distances below the limit are a matter of chance at 4 standard deviations or more.
//               bucket_select The range of the row, and a count in bins until at most 4,096 keys are up to the end of one.
//            2. Keys up to the limit go to shared memory: of 60,000 at k = 32 radix_select gathers 300. If it has fewer than k,
//               or more than there is space for, it counts in bins as well: up to 7 more reads, right for any row.
//            3. The k-th of the gathered keys, by bins; those up to it, sorted.
//            *_kth_row, for `bench` alone: as in Alabi et al. one row at a time, by all multiprocessors, values without indices: a
//            launch for each count and for the choice of a bin, 3 of both. They write the k-th distance; no neighbor's index.
// shared     4,096 keys and 2,048 counters, later the k keys: 40 KiB
// workspace  *_kth_row: a range and the counters
// order      keys are distance << 32 | index, all different: a bin of width one has one key, so counting ends for any row
// work       4 · n_train bytes and n_train comparisons per query and reading. radix_select: one reading; bucket_select: one of
//            up to 4,096 distances, else 3 unless thousands of keys share the k-th's bin, 8 at most; *_kth_row: 3 or 4

#include <cassert>
#include <cmath>

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
constexpr int counting_threads = 512, counting_warps = counting_threads / warp_size;
constexpr int digit_bits = 11, n_bins = 1 << digit_bits, bins_per_thread = n_bins / counting_threads;
constexpr int bin_capacity = 4096;
constexpr int line = 32;  // consecutive distances in the sample: 128 bytes
static_assert(n_bins * sizeof(unsigned) >= max_device_k * sizeof(NeighborKey));

struct Bins {
    union {
        unsigned count[n_bins];
        NeighborKey best[max_device_k];
    };
    unsigned warp_total[counting_warps];
    unsigned digit, below, inside;  // the bin that has the wanted rank, keys before it and in it
};

struct Shared : Bins {
    NeighborKey gathered[bin_capacity];
    unsigned n_gathered, n_best;
};
static_assert(sizeof(Shared) <= 48 << 10, "more must be asked for");

/// Keys, or distances, first .. last.
template <class T>
struct Range {
    T first, last;

    /// Bins have 2^shift keys.
    __device__ int shift() const {
        return max(0, 64 - __clzll(static_cast<long long>(std::uint64_t{last - first})) - digit_bits);
    }
    /// Calls f with the bin of a key in the range.
    template <class F>
    __device__ void if_inside(T key, int shift, F f) const {
        const T offset = key - first;  // large for those before it
        if (offset <= last - first) f(static_cast<unsigned>(offset >> shift));
    }
    __device__ void narrow(unsigned bin, int shift) {
        first += T{bin} << shift;
        const T width = T{1} << shift;  // first + width may exceed the type
        if (last - first >= width) last = first + (width - 1);
    }
};

// All that follows is called by the whole block.

__device__ void clear(Bins& bins) {
    for (int i = static_cast<int>(threadIdx.x); i < n_bins; i += counting_threads)
        bins.count[i] = 0;
    __syncthreads();
}

/// Finds the bin that has the key of this rank, from 1.
__device__ void find_bin(Bins& bins, unsigned rank) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size;
    unsigned own[bins_per_thread], total = 0;
    for (int i = 0; i < bins_per_thread; ++i) {
        own[i] = bins.count[thread * bins_per_thread + i];
        total += own[i];
    }
    unsigned upto = total;  // of this and the lanes before
    for (int step = 1; step < warp_size; step *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, upto, step);
        if (lane >= step) upto += other;
    }
    if (lane == warp_size - 1) bins.warp_total[thread / warp_size] = upto;
    __syncthreads();
    for (int warp = 0; warp < thread / warp_size; ++warp)
        upto += bins.warp_total[warp];
    unsigned before = upto - total;
    for (int i = 0; i < bins_per_thread; before += own[i], ++i)
        if (before < rank && rank <= before + own[i]) {
            bins.digit = static_cast<unsigned>(thread * bins_per_thread + i);
            bins.below = before;
            bins.inside = own[i];
        }
    __syncthreads();
}

/// A bound with at least `k` keys of the range up to it, and at most `enough` >= k unless bits below `last_bit` would tell them
/// apart. for_each(f) calls f(key) of all keys, each by one thread.
template <class ForEach>
__device__ NeighborKey bound_of(const ForEach& for_each, Range<NeighborKey> range, unsigned k,
                                unsigned enough, int last_bit, Shared& shared) {
    for (unsigned rank = k;;) {
        const int shift = max(last_bit, range.shift());
        clear(shared);
        for_each([&](NeighborKey key) {
            range.if_inside(key, shift, [&](unsigned bin) { atomicAdd(&shared.count[bin], 1u); });
        });
        __syncthreads();
        find_bin(shared, rank);
        range.narrow(shared.digit, shift);
        rank -= shared.below;
        if (k - rank + shared.inside <= enough || shift == last_bit) return range.last;
    }
}

/// f(distance, index) of the whole row, each by one thread; four at a time if the row begins at a multiple of 16 bytes.
template <class F>
__device__ void for_row(const std::uint32_t* row, unsigned n, F f) {
    constexpr unsigned ahead = 4;  // loads in flight per thread
    const auto* d_vectors = reinterpret_cast<const uint4*>(row);
    const unsigned n_vectors = reinterpret_cast<std::uintptr_t>(row) % sizeof(uint4) == 0 ? n / 4 : 0;
    const auto use = [&](const uint4& v, unsigned i) {
        f(v.x, 4 * i);
        f(v.y, 4 * i + 1);
        f(v.z, 4 * i + 2);
        f(v.w, 4 * i + 3);
    };
    unsigned i = threadIdx.x;
    for (; i + (ahead - 1) * counting_threads < n_vectors; i += ahead * counting_threads) {
        uint4 v[ahead];
#pragma unroll
        for (unsigned j = 0; j < ahead; ++j)
            v[j] = d_vectors[i + j * counting_threads];
#pragma unroll
        for (unsigned j = 0; j < ahead; ++j)
            use(v[j], i + j * counting_threads);
    }
    for (; i < n_vectors; i += counting_threads)
        use(d_vectors[i], i);
    for (i = 4 * n_vectors + threadIdx.x; i < n; i += counting_threads)
        f(row[i], i);
}

/// The same as bound_of, of the keys of a row.
__device__ NeighborKey bound_of_row(const std::uint32_t* row, unsigned n, Range<NeighborKey> range,
                                    unsigned k, Shared& shared) {
    const auto for_each = [&](auto f) {
        for_row(row, n, [&](std::uint32_t distance, unsigned i) { f(key_of(distance, i)); });
    };
    return bound_of(for_each, range, k, bin_capacity, 0, shared);
}

/// Gathers the keys of a row up to `last`, as long as there is space; `n_gathered` counts all.
__device__ void gather_upto(NeighborKey last, const std::uint32_t* row, unsigned n, Shared& shared) {
    const auto last_distance = static_cast<std::uint32_t>(last >> 32);
    for_row(row, n, [&](std::uint32_t distance, unsigned index) {
        if (distance > last_distance) return;
        const NeighborKey key = key_of(distance, index);
        if (key > last) return;
        const unsigned place = atomicAdd(&shared.n_gathered, 1u);
        if (place < bin_capacity) shared.gathered[place] = key;
    });
    __syncthreads();
}

/// `combine` of all threads' keys, to all of them.
template <class Combine>
__device__ NeighborKey block_reduce(NeighborKey own, Combine combine, Shared& shared) {
    own = warp_reduce(own, combine);
    if (threadIdx.x % warp_size == 0) shared.best[threadIdx.x / warp_size] = own;
    __syncthreads();
    for (int warp = 0; warp < counting_warps; ++warp)
        own = combine(own, shared.best[warp]);
    __syncthreads();  // all have read them
    return own;
}

/// The range of a row's keys.
__device__ Range<NeighborKey> range_of(const std::uint32_t* row, unsigned n, Shared& shared) {
    unsigned low = 0xffffffff, high = 0;
    for_row(row, n, [&](std::uint32_t distance, unsigned) {
        low = min(low, distance);
        high = max(high, distance);
    });
    const auto smaller = [](NeighborKey a, NeighborKey b) { return min(a, b); };
    const auto larger = [](NeighborKey a, NeighborKey b) { return max(a, b); };
    return {block_reduce(key_of(low, 0), smaller, shared), block_reduce(key_of(high, n - 1), larger, shared)};
}

/// A bound up to which a sample suggests `rank` · n / sample keys of the row.
__device__ NeighborKey sampled_bound(const std::uint32_t* row, unsigned n, unsigned sample, unsigned rank,
                                     Shared& shared) {
    const unsigned stride = n / (sample / line);
    const auto for_each = [&](auto f) {
        for (unsigned i = threadIdx.x; i < sample; i += counting_threads)
            f(key_of(row[i / line * stride + i % line], i));
    };
    return bound_of(for_each, {0, no_key}, rank, rank, 32, shared);
}

/// The k smallest gathered keys, of which there are k to `bin_capacity`, in order.
__device__ void take_nearest(Shared& shared, unsigned k, Neighbor* d_out) {
    const unsigned gathered = shared.n_gathered;
    assert(k <= gathered && gathered <= bin_capacity);
    const auto for_gathered = [&](auto f) {
        for (unsigned i = threadIdx.x; i < gathered; i += counting_threads)
            f(shared.gathered[i]);
    };
    const NeighborKey last = bound_of(for_gathered, {0, no_key}, k, k, 0, shared);
    int size = 1;  // of what is sorted, a power of two
    while (size < static_cast<int>(k))
        size *= 2;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += counting_threads)
        shared.best[i] = no_key;
    __syncthreads();
    for_gathered([&](NeighborKey key) {
        if (key <= last) shared.best[atomicAdd(&shared.n_best, 1u)] = key;
    });
    for (int length = 2; length <= size; length *= 2)
        merge_stage<counting_threads>(shared.best, size, length);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < k; i += counting_threads)
        d_out[i] = neighbor_of(shared.best[i]);
}

enum class Start { radix, bucket };

template <Start start>
__global__ void __launch_bounds__(counting_threads, blocks_per_sm)
    counting_kernel(DistanceRows in, NeighborRows out, unsigned sample, unsigned sample_rank) {
    __shared__ Shared shared;
    const std::uint32_t* row = in.row(blockIdx.x);
    const auto n = static_cast<unsigned>(in.cols);
    const auto k = static_cast<unsigned>(out.k);
    assert(blockDim.x == counting_threads && k <= n);
    if (threadIdx.x == 0) shared.n_gathered = shared.n_best = 0;
    NeighborKey last = no_key;
    if (n > bin_capacity)
        last = start == Start::radix ? sampled_bound(row, n, sample, sample_rank, shared)
                                     : bound_of_row(row, n, range_of(row, n, shared), k, shared);
    __syncthreads();
    gather_upto(last, row, n, shared);
    if (start == Start::radix && (shared.n_gathered < k || shared.n_gathered > bin_capacity)) {
        last = bound_of_row(row, n, {0, no_key}, k, shared);
        if (threadIdx.x == 0) shared.n_gathered = 0;
        __syncthreads();
        gather_upto(last, row, n, shared);
    }
    take_nearest(shared, k, out.d_data + std::int64_t{blockIdx.x} * out.k);
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

template <Start start>
void launch_counting(const Selection& of) {
    counting_kernel<start><<<grid_size(of.in.n), counting_threads, 0, of.stream>>>(
        of.in, of.out, static_cast<unsigned>(sample_size(of.in.cols)), sample_rank(of.in.cols, of.out.k));
}

// One row at a time.

constexpr int row_passes = (32 + digit_bits - 1) / digit_bits;
constexpr std::uint32_t no_index = no_neighbor.index;

/// In device memory: the range that has the k-th distance of the row, its rank there, and the counters of this range.
struct RowState {
    Range<std::uint32_t> range;
    unsigned rank;
    unsigned count[n_bins];
};

__global__ void __launch_bounds__(counting_threads)
    row_start_kernel(RowState* d_state, unsigned k, bool all) {
    for (int i = static_cast<int>(threadIdx.x); i < n_bins; i += counting_threads)
        d_state->count[i] = 0;
    if (threadIdx.x > 0) return;
    d_state->range = all ? Range<std::uint32_t>{0, 0xffffffff} : Range<std::uint32_t>{0xffffffff, 0};
    d_state->rank = k;
}

/// f(distance) of the row, each by one thread of the grid.
template <class F>
__device__ void for_grid(const std::uint32_t* d_row, std::int64_t n, F f) {
    for (std::int64_t t = std::int64_t{blockIdx.x} * counting_threads + threadIdx.x; t < n;
         t += std::int64_t{gridDim.x} * counting_threads)
        f(d_row[t]);
}

__global__ void __launch_bounds__(counting_threads)
    row_range_kernel(const std::uint32_t* d_row, std::int64_t n, RowState* d_state) {
    unsigned low = 0xffffffff, high = 0;
    for_grid(d_row, n, [&](std::uint32_t distance) {
        low = min(low, distance);
        high = max(high, distance);
    });
    low = warp_reduce(low, [](unsigned a, unsigned b) { return min(a, b); });
    high = warp_reduce(high, [](unsigned a, unsigned b) { return max(a, b); });
    if (threadIdx.x % warp_size > 0) return;
    atomicMin(&d_state->range.first, low);
    atomicMax(&d_state->range.last, high);
}

__global__ void __launch_bounds__(counting_threads)
    row_count_kernel(const std::uint32_t* d_row, std::int64_t n, RowState* d_state) {
    __shared__ Bins bins;
    const Range<std::uint32_t> range = d_state->range;
    const int shift = range.shift();
    clear(bins);
    for_grid(d_row, n, [&](std::uint32_t distance) {
        range.if_inside(distance, shift, [&](unsigned bin) { atomicAdd(&bins.count[bin], 1u); });
    });
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < n_bins; i += counting_threads)
        if (bins.count[i] > 0) atomicAdd(&d_state->count[i], bins.count[i]);
}

/// By one block. The first distance of the range is the k-th after the last pass.
__global__ void __launch_bounds__(counting_threads) row_narrow_kernel(RowState* d_state, Neighbor* d_kth) {
    __shared__ Bins bins;
    for (int i = static_cast<int>(threadIdx.x); i < n_bins; i += counting_threads) {
        bins.count[i] = d_state->count[i];
        d_state->count[i] = 0;
    }
    __syncthreads();
    find_bin(bins, d_state->rank);
    if (threadIdx.x > 0) return;
    d_state->range.narrow(bins.digit, d_state->range.shift());
    d_state->rank -= bins.below;
    *d_kth = {d_state->range.first, no_index};
}

template <Start start>
void launch_row(const Selection& of) {
    auto* d_state = of.workspace<RowState>();
    const auto k = static_cast<unsigned>(of.out.k);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(
        divide_up(of.in.cols, 4 * counting_threads),
        std::int64_t{blocks_per_sm} * device_attribute(cudaDevAttrMultiProcessorCount)));
    row_start_kernel<<<1, counting_threads, 0, of.stream>>>(d_state, k, start == Start::radix);
    if (start == Start::bucket)
        row_range_kernel<<<blocks, counting_threads, 0, of.stream>>>(of.in.d_data, of.in.cols, d_state);
    for (int pass = 0; pass < row_passes; ++pass) {
        row_count_kernel<<<blocks, counting_threads, 0, of.stream>>>(of.in.d_data, of.in.cols, d_state);
        row_narrow_kernel<<<1, counting_threads, 0, of.stream>>>(d_state, of.out.d_data + k - 1);
    }
}

constexpr SelectorOptions of_one_row{
    .row_bytes = [](const Problem&) { return std::int64_t{sizeof(RowState)}; },
    .one_by_one = true,
    .max_train = max_positions,
    .finds = Finds::kth_value};

}  // namespace

extern const Selector radix_select_selector("radix_select",
                                            "the k-th key digit by digit, below a sampled limit",
                                            launch_counting<Start::radix>, {.max_train = max_positions});
extern const Selector bucket_select_selector("bucket_select", "the k-th key by buckets between the extremes",
                                             launch_counting<Start::bucket>, {.max_train = max_positions});
extern const Selector radix_kth_row_selector("radix_kth_row", "", launch_row<Start::radix>, of_one_row);
extern const Selector bucket_kth_row_selector("bucket_kth_row", "", launch_row<Start::bucket>, of_one_row);

}  // namespace knn::gpu
