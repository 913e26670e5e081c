// Squared Euclidean distances of one query a block, over a column-major training matrix (seed 002, §4.1).
//
// train      n_train × dim floats holding integers 0..255, pitched rows, device memory
// query      n_query × dim floats, the same
// workspace  dim × stride floats: the training set transposed, stride = n_train rounded up to 32, so that
//            neighboring threads read neighboring addresses
// out        n_query × n_train unsigned 32-bit integers, pitched rows
// launch     a block of 256 threads holds one query in shared memory, a thread takes one training image after
//            another. The query passes through shared memory in pieces of 1,024 pixels, so dim has no limit
//            of its own; the seed stops at 512.
// exact      (a − b)² is summed in a float that is carried into an integer every 256 pixels: 256 · 65,025 <
// 2²⁴ limits     dim <= 66,051 (the distance fits 32 bits) work       n_query · n_train · dim subtractions
// and multiply-adds; 4 bytes of the training set are read for each

#include <algorithm>

#include "gpu/distance/distance.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;
constexpr int piece = 1024;          // pixels of the query in shared memory
constexpr int pixels_a_carry = 256;  // divides a piece
constexpr int tile = 32, tile_rows = 8;

std::int64_t stride_of(std::int64_t n_train) {
    return (n_train + tile - 1) / tile * tile;
}

/// Tiles of 32 × 32 through shared memory, so that both sides are read and written in whole lines.
__global__ void __launch_bounds__(tile* tile_rows)
    transpose_kernel(FloatRows in, float* d_out, std::int64_t stride) {
    __shared__ float values[tile][tile + 1];
    const std::int64_t row_begin = std::int64_t{blockIdx.x} * tile,
                       column_begin = std::int64_t{blockIdx.y} * tile;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    for (int i = y; i < tile; i += tile_rows)
        if (row_begin + i < in.n && column_begin + x < in.cols)
            values[i][x] = in.row(row_begin + i)[column_begin + x];
    __syncthreads();
    for (int i = y; i < tile; i += tile_rows)
        if (column_begin + i < in.cols && row_begin + x < in.n)
            d_out[(column_begin + i) * stride + row_begin + x] = values[x][i];
}

/// A query's part in shared memory against one training image after another; the first piece sets, others
/// add.
__global__ void __launch_bounds__(threads)
    row_shared_kernel(const float* d_train, std::int64_t stride, FloatRows query, DistanceRows out) {
    __shared__ float pixels[piece];
    const std::int64_t q = blockIdx.x;
    unsigned* out_row = out.row(q);
    for (std::int64_t begin = 0; begin < query.cols; begin += piece) {
        const int size = static_cast<int>(min(std::int64_t{piece}, query.cols - begin));
        __syncthreads();  // the piece before is done with
        for (int i = static_cast<int>(threadIdx.x); i < size; i += threads)
            pixels[i] = query.row(q)[begin + i];
        __syncthreads();
        for (std::int64_t t = std::int64_t{blockIdx.y} * threads + threadIdx.x; t < out.cols;
             t += std::int64_t{gridDim.y} * threads) {
            const float* column = d_train + begin * stride + t;
            unsigned total = begin == 0 ? 0 : out_row[t];
            for (int first = 0; first < size; first += pixels_a_carry) {
                float sum = 0;
                const int last = min(first + pixels_a_carry, size);
#pragma unroll 4
                for (int i = first; i < last; ++i) {
                    const float d = pixels[i] - column[i * stride];
                    sum = fmaf(d, d, sum);
                }
                total += static_cast<unsigned>(sum);
            }
            out_row[t] = total;
        }
    }
}

Refusal supports(const Problem& problem) {
    if (Refusal refusal = refuse_all_but_l2("row_shared", problem)) return refusal;
    return refuse_problem(problem);
}

std::size_t workspace_bytes(const Problem& problem) {
    return sizeof(float) * static_cast<std::size_t>(problem.dim * stride_of(problem.n_train));
}

void enqueue(const Problem& problem, const FloatRows& train, const FloatRows& query, const DistanceRows& out,
             void* d_workspace, cudaStream_t stream) {
    auto* d_columns = static_cast<float*>(d_workspace);
    const std::int64_t stride = stride_of(problem.n_train);
    const dim3 tiles(static_cast<unsigned>(stride / tile),
                     static_cast<unsigned>((problem.dim + tile - 1) / tile));
    transpose_kernel<<<tiles, dim3(tile, tile_rows), 0, stream>>>(train, d_columns, stride);
    check_launch("launching the transposition of row_shared");
    // Enough blocks for a large card even for one query.
    const auto slices = static_cast<unsigned>(std::clamp<std::int64_t>(
        (problem.n_train + threads - 1) / threads, 1, std::max<std::int64_t>(1, 2048 / problem.n_query)));
    row_shared_kernel<<<dim3(static_cast<unsigned>(problem.n_query), slices), threads, 0, stream>>>(
        d_columns, stride, query, out);
    check_launch("launching row_shared");
}

}  // namespace

extern const DistanceKernel row_shared_distance{
    "row_shared", "one query in shared memory a block, the training set column by column", supports,
    workspace_bytes, enqueue};

}  // namespace knn::gpu
