// Every element computes its own rank: in its row, or in a section of it, and then the sections are merged.
//
// launch     rank              seed 000, §4.4.2, there called cuBubbleSort: one thread per element, 256 elements of one query
//                              per block (`rank512`: 512, which the seed tried, §4.1). All threads read the same distance at
//                              the same time, from global memory as in the seed: one broadcast read per warp.
//            block_rank_merge  seed 000, §4.4.4 and §6.1, proposed there, never built: 64 threads per section compute the ranks of
//                              its distances and write keys in order. Then pairs of adjacent runs are merged, ⌈log₂ sections⌉
//                              rounds, which keep at most k keys of a run: a thread finds the rank of one key, its own index
//                              plus the number of smaller keys in the other run by binary search.
//            merge_sort        for `bench` alone: the same, but keeps all, which sorts the whole row. A segmented sort by
//                              merging, as seed 002, §4.2, uses ModernGPU's; that one divides the work of a merge by merge paths.
// workspace  the latter two: the runs before and after a round
// order      keys are distance << 32 | index, all different: equal distances of lower index count as smaller
// limits     rank: n_train <= 2¹⁸: with n_train² · n_query comparisons, more would take minutes
// work       rank: n_train² comparisons per query, 3.6·10¹³ for MNIST; the others: 64 comparisons per distance, 3.8 million per
//            row for MNIST; the merges write min(k, 64) / 64 of the row's keys, then half of that in each round once runs have
//            k keys; or all of them in each round

#include <algorithm>
#include <cassert>

#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int section = 64, sections_per_block = 4;  // blocks of one section are too short-lived
constexpr int merge_threads = 256;
constexpr std::int64_t max_ranked = std::int64_t{1} << 18;

template <int threads>
__global__ void __launch_bounds__(threads)
    rank_kernel(DistanceRows in, NeighborRows out, std::int64_t blocks_per_row) {
    const std::int64_t q = blockIdx.x / blocks_per_row;
    const std::int64_t t = blockIdx.x % blocks_per_row * threads + threadIdx.x;
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

template <int threads>
void launch_rank(const Selection& of) {
    const std::int64_t blocks_per_row = divide_up(of.in.cols, threads);
    rank_kernel<threads>
        <<<grid_size(blocks_per_row * of.in.n), threads, 0, of.stream>>>(of.in, of.out, blocks_per_row);
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
__global__ void __launch_bounds__(merge_threads)
    merge_kernel(const NeighborKey* d_from, unsigned runs, unsigned run, NeighborKey* d_to, unsigned merged,
                 Neighbor* d_out, unsigned k) {
    const unsigned i = blockIdx.x * merge_threads + threadIdx.x;
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
struct Plan {
    std::int64_t sections, keys;
    unsigned keep, run;

    Plan(const Problem& problem, bool all)
        : sections(divide_up(problem.n_train, section)),
          keep(static_cast<unsigned>(all ? problem.n_train : problem.k)),
          run(std::min(keep, unsigned{section})) {
        keys = sections * run +
               keep;  // an unpaired run is copied to a slot for two, which adds at most what is kept
    }
};

template <bool all>
std::int64_t row_bytes(const Problem& problem) {
    return 2 * key_bytes * Plan(problem, all).keys;
}

template <bool all>
void launch(const Selection& of) {
    const Plan plan(of.problem, all);
    auto* d_from = of.workspace<NeighborKey>();
    auto* d_to = d_from + of.in.n * plan.keys;
    const std::int64_t blocks = divide_up(of.in.n * plan.sections, sections_per_block);
    rank_section_kernel<<<grid_size(blocks), section * sections_per_block, 0, of.stream>>>(
        of.in, static_cast<unsigned>(plan.sections), static_cast<int>(plan.run), d_from);
    unsigned run = plan.run;
    for (std::int64_t runs = plan.sections, left = 1; left > 0; runs = (runs + 1) / 2) {
        left = runs <= 2 ? 0 : 1;
        const unsigned merged = left == 0 ? plan.keep : std::min(plan.keep, 2 * run);
        const dim3 grid(grid_size(divide_up(runs * run, merge_threads)), static_cast<unsigned>(of.in.n));
        merge_kernel<<<grid, merge_threads, 0, of.stream>>>(d_from, static_cast<unsigned>(runs), run, d_to,
                                                            merged, left == 0 ? of.out.d_data : nullptr,
                                                            static_cast<unsigned>(of.out.k));
        std::swap(d_from, d_to);
        run = merged;
    }
}

template <bool all>
constexpr SelectorOptions in_sections{
    .row_bytes = row_bytes<all>, .workspace_goal = std::int64_t{512} << 20, .max_train = max_positions};

}  // namespace

extern const Selector rank_selector("rank", "every element counts its own rank", launch_rank<256>,
                                    {.max_train = max_ranked});
extern const Selector rank512_selector("rank512", "the same with 512 threads in a block instead of 256",
                                       launch_rank<512>, {.max_train = max_ranked});
extern const Selector block_rank_merge_selector(
    "block_rank_merge", "ranks within sections in shared memory, then a merge of their best", launch<false>,
    in_sections<false>);
extern const Selector merge_sort_selector("merge_sort", "", launch<true>, in_sections<true>);

}  // namespace knn::gpu
