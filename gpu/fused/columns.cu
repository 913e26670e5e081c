// The small kernels around the pass over pairs.
//
// records   lists of groups of four products with the group's first column and the row, device memory; emptied
// entries   for each column, at most column_capacity of (q·r, row), unordered
// launch    columns: one warp per list of records; the others: one thread per position or neighbor
// bytes     24 per record read, 8 per entry written; some tens of records per image

#include "gpu/fused/columns.h"

#include <cassert>

#include "data/core/round_up.h"
#include "gpu/runtime/load.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256, warps = threads / warp_size;

__device__ std::int64_t thread_index() {
    return std::int64_t{blockIdx.x} * threads + threadIdx.x;
}

__global__ void __launch_bounds__(threads)
    positions_kernel(const TrainImage* d_images, std::int64_t n, std::uint32_t* d_norms,
                     std::uint32_t* d_indices) {
    const std::int64_t i = thread_index();
    if (i >= n) return;
    const TrainImage image = d_images[i];
    d_norms[i] = image.norm;
    d_indices[i] = image.index;
}

__global__ void __launch_bounds__(threads)
    negated_kernel(const std::int32_t* d_thresholds, std::int64_t n, std::int32_t* d_negated) {
    const std::int64_t i = thread_index();
    if (i < n) d_negated[i] = -d_thresholds[i];
}

__global__ void __launch_bounds__(threads)
    columns_kernel(const __grid_constant__ TensorPass pass, int records) {
    const PairArrays& pairs = pass.pairs;
    const int list = static_cast<int>(blockIdx.x) * warps + static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (list >= records) return;
    const int count = pairs.d_counts[list];
    assert(count >= 0 && count <= pairs.capacity);
    __syncwarp();
    if (lane == 0) pairs.d_counts[list] = 0;
    for (int i = lane; i < count; i += warp_size) {
        const std::int64_t at = std::int64_t{list} * pairs.capacity + i;
        const int4 loaded = pairs.d_products[at];
        const uint2 place = pairs.d_places[at];
        const int products[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
        const std::uint32_t columns[4] = {place.x, place.x + 1, place.x + 8, place.x + 9};
        const std::int32_t bias = pass.d_score_bias[place.y];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            if (products[e] + bias < pass.d_thresholds[columns[e]]) continue;
            const std::int32_t entry = atomicAdd(&pairs.d_column_counts[columns[e]], 1);
            if (entry < pairs.column_capacity)
                pairs.d_entries[std::int64_t{columns[e]} * pairs.column_capacity + entry] =
                    make_int2(products[e], static_cast<int>(place.y));
        }
    }
}

__global__ void __launch_bounds__(threads)
    reorder_kernel(NeighborRows by_position, const std::uint32_t* d_indices, NeighborRows out) {
    const std::int64_t i = thread_index();
    if (i >= by_position.n_query * by_position.k) return;
    const std::uint32_t image = d_indices[i / by_position.k];
    if (image == no_image) return;
    assert(image < out.n_query);
    out.d_data[std::int64_t{image} * out.k + i % by_position.k] = by_position.d_data[i];
}

}  // namespace

void load_columns() {
    load_kernels(positions_kernel, negated_kernel, columns_kernel, reorder_kernel);
}

void enqueue_positions(const TrainImage* d_images, std::int64_t n, std::uint32_t* d_norms,
                       std::uint32_t* d_indices, cudaStream_t stream) {
    positions_kernel<<<grid_size(divide_up(n, threads)), threads, 0, stream>>>(d_images, n, d_norms,
                                                                               d_indices);
    check_launch("launching positions");
}

void enqueue_negated(const std::int32_t* d_thresholds, std::int64_t n, std::int32_t* d_negated,
                     cudaStream_t stream) {
    negated_kernel<<<grid_size(divide_up(n, threads)), threads, 0, stream>>>(d_thresholds, n, d_negated);
    check_launch("launching negated");
}

void enqueue_columns(const TensorPass& pass, int records, cudaStream_t stream) {
    require(pass.pairs.capacity >= 1 && pass.pairs.column_capacity >= 1,
            "lists of at least one record and entry");
    columns_kernel<<<grid_size(divide_up(records, warps)), threads, 0, stream>>>(pass, records);
    check_launch("launching columns");
}

void enqueue_reorder(const NeighborRows& by_position, const std::uint32_t* d_indices, const NeighborRows& out,
                     cudaStream_t stream) {
    require(by_position.k == out.k && by_position.n_query >= out.n_query, "as many neighbors of each image");
    reorder_kernel<<<grid_size(divide_up(by_position.n_query * out.k, threads)), threads, 0, stream>>>(
        by_position, d_indices, out);
    check_launch("launching reorder");
}

}  // namespace knn::gpu
