// Both parts of the distance as they are defined (data/rerank/distance.h), for images that no special
// kernel takes, and to compare those with.
//
// in       descriptors (kernels.h), device memory
// out      n_query × candidates scores
// launch   a block of 128 threads per pair; a thread takes every 128th point or cell
// exact    integers; sums below 2³² (distance.h)
// work     25 · 9 differences of two bytes per point; 9 · 8 per cell

#include "data/rerank/distance.h"
#include "gpu/rerank/kernels.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

namespace {

constexpr int plain_threads = 128;

/// The pair of a block.
struct Pair {
    const std::uint8_t *query, *candidate;

    __device__ Pair(const PairTask& task, std::int64_t bytes)
        : query(task.d_query + blockIdx.x / task.candidates.k * bytes),
          candidate(task.d_train + task.candidates.d_data[blockIdx.x].index * bytes) {}
};

/// Writes the sum over the block's threads.
__device__ void write_sum(const PairTask& task, std::uint32_t mine) {
    __shared__ std::uint32_t parts[plain_threads / warp_size];
    const std::uint32_t of_warp = warp_sum(mine);
    if (threadIdx.x % warp_size == 0) parts[threadIdx.x / warp_size] = of_warp;
    __syncthreads();
    if (threadIdx.x != 0) return;
    std::uint32_t sum = 0;
    for (const std::uint32_t part : parts)
        sum += part;
    std::uint32_t& score = task.d_scores[blockIdx.x];
    score = (task.add ? score : 0) + sum;
}

__device__ int2 point_at(const GradientForm& form, const std::uint8_t* descriptor, int x, int y) {
    if (x < 0 || x >= form.image.cols || y < 0 || y >= form.image.rows) return make_int2(0, 0);
    const auto* pair = reinterpret_cast<const std::int8_t*>(descriptor + 2 * form.at(x, y));
    return make_int2(pair[0], pair[1]);
}

/// The sum over the context of (x, y) at displacement (dx, dy).
__device__ int displaced(const GradientForm& form, const Pair& pair, int x, int y, int dx, int dy) {
    int sum = 0;
    for (int i = -distortion_context; i <= distortion_context; ++i)
        for (int j = -distortion_context; j <= distortion_context; ++j) {
            const int u = x + j * gradient_step, v = y + i * gradient_step;
            const int2 p = point_at(form, pair.query, u, v);
            const int2 c = point_at(form, pair.candidate, u + dx, v + dy);
            sum += (p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y);
        }
    return sum;
}

__global__ void __launch_bounds__(plain_threads) plain_distortion_kernel(PairTask task, GradientForm form) {
    const Pair pair(task, form.bytes);
    const int rows = (form.image.rows + gradient_step - 1) / gradient_step;
    const int cols = (form.image.cols + gradient_step - 1) / gradient_step;
    std::uint32_t total = 0;
    for (int point = static_cast<int>(threadIdx.x); point < rows * cols; point += plain_threads) {
        const int x = point % cols * gradient_step, y = point / cols * gradient_step;
        int least = displaced(form, pair, x, y, 0, 0);
        for (int dy = -distortion_window; dy <= distortion_window; ++dy)
            for (int dx = -distortion_window; dx <= distortion_window; ++dx)
                least = min(least, displaced(form, pair, x, y, dx, dy));
        total += static_cast<std::uint32_t>(least);
    }
    write_sum(task, total);
}

/// Σ (h - g)² over the bins of a query's cell and the candidate's cell (col, row).
__device__ int between_cells(const CellForm& form, const std::uint8_t* cell, const std::uint8_t* candidate,
                             int col, int row) {
    const bool inside = col >= 0 && col < form.cols && row >= 0 && row < form.rows;
    const std::uint8_t* other = candidate + (inside ? form.at(col, row) * cell_bins : 0);
    int sum = 0;
    for (int bin = 0; bin < cell_bins; ++bin) {
        const int difference = cell[bin] - (inside ? other[bin] : 0);
        sum += difference * difference;
    }
    return sum;
}

__global__ void __launch_bounds__(plain_threads) plain_cells_kernel(PairTask task, CellForm form) {
    const Pair pair(task, form.bytes);
    std::uint32_t total = 0;
    for (int i = static_cast<int>(threadIdx.x); i < form.rows * form.cols; i += plain_threads) {
        const int col = i % form.cols, row = i / form.cols;
        const std::uint8_t* cell = pair.query + form.at(col, row) * cell_bins;
        int least = between_cells(form, cell, pair.candidate, col, row);
        for (int v = row - 1; v <= row + 1; ++v)
            for (int u = col - 1; u <= col + 1; ++u)
                least = min(least, between_cells(form, cell, pair.candidate, u, v));
        total += static_cast<std::uint32_t>(least);
    }
    write_sum(task, total);
}

unsigned blocks_of(const PairTask& task) {
    return grid_size(task.candidates.n_query * task.candidates.k);
}

}  // namespace

PairLaunch plain_distortion(const GradientForm& form) {
    load_kernels(plain_distortion_kernel);
    return [form](const PairTask& task, cudaStream_t stream) {
        plain_distortion_kernel<<<blocks_of(task), plain_threads, 0, stream>>>(task, form);
        check_launch("launching plain_distortion");
    };
}

PairLaunch plain_cells(const CellForm& form) {
    load_kernels(plain_cells_kernel);
    return [form](const PairTask& task, cudaStream_t stream) {
        plain_cells_kernel<<<blocks_of(task), plain_threads, 0, stream>>>(task, form);
        check_launch("launching plain_cells");
    };
}

}  // namespace knn::gpu
