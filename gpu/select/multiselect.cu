// Quick multi-select (seed 001): repeatedly partitions a row by a pivot until the k smallest are left of the
// pivots.
//
// in         n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out        n_query × k neighbors; `quick_kth` (only for `bench`) writes the last of each row alone
// workspace  two arrays of n_train keys per concurrent row, as many rows as fit in 4 GiB, at least one: each
//            pass copies a part of the row from one array to the other
// launch     one warp per row, 4 rows per block, for many short rows; else one block of 256 threads per row.
//            The seed decides by the number of rows alone; on one H200 a block was faster for many rows, too,
//            if they were longer than 2,048. A tile of keys is partitioned in shared memory by warp ballots
//            and population counts, which give every key its offset without a prefix sum, and is written
//            to both ends of the other array. A pass reads the part once.
// pivot      `multiselect_random`: a key at random, as in the seed; if it was the smallest, so that nothing is below it,
//            the next is the larger of two. Here, `multiselect`, it is a key of a sample, chosen so that slightly more
//            than k keys are below it: about 2 passes instead of log₂(n_train / k), the second over a small part.
//            Progress is guaranteed: the sample has keys smaller than the pivot.
// shared     a tile or 2 k keys, whichever is larger: 2 to 16 KiB per warp, 16 KiB per block
// order      keys are distance << 32 | index, all different, so ties and constant rows need no special case;
//            the k best are sorted in shared memory
// limits     n_train <= 2³⁰
// work       4 · n_train bytes read and 8 · n_train written per row, and a tenth of that for the second pass

#include "gpu/select/multiselect.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

using multiselect::Group, multiselect::Pivot;

constexpr std::int64_t workspace_goal = std::int64_t{4} << 30;
constexpr int block_warps = 8;     // with one block per row
constexpr int rows_per_block = 4;  // with one warp per row
constexpr std::int64_t max_warp_row = 2048;

/// Grid: groups of `rows` rows (1 if all warps of the block share a row). d_arrays: two of n_train keys per
/// row.
template <int warps, int rows, Pivot pivot, bool all>
__global__ void __launch_bounds__(Group<warps>::threads* rows)
    multiselect_kernel(DistanceRows in, NeighborRows out, std::int64_t first_row, std::int64_t n_rows,
                       int capacity, NeighborKey* d_arrays) {
    extern __shared__ NeighborKey shared[];
    __shared__ int counts[rows][2 * warps];
    const int group = static_cast<int>(threadIdx.x) / Group<warps>::threads;
    const std::int64_t i = std::int64_t{blockIdx.x} * rows + group;
    if (i >= n_rows) return;  // a whole group
    const std::int64_t row = first_row + i;
    NeighborKey* d_own = d_arrays + 2 * i * in.cols;
    multiselect::Select<warps, pivot> select(shared + group * capacity, capacity, counts[group], in.row(row),
                                             d_own, d_own + in.cols, static_cast<unsigned>(row));
    select.template run<all>(static_cast<unsigned>(in.cols), static_cast<unsigned>(out.k),
                             out.d_data + row * out.k);
}

std::int64_t rows_in_workspace(const Problem& problem) {
    return rows_at_once(problem.n_query, 2 * problem.n_train * std::int64_t{sizeof(NeighborKey)},
                        workspace_goal);
}

template <int warps, int rows, Pivot pivot, bool all>
void enqueue_rows(const DistanceRows& in, const NeighborRows& out, std::int64_t first_row,
                  std::int64_t n_rows, NeighborKey* d_arrays, cudaStream_t stream) {
    const auto kernel = multiselect_kernel<warps, rows, pivot, all>;
    const int capacity = multiselect::capacity_for<warps>(out.k);
    const int shared_bytes = rows * capacity * static_cast<int>(sizeof(NeighborKey));
    allow_shared(kernel, shared_bytes);
    kernel<<<grid_size(divide_up(n_rows, rows)), Group<warps>::threads * rows,
             static_cast<std::size_t>(shared_bytes), stream>>>(in, out, first_row, n_rows, capacity,
                                                               d_arrays);
    check_launch("launching multiselect");
}

std::size_t workspace_bytes(const Problem& problem) {
    return static_cast<std::size_t>(rows_in_workspace(problem) * 2 * problem.n_train) * sizeof(NeighborKey);
}

template <Pivot pivot, bool all>
void launch(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
            cudaStream_t stream) {
    auto* d_arrays = static_cast<NeighborKey*>(d_workspace);
    const std::int64_t group = rows_in_workspace(problem);
    const bool warp_per_row = problem.n_train <= max_warp_row &&
                              problem.n_query >= device_attribute(cudaDevAttrMultiProcessorCount);
    for (std::int64_t row = 0; row < out.n_query; row += group) {
        const std::int64_t rows = std::min(group, out.n_query - row);
        if (warp_per_row) {
            enqueue_rows<1, rows_per_block, pivot, all>(in, out, row, rows, d_arrays, stream);
        } else {
            enqueue_rows<block_warps, 1, pivot, all>(in, out, row, rows, d_arrays, stream);
        }
    }
}

}  // namespace

extern const Selector multiselect_selector{
    .name = "multiselect",
    .summary = "quick multi-select: pivots, warp ballots, a warp or a block per row",
    .workspace_bytes = workspace_bytes,
    .launch = launch<Pivot::sampled, true>,
    .limits_rows = true};
extern const Selector multiselect_random_selector{
    .name = "multiselect_random",
    .summary = "the same with random pivots instead of sampled ones",
    .workspace_bytes = workspace_bytes,
    .launch = launch<Pivot::random, true>,
    .limits_rows = true};
extern const Selector quick_kth_selector{.name = "quick_kth",
                                         .summary = "the k-th neighbor alone, by the steps of multiselect",
                                         .workspace_bytes = workspace_bytes,
                                         .launch = launch<Pivot::sampled, false>,
                                         .limits_rows = true};

}  // namespace knn::gpu
