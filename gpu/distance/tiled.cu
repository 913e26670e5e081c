// Distances by square tiles of both sets in shared memory (seed 000, §4.3.1; seed 004, §5.1).
//
// train   n_train × dim floats holding integers 0..255, pitched rows, device memory
// query   n_query × dim floats, the same
// out     n_query × n_train 32-bit scores, pitched rows
// launch  side × side threads, one pair each, looping over dim in steps of `side` pixels. `tiled` has side
//         16, the best in seed 004; tiled8 and tiled32 have side 8 and 32.
// shared  two side × side tiles; the training tile's rows are one float longer, so that adjacent threads read
//         a column from different banks
// metrics l2, l1, lp (terms.cuh)
// limits  dim <= 66,051 (the distance fits 32 bits); any n_train and n_query
// work    n_query · n_train · dim subtractions and multiply-adds, two reads of shared memory for each

#include <cassert>

#include "gpu/distance/distance.h"
#include "gpu/distance/terms.cuh"

namespace knn::gpu {

namespace {

template <int side, class Terms>
__global__ void __launch_bounds__(side* side)
    tiled_kernel(FloatRows train, FloatRows query, DistanceRows out, std::int64_t query_tiles,
                 const __grid_constant__ Terms terms) {
    static_assert(pixels_per_carry % side == 0, "sums are carried between two steps");
    assert(blockDim.x == side && blockDim.y == side && train.cols == query.cols);
    __shared__ float query_tile[side][side], train_tile[side][side + 1];
    __shared__ typename Terms::Shared shared;
    terms.prepare(shared);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t query_begin = blockIdx.x % query_tiles * side;
    const std::int64_t train_begin = blockIdx.x / query_tiles * side;
    const std::int64_t q = query_begin + y, t = train_begin + x;
    const float* query_row = query.row(min(q, query.n - 1));
    const float* train_row = train.row(min(train_begin + y, train.n - 1));

    typename Terms::Sum sum;
    for (std::int64_t begin = 0; begin < train.cols; begin += side) {
        const bool inside = begin + x < train.cols;
        query_tile[y][x] = inside ? query_row[begin + x] : 0;
        train_tile[y][x] = inside ? train_row[begin + x] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < side; ++i)
            sum.add(query_tile[y][i], train_tile[x][i], shared);
        if ((begin + side) % pixels_per_carry == 0) sum.carry();
        __syncthreads();  // all have read the tiles
    }
    if (q < out.n && t < out.cols) out.row(q)[t] = sum.score();
}

template <int side>
void launch(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
            cudaStream_t stream) {
    const std::int64_t query_tiles = divide_up(problem.n_query, side);
    const std::int64_t train_tiles = divide_up(problem.n_train, side);
    with_terms(problem, [&]<class Terms>(const Terms& terms) {
        tiled_kernel<side, Terms><<<grid_size(query_tiles * train_tiles), dim3(side, side), 0, stream>>>(
            in.train.floats, in.query.floats, out, query_tiles, terms);
    });
    check_launch("launching tiled");
}

}  // namespace

extern const DistanceKernel tiled8_distance{
    .name = "tiled8",
    .summary = "8 x 8 tiles of both sets in shared memory, one thread per pair",
    .launch = launch<8>,
    .metrics = direct_metrics};
extern const DistanceKernel tiled_distance{
    .name = "tiled",
    .summary = "16 x 16 tiles of both sets in shared memory, one thread per pair",
    .launch = launch<16>,
    .metrics = direct_metrics};
extern const DistanceKernel tiled32_distance{
    .name = "tiled32",
    .summary = "32 x 32 tiles of both sets in shared memory, one thread per pair",
    .launch = launch<32>,
    .metrics = direct_metrics};

}  // namespace knn::gpu
