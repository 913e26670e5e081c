// A bitonic sort of rows whose length is not a power of two, without padding: the mistake of seed 003's first version (§2).
// Keys whose partner would be behind the end of the row stay where they are, so the rows are sorted in part alone.
//
// in         n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out        n_query × k neighbors: the first k of each row after the last step. Right only if n_train is a power of two.
// workspace  n_train keys per row that is sorted at once, as many rows as fit in 256 MiB, at least one
// launch     as in the seed one launch per step, and a thread per pair, 256 per block. Grid: pairs of a row × rows.
// order      keys are distance << 32 | index, all different: the result is the same each time, and the same as by the loop
//            cpu::unpadded_bitonic
// limits     n_train <= 2³⁰
// work       for p = n_train rounded up to a power of two log₂ p · (log₂ p + 1) / 2 steps, in each of which 8 bytes per
//            distance are read, and written where keys change places

#include <algorithm>
#include <bit>

#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;
constexpr std::int64_t workspace_goal = std::int64_t{256} << 20;

__global__ void __launch_bounds__(threads) keys_kernel(DistanceRows in, NeighborKey* d_keys) {
    const std::int64_t t = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (t < in.cols) d_keys[blockIdx.y * in.cols + t] = key_of(in.row(blockIdx.y)[t], t);
}

/// One step of the merge into runs of `size` keys: compares those `step` apart.
__global__ void __launch_bounds__(threads)
    step_kernel(NeighborKey* d_keys, std::int64_t n, std::int64_t size, std::int64_t step) {
    const std::int64_t pair = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    const std::int64_t i = 2 * pair - (pair & (step - 1)), partner = i + step;
    if (partner >= n) return;
    NeighborKey* row = d_keys + blockIdx.y * n;
    const NeighborKey a = row[i], b = row[partner];
    if ((a > b) != ((i & size) == 0)) return;
    row[i] = b;
    row[partner] = a;
}

__global__ void __launch_bounds__(threads)
    first_kernel(const NeighborKey* d_keys, std::int64_t n, NeighborRows out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < out.n_query * out.k) out.d_data[i] = neighbor_of(d_keys[i / out.k * n + i % out.k]);
}

std::int64_t rows_in_workspace(const Problem& problem) {
    return rows_at_once(std::min(problem.n_query, max_grid_y),
                        problem.n_train * std::int64_t{sizeof(NeighborKey)}, workspace_goal);
}

std::size_t workspace_bytes(const Problem& problem) {
    return static_cast<std::size_t>(rows_in_workspace(problem) * problem.n_train) * sizeof(NeighborKey);
}

void launch(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
            cudaStream_t stream) {
    auto* d_keys = static_cast<NeighborKey*>(d_workspace);
    const std::int64_t n = in.cols, group = rows_in_workspace(problem);
    const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
    for (std::int64_t row = 0; row < out.n_query; row += group) {
        const std::int64_t rows = std::min(group, out.n_query - row);
        const auto grid_y = static_cast<unsigned>(rows);
        const dim3 keys(grid_size(divide_up(n, threads)), grid_y),
            pairs(grid_size(std::max<std::int64_t>(1, divide_up(padded / 2, threads))), grid_y);
        keys_kernel<<<keys, threads, 0, stream>>>(in.slice(row, rows), d_keys);
        for (std::int64_t size = 2; size <= padded; size *= 2)
            for (std::int64_t step = size / 2; step > 0; step /= 2)
                step_kernel<<<pairs, threads, 0, stream>>>(d_keys, n, size, step);
        first_kernel<<<grid_size(divide_up(rows * out.k, threads)), threads, 0, stream>>>(
            d_keys, n, out.slice(row, rows));
        check_launch("launching the unpadded sort of seed 003");
    }
}

}  // namespace

extern const Selector bitonic_unpadded_selector{
    .name = "bitonic_unpadded",
    .summary = "seed 003, §2: the sort without padding, which is wrong",
    .workspace_bytes = workspace_bytes,
    .launch = launch,
    .limits_rows = true};

}  // namespace knn::gpu
