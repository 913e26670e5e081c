// A sort of indices alone: distances stay in the matrix, and are looked up there when two indices are compared (seed
// 002, §5 and §6, which sorts pairs and asks for this to save memory).
//
// in         n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out        n_query × k neighbors: the first k of each sorted row
// workspace  an index of 32 bits per distance of the rows that are sorted at once, and CUB's copy of them: 8 bytes per
//            distance. `segmented_sort` takes 20.
// launch     cub::DeviceMergeSort of the indices of as many rows at once as have 2²² distances together (16 MiB of indices,
//            16 MiB of distances: lookups hit the L2 cache of a large card), at least one; then one thread per neighbor
// order      an index is the offset of its distance in the matrix, so it determines row and column: the order is (row,
//            distance, column), in which no two are equal
// limits     n_train <= 2³⁰; offsets in 32 bits
// work       log₂ of 2²² or of the row's length, minus a tile's 10 or so, merges of 8 bytes per distance, and a lookup of 4
//            bytes per comparison

#include <algorithm>
#include <cassert>

#include <cub/device/device_merge_sort.cuh>

#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;
constexpr std::int64_t batch_goal = std::int64_t{1} << 22;  // distances

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

/// The offsets of all distances of the rows, without the gaps between rows.
__global__ void __launch_bounds__(threads)
    offsets_kernel(unsigned* d_offsets, std::int64_t n_train, std::int64_t rows, std::int64_t stride) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= rows * n_train) return;
    d_offsets[i] = static_cast<unsigned>(i / n_train * stride + i % n_train);
}

__global__ void __launch_bounds__(threads)
    take_first_kernel(const unsigned* d_offsets, DistanceRows in, int k, Neighbor* d_out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= in.n * k) return;
    const std::int64_t row = i / k;
    const auto stride = static_cast<std::int64_t>(in.pitch_bytes / sizeof(std::uint32_t));
    const auto column = static_cast<std::int64_t>(d_offsets[row * in.cols + i % k]) - row * stride;
    assert(column >= 0 && column < in.cols);
    d_out[i] = {in.row(row)[column], static_cast<std::uint32_t>(column)};
}

/// Sorts n offsets; if d_cub is null, only says how much memory that takes.
cudaError_t sort(void* d_cub, std::size_t& cub_bytes, unsigned* d_offsets, std::int64_t n,
                 const Before& before, cudaStream_t stream) {
    return cub::DeviceMergeSort::SortKeys(d_cub, cub_bytes, d_offsets, n, before, stream);
}

/// The offsets at the beginning of the workspace, and CUB's own memory behind them.
struct Plan {
    std::int64_t rows;  // at once
    std::size_t offset_bytes, cub_bytes = 0;

    explicit Plan(const Problem& problem)
        : rows(rows_at_once(problem.n_query, problem.n_train, batch_goal)),
          offset_bytes(static_cast<std::size_t>(round_up(rows * problem.n_train * 4, 256))) {
        check(sort(nullptr, cub_bytes, nullptr, rows * problem.n_train, {}, nullptr),
              "asking for CUB's memory");
    }
};

std::size_t workspace_bytes(const Problem& problem) {
    const Plan plan(problem);
    return plan.offset_bytes + plan.cub_bytes;
}

void launch(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
            cudaStream_t stream) {
    Plan plan(problem);
    const auto stride = static_cast<std::int64_t>(in.pitch_bytes / sizeof(std::uint32_t));
    require((plan.rows - 1) * stride + in.cols <= std::int64_t{1} << 32, "offsets in 32 bits");
    auto* d_offsets = static_cast<unsigned*>(d_workspace);
    void* d_cub = static_cast<char*>(d_workspace) + plan.offset_bytes;
    for (std::int64_t row = 0; row < out.n_query; row += plan.rows) {
        const std::int64_t rows = std::min(plan.rows, out.n_query - row);
        const DistanceRows part = in.slice(row, rows);
        offsets_kernel<<<grid_size(divide_up(rows * in.cols, threads)), threads, 0, stream>>>(
            d_offsets, in.cols, rows, stride);
        check_launch("launching the offsets of index_sort");
        check(sort(d_cub, plan.cub_bytes, d_offsets, rows * in.cols,
                   {part.d_data, static_cast<unsigned>(stride)}, stream),
              "launching CUB's merge sort");
        take_first_kernel<<<grid_size(divide_up(rows * out.k, threads)), threads, 0, stream>>>(
            d_offsets, part, out.k, out.d_data + row * out.k);
        check_launch("launching index_sort");
    }
}

}  // namespace

extern const Selector index_sort_selector{.name = "index_sort",
                                          .summary = "CUB's merge sort of indices, distances looked up",
                                          .workspace_bytes = workspace_bytes,
                                          .launch = launch,
                                          .limits_rows = true};

}  // namespace knn::gpu
