// Sorts of whole rows in a workspace, of which the first k are taken.
//
// launch     segmented_sort    cub::DeviceSegmentedRadixSort of keys, one block per row, from one array to another and back. Seed
//                              002, §4.2, uses the segmented sort of ModernGPU, which merges: that is `merge_sort`.
//            index_sort        cub::DeviceMergeSort of indices alone, for which distances are looked up in the matrix (seed 002,
//                              §5 and §6, which sorts pairs and asks for this to save memory): 8 bytes per distance with CUB's
//                              copy, `segmented_sort` takes 16. 2²² distances at once: lookups hit the L2 cache of a large card.
//            For `bench` alone, the bitonic sorts of seed 003, §2: `bitonicSortStep`, one launch per step, a thread per pair:
//            bitonic_step      rows padded to a power of two
//            bitonic_unpadded  not padded, the mistake of its first version: keys whose partner would be behind the end of the
//                              row stay where they are, so rows are sorted in part alone
//            bitonic_blocks    not padded, and the steps stop at blocks of 2,048 keys, each of which is sorted by itself: the
//                              first k of a row are those of its first block. A kernel that keeps its keys in shared memory,
//                              as the seed's text describes it, has no more.
// order      keys are distance << 32 | index, all different. The radix sort is stable and begins in the order of indices, so it
//            sorts distances alone, and of these the bits that a score of the metric and dim can have: 26 for MNIST and l2. An
//            index is the offset of its distance in the matrix: the order is (row, distance, column).
// limits     n_train <= 2³⁰; index_sort: offsets in 32 bits
// work       segmented_sort: a pass for about every 6 bits, 24 bytes per distance and pass; index_sort: log₂ of 2²² or of the
//            row's length, minus a tile's 10 or so, merges of 8 bytes per distance, and a lookup of 4 bytes per comparison;
//            bitonic_*: for p = n_train rounded up to a power of two log₂ p · (log₂ p + 1) / 2 steps, each of which reads 8
//            bytes per distance

#include <algorithm>
#include <bit>
#include <cassert>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;
constexpr std::int64_t goal = std::int64_t{256} << 20, index_goal = std::int64_t{16} << 20;
constexpr std::int64_t block_keys = 2048;

/// Distances as keys, no_key behind the end of a row.
struct Keys {
    using Item = NeighborKey;

    static std::int64_t length(std::int64_t n) { return n; }

    __device__ static Item item(const DistanceRows& in, std::int64_t row, std::int64_t t) {
        return t < in.cols ? key_of(in.row(row)[t], t) : no_key;
    }
    __device__ static Neighbor neighbor(const DistanceRows&, std::int64_t, Item key) {
        return neighbor_of(key);
    }
};

/// Grid: blocks of a row of `length` items × rows.
template <class Items>
__global__ void __launch_bounds__(threads)
    items_kernel(DistanceRows in, typename Items::Item* d_items, std::int64_t length) {
    const std::int64_t t = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (t < length) d_items[blockIdx.y * length + t] = Items::item(in, blockIdx.y, t);
}

template <class Items>
__global__ void __launch_bounds__(threads) first_kernel(DistanceRows in, const typename Items::Item* d_items,
                                                        std::int64_t length, NeighborRows out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x, row = i / out.k;
    if (row < out.n_query) out.d_data[i] = Items::neighbor(in, row, d_items[row * length + i % out.k]);
}

/// One step of the merge into runs of `size` keys: compares those `step` apart. Grid: pairs of a row / 256 × rows.
__global__ void __launch_bounds__(threads)
    bitonic_step_kernel(NeighborKey* d_keys, std::int64_t length, std::int64_t size, std::int64_t step) {
    const std::int64_t pair = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    const std::int64_t i = 2 * pair - (pair & (step - 1)), partner = i + step;
    if (partner >= length) return;
    NeighborKey* row = d_keys + blockIdx.y * length;
    const NeighborKey a = row[i], b = row[partner];
    if ((a > b) != ((i & size) == 0)) return;
    row[i] = b;
    row[partner] = a;
}

std::int64_t power_of_two(std::int64_t n) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

// What sorts has one function, which sorts the rows of items and says where they are then. If there is no scratch memory, it
// only returns how much it needs.

/// Seed 003's sorts of rows that are padded or not, in blocks of at most `max_size` keys.
template <bool padded, std::int64_t max_size>
struct BitonicSteps : Keys {
    static std::int64_t length(std::int64_t n) { return padded ? power_of_two(n) : n; }

    static std::size_t sort(const Selection& of, NeighborKey*& d_keys, void* d_scratch, std::size_t) {
        if (d_scratch == nullptr) return 0;
        const std::int64_t n = length(of.in.cols), whole = power_of_two(n);
        const dim3 pairs(grid_size(divide_up(std::max<std::int64_t>(whole / 2, 1), threads)),
                         static_cast<unsigned>(of.in.n));
        for (std::int64_t size = 2; size <= std::min(whole, max_size); size *= 2)
            for (std::int64_t step = size / 2; step > 0; step /= 2)
                bitonic_step_kernel<<<pairs, threads, 0, of.stream>>>(d_keys, n, size, step);
        return 0;
    }
};

/// Where row i begins.
struct RowBegin {
    int length;
    __host__ __device__ int operator()(int i) const { return i * length; }
};

struct Radix : Keys {
    /// The bits that a score can have, and that set one above all of them apart which `classic` gives to what a
    /// search excludes: its lower bits are all ones. data/core/metric.h gives the largest score.
    static int score_bits(const Problem& problem) {
        const auto dim = static_cast<std::uint64_t>(problem.dim);
        switch (problem.measure.metric) {
            case Metric::l2:
                return std::bit_width(dim * 255 * 255 + 1);
            case Metric::l1:
                return std::bit_width(dim * 255 + 1);
            default:
                return 31;  // a nonnegative float
        }
    }

    /// From the rows to others behind them, and back.
    static std::size_t sort(const Selection& of, NeighborKey*& d_keys, void* d_cub, std::size_t cub_bytes) {
        const auto n = static_cast<int>(of.problem.n_train), rows = static_cast<int>(of.problem.n_query);
        const auto begin = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), RowBegin{n});
        cub::DoubleBuffer<NeighborKey> keys(d_keys,
                                            d_cub != nullptr ? d_keys + std::int64_t{rows} * n : nullptr);
        check(cub::DeviceSegmentedRadixSort::SortKeys(d_cub, cub_bytes, keys, n * rows, rows, begin,
                                                      begin + 1, 32, 32 + score_bits(of.problem), of.stream),
              "launching CUB's sort");
        d_keys = keys.Current();
        return cub_bytes;
    }
};

/// Whether the distance at offset a comes before that at b.
struct Before {
    const std::uint32_t* d_distances;
    unsigned stride;  // of rows, in elements

    __device__ bool operator()(unsigned a, unsigned b) const {
        const unsigned row_a = a / stride, row_b = b / stride;
        if (row_a != row_b) return row_a < row_b;
        const std::uint32_t left = d_distances[a], right = d_distances[b];
        return left != right ? left < right : a < b;
    }
};

/// Of distances, as offsets in the matrix.
struct Indices {
    using Item = unsigned;

    __host__ __device__ static std::int64_t stride(const DistanceRows& in) {
        return static_cast<std::int64_t>(in.pitch_bytes / sizeof(std::uint32_t));
    }
    __device__ static Item item(const DistanceRows& in, std::int64_t row, std::int64_t t) {
        return static_cast<unsigned>(row * stride(in) + t);
    }
    __device__ static Neighbor neighbor(const DistanceRows& in, std::int64_t row, Item offset) {
        const std::int64_t column = offset - row * stride(in);
        assert(column >= 0 && column < in.cols);
        return {in.row(row)[column], static_cast<std::uint32_t>(column)};
    }

    static std::int64_t length(std::int64_t n) { return n; }

    static std::size_t sort(const Selection& of, unsigned*& d_offsets, void* d_cub, std::size_t cub_bytes) {
        require((of.in.n - 1) * stride(of.in) + of.in.cols <= std::int64_t{1} << 32, "offsets in 32 bits");
        const Before before{of.in.d_data, static_cast<unsigned>(stride(of.in))};
        check(cub::DeviceMergeSort::SortKeys(d_cub, cub_bytes, d_offsets,
                                             of.problem.n_query * of.problem.n_train, before, of.stream),
              "launching CUB's merge sort");
        return cub_bytes;
    }
};

/// arrays: of items.
template <class Sort, int arrays>
std::int64_t row_bytes(const Problem& problem) {
    return arrays * Sort::length(problem.n_train) * std::int64_t{sizeof(typename Sort::Item)};
}

template <class Sort>
std::size_t scratch_bytes(const Problem& problem) {
    typename Sort::Item* none = nullptr;
    return Sort::sort({problem, {}, {}, nullptr, nullptr}, none, nullptr, 0);
}

template <class Sort, int arrays>
void launch(const Selection& of) {
    const auto& [problem, in, out, d_workspace, stream] = of;
    auto* d_items = of.workspace<typename Sort::Item>();
    char* d_scratch =
        of.workspace<char>() + round_up(in.n * row_bytes<Sort, arrays>(problem), workspace_alignment);
    const std::int64_t length = Sort::length(in.cols);
    const dim3 blocks(grid_size(divide_up(length, threads)), static_cast<unsigned>(in.n));
    items_kernel<Sort><<<blocks, threads, 0, stream>>>(in, d_items, length);
    Sort::sort(of, d_items, d_scratch, scratch_bytes<Sort>(problem));
    first_kernel<Sort>
        <<<grid_size(divide_up(in.n * out.k, threads)), threads, 0, stream>>>(in, d_items, length, out);
}

template <class Sort, int arrays = 1>
constexpr Selector selector(const char* name, const char* summary, std::int64_t workspace_goal = goal,
                            Finds finds = Finds::nearest) {
    return {name,
            summary,
            launch<Sort, arrays>,
            {.row_bytes = row_bytes<Sort, arrays>,
             .scratch_bytes = scratch_bytes<Sort>,
             .workspace_goal = workspace_goal,
             .max_train = max_positions,
             .finds = finds,
             .max_k = max_k}};
}

}  // namespace

extern const Selector segmented_sort_selector =
    selector<Radix, 2>("segmented_sort", "CUB's segmented sort of keys of distance and index", 2 * goal);
extern const Selector index_sort_selector =
    selector<Indices>("index_sort", "CUB's merge sort of indices, distances looked up", index_goal);
extern const Selector bitonic_step_selector = selector<BitonicSteps<true, unlimited>>("bitonic_step", "");
extern const Selector bitonic_unpadded_selector =
    selector<BitonicSteps<false, unlimited>>("bitonic_unpadded", "", goal, Finds::wrong);
extern const Selector bitonic_blocks_selector =
    selector<BitonicSteps<false, block_keys>>("bitonic_blocks", "", goal, Finds::wrong);

}  // namespace knn::gpu
