#pragma once
/// Transposed arrays, for kernels whose adjacent threads read what belongs to adjacent rows.

#include <cassert>

#include "gpu/distance/distance.h"

namespace knn::gpu {

inline constexpr int column_multiple = 32, transposed_rows = 8;  // of a tile

/// Tiles of 32 × 32 through shared memory, so that reads and writes are coalesced.
template <class T>
__global__ void __launch_bounds__(column_multiple* transposed_rows)
    transpose_kernel(PitchedRows<T> in, T* d_out, std::int64_t stride) {
    constexpr int tile = column_multiple;
    assert(blockDim.x == tile && blockDim.y == transposed_rows && stride >= in.n);
    __shared__ T values[tile][tile + 1];
    const std::int64_t row_begin = std::int64_t{blockIdx.x} * tile,
                       column_begin = std::int64_t{blockIdx.y} * tile;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    for (int i = y; i < tile; i += transposed_rows)
        if (row_begin + i < in.n && column_begin + x < in.cols)
            values[i][x] = in.row(row_begin + i)[column_begin + x];
    __syncthreads();
    for (int i = y; i < tile; i += transposed_rows)
        if (column_begin + i < in.cols && row_begin + x < in.n)
            d_out[(column_begin + i) * stride + row_begin + x] = values[x][i];
}

/// Stride of a column in elements: the number of rows rounded up to 32.
inline std::int64_t column_stride(std::int64_t rows) {
    return round_up(rows, column_multiple);
}
/// Columns of what is transposed, at most.
inline constexpr std::int64_t max_columns = max_grid_y * column_multiple;

/// Queues the copy of n × cols elements to cols × column_stride(n).
template <class T>
void enqueue_transpose(const PitchedRows<T>& in, T* d_columns, cudaStream_t stream) {
    const std::int64_t stride = column_stride(in.n);
    const dim3 tiles(grid_size(stride / column_multiple),
                     static_cast<unsigned>(divide_up(in.cols, column_multiple)));
    transpose_kernel<<<tiles, dim3(column_multiple, transposed_rows), 0, stream>>>(in, d_columns, stride);
    check_launch("launching a transposition");
}

/// Of the training set: dim × column_stride(n_train) floats.
inline std::size_t columns_bytes(const Problem& problem) {
    return sizeof(float) * static_cast<std::size_t>(problem.dim * column_stride(problem.n_train));
}

/// DistanceKernel::prepare.
inline void prepare_columns(const Problem&, const Images& images, void* d_columns, cudaStream_t stream) {
    enqueue_transpose(images.floats, static_cast<float*>(d_columns), stream);
}

}  // namespace knn::gpu
