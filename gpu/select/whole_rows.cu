// Sorts of whole rows in a workspace, of which the first k are taken; ranks.
//
// launch     rank              seed 000, §4.4.2, there called cuBubbleSort: one thread per element computes its rank, 256 elements
//                              of one query per block (`rank512`: 512, which the seed tried, §4.1). All threads read the same
//                              distance at the same time, from global memory as in the seed: one broadcast read per warp.
//            block_rank_merge  seed 000, §4.4.4 and §6.1, proposed there, never built: 64 threads per section compute the ranks of
//                              its distances and write keys in order. Then pairs of adjacent runs are merged, ⌈log₂ sections⌉
//                              rounds, which keep at most k keys of a run: a thread finds the rank of one key, its own index
//                              plus the number of smaller keys in the other run by binary search.
//            segmented_sort    cub::DeviceSegmentedRadixSort of keys, one block per row, from one array to another and back
//            index_sort        cub::DeviceMergeSort of indices alone, for which distances are looked up in the matrix (seed 002,
//                              §5 and §6, which sorts pairs and asks for this to save memory): 8 bytes per distance with CUB's
//                              copy, `segmented_sort` takes 16. 2²² distances at once: lookups hit the L2 cache of a large card.
//            For `bench` alone:
//            merge_sort        block_rank_merge that keeps all, which sorts the whole row. A segmented sort by merging, as seed
//                              002, §4.2, uses ModernGPU's; that one divides the work of a merge by merge paths.
//            bitonic_step      seed 003, §2, `bitonicSortStep`, one launch per step, a thread per pair; rows are padded to a power
//                              of two
//            bitonic_unpadded  not padded, the mistake of its first version: keys whose partner would be behind the end of the
//                              row stay where they are, so rows are sorted in part alone
//            bitonic_blocks    not padded, and the steps stop at blocks of 2,048 keys, each of which is sorted by itself: the
//                              first k of a row are those of its first block. A kernel that keeps its keys in shared memory,
//                              as the seed's text describes it, has no more.
// order      keys are distance << 32 | index, all different; ranks count equal distances of lower index as smaller. The radix sort
//            is stable and begins in the order of indices, so it sorts distances alone, and of these the bits that a score of the
//            metric and dim can have: 26 for MNIST and l2. An index is the offset of its distance in the matrix: the order is
//            (row, distance, column).
// limits     rank: n_train <= 2¹⁸: with n_train² · n_query comparisons, more would take minutes; the others: n_train <= 2³⁰;
//            index_sort: offsets in 32 bits
// work       rank: n_train² comparisons per query, 3.6·10¹³ for MNIST; merges: 64 comparisons per distance, 3.8 million per row for
//            MNIST; each round writes all keys, or min(k, 64) / 64 of them, then half of that once runs have k keys;
//            segmented_sort: a pass for about every 6 bits, 24 bytes per distance and pass; index_sort: log₂ of 2²² or of the
//            row's length, minus a tile's 10 or so, merges of 8 bytes per distance, and a lookup of 4 bytes per comparison;
//            bitonic_*: for p = n_train rounded up to a power of two log₂ p · (log₂ p + 1) / 2 steps, each of which reads 8
//            bytes per distance

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

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

constexpr int section = 64, sections_per_block = 4;  // blocks of one section are too short-lived
constexpr std::int64_t max_ranked = std::int64_t{1} << 18;

template <int block>
__global__ void __launch_bounds__(block)
    rank_kernel(DistanceRows in, NeighborRows out, std::int64_t blocks_per_row) {
    const std::int64_t q = blockIdx.x / blocks_per_row;
    const std::int64_t t = blockIdx.x % blocks_per_row * block + threadIdx.x;
    if (t >= in.cols) return;
    assert(q < out.n_query && in.cols <= std::int64_t{1} << 31);
    const std::uint32_t* row = in.row(q);
    const std::uint32_t mine = row[t];
    int rank = 0;
#pragma unroll 8
    for (std::int64_t i = 0; i < t; ++i)
        rank += row[i] <= mine ? 1 : 0;
#pragma unroll 8
    for (std::int64_t i = t + 1; i < in.cols; ++i)
        rank += row[i] < mine ? 1 : 0;
    if (rank < out.k) out.d_data[q * out.k + rank] = {mine, static_cast<std::uint32_t>(t)};
}

template <int block>
void launch_rank(const Selection& of) {
    const std::int64_t blocks_per_row = divide_up(of.in.cols, block);
    rank_kernel<block>
        <<<grid_size(blocks_per_row * of.in.n), block, 0, of.stream>>>(of.in, of.out, blocks_per_row);
}

/// The rank of distance `own` in its section; equal distances of lower index count as smaller.
__device__ int rank_of(int own, const std::uint32_t* distances) {
    const auto* four = reinterpret_cast<const uint4*>(distances);
    const std::uint32_t mine = distances[own];
    const int warp_begin = own / warp_size * warp_size;
    int rank = 0;
#pragma unroll 8
    for (int i = 0; i < warp_begin / 4; ++i) {  // all of lower index
        const uint4 v = four[i];
        rank += (v.x <= mine) + (v.y <= mine) + (v.z <= mine) + (v.w <= mine);
    }
#pragma unroll 8
    for (int i = warp_begin; i < warp_begin + warp_size; ++i)
        rank += distances[i] < mine || (distances[i] == mine && i < own);
#pragma unroll 8
    for (int i = (warp_begin + warp_size) / 4; i < section / 4; ++i) {  // all of higher index
        const uint4 v = four[i];
        rank += (v.x < mine) + (v.y < mine) + (v.z < mine) + (v.w < mine);
    }
    return rank;
}

/// Grid: sections of all rows / 4. d_runs: rows × sections × run keys; the last run of a row is filled with
/// no_key.
__global__ void __launch_bounds__(section* sections_per_block)
    rank_section_kernel(DistanceRows in, unsigned sections, int run, NeighborKey* d_runs) {
    __shared__ __align__(16) std::uint32_t distances[sections_per_block][section];
    const int part = static_cast<int>(threadIdx.x) / section, own = static_cast<int>(threadIdx.x) % section;
    const unsigned number = blockIdx.x * sections_per_block + part, row = number / sections;
    const std::int64_t t = std::int64_t{number % sections} * section + own;
    const bool inside = row < in.n && t < in.cols;
    // Padding of the last section has higher indices than any equal distance.
    distances[part][own] = inside ? in.row(row)[t] : 0xffffffffu;
    __syncthreads();
    const int rank = rank_of(own, distances[part]);
    assert(blockDim.x == section * sections_per_block && rank >= 0 && rank < section && run <= section);
    if (row < in.n && rank < run)
        d_runs[std::int64_t{number} * run + rank] = inside ? key_of(distances[part][own], t) : no_key;
}

/// How many of the ascending keys are smaller than `key`, or also equal to it if `equal` is 1.
__device__ unsigned count_before(const NeighborKey* d_keys, unsigned size, NeighborKey key, unsigned equal) {
    unsigned begin = 0;
    while (size > 0) {
        const unsigned half = size / 2;
        const bool right = d_keys[begin + half] < key || (equal != 0 && d_keys[begin + half] == key);
        begin = right ? begin + half + 1 : begin;
        size = right ? size - half - 1 : half;
    }
    return begin;
}

/// One round: merges runs 2i and 2i + 1 of `run` keys into run i of `merged` <= 2 · `run` keys. Equal keys
/// are all no_key; those of the left run come first, so every slot is written. The last of an odd number of
/// runs is padded with no_key. Grid: keys of a row / 256 × rows. The last round has one run, and writes the first k to d_out.
__global__ void __launch_bounds__(threads)
    merge_kernel(const NeighborKey* d_from, unsigned runs, unsigned run, NeighborKey* d_to, unsigned merged,
                 Neighbor* d_out, unsigned k) {
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    if (i >= runs * run) return;
    assert(merged <= 2 * run);
    const std::int64_t row = blockIdx.y;
    const NeighborKey* d_row = d_from + row * runs * run;
    const NeighborKey key = d_row[i];
    const unsigned number = i / run, other = number ^ 1;
    unsigned place = i % run;
    NeighborKey* d_merged = d_to + (row * ((runs + 1) / 2) + number / 2) * merged;
    if (other < runs) {
        place += count_before(d_row + std::int64_t{other} * run, run, key, number & 1);
    } else if (place + run < merged) {
        d_merged[place + run] = no_key;
    }
    if (place >= merged) return;
    d_merged[place] = key;
    if (d_out != nullptr && place < k) d_out[row * k + place] = neighbor_of(key);
}

/// A row's runs after ranking the sections, and its keys in one of the two arrays. keep: the most keys of a run that are kept.
struct Sections {
    std::int64_t sections, keys;
    unsigned keep, run;

    Sections(const Problem& problem, bool all)
        : sections(divide_up(problem.n_train, section)),
          keep(static_cast<unsigned>(all ? problem.n_train : problem.k)),
          run(std::min(keep, unsigned{section})) {
        keys = sections * run +
               keep;  // an unpaired run is copied to a slot for two, which adds at most what is kept
    }
};

template <bool all>
std::int64_t runs_bytes(const Problem& problem) {
    return 2 * key_bytes * Sections(problem, all).keys;
}

template <bool all>
void launch_merges(const Selection& of) {
    const Sections plan(of.problem, all);
    auto* d_from = of.workspace<NeighborKey>();
    auto* d_to = d_from + of.in.n * plan.keys;
    const std::int64_t blocks = divide_up(of.in.n * plan.sections, sections_per_block);
    rank_section_kernel<<<grid_size(blocks), section * sections_per_block, 0, of.stream>>>(
        of.in, static_cast<unsigned>(plan.sections), static_cast<int>(plan.run), d_from);
    unsigned run = plan.run;
    for (std::int64_t runs = plan.sections, left = 1; left > 0; runs = (runs + 1) / 2) {
        left = runs <= 2 ? 0 : 1;
        const unsigned merged = left == 0 ? plan.keep : std::min(plan.keep, 2 * run);
        const dim3 grid(grid_size(divide_up(runs * run, threads)), static_cast<unsigned>(of.in.n));
        merge_kernel<<<grid, threads, 0, of.stream>>>(d_from, static_cast<unsigned>(runs), run, d_to, merged,
                                                      left == 0 ? of.out.d_data : nullptr,
                                                      static_cast<unsigned>(of.out.k));
        std::swap(d_from, d_to);
        run = merged;
    }
}

template <bool all>
constexpr SelectorOptions in_sections{
    .row_bytes = runs_bytes<all>, .workspace_goal = std::int64_t{512} << 20, .max_train = max_positions};

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
extern const Selector rank_selector("rank", "every element counts its own rank", launch_rank<256>,
                                    {.max_train = max_ranked});
extern const Selector rank512_selector("rank512", "the same with 512 threads in a block instead of 256",
                                       launch_rank<512>, {.max_train = max_ranked});
extern const Selector block_rank_merge_selector(
    "block_rank_merge", "ranks within sections in shared memory, then a merge of their best",
    launch_merges<false>, in_sections<false>);
extern const Selector merge_sort_selector("merge_sort", "", launch_merges<true>, in_sections<true>);

}  // namespace knn::gpu
