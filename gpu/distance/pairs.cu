// Distances by one thread per pair: from global memory, or by square tiles of both sets in shared memory. `naive` and `tiled`
// are kernels like others; the rest, for `bench` alone, are the steps of seeds 003 and 004.
//
// train    n_train × dim floats holding integers 0..255, pitched rows, device memory
// query    n_query × dim floats, the same
// out      n_query × n_train 32-bit scores, pitched rows
// launch   naive           blocks of 256 training images and one query (seed 003, §3.2 "original")
//          ladder_scalar   the same as in that program: one launch per query, and a loop that is not unrolled
//          pair_plain      seed 004, §4.1: blocks of 16 × 16 pairs
//          half_plain      the same as the seed has it, for queries that are the training points: a thread of q < t computes
//                          the pair and writes it to both places, that of q = t writes a distance above all others
//          tiledN          blocks of N × N threads, tiles of N × N pixels of both sets in shared memory (seed 000, §4.3.1);
//                          `tiled` is that of 16, the best in seed 004, §5.1
//          pair_tileN      the same for `bench`
//          half_*          the same kernels for half of the pairs; blocks below the diagonal end at once
//          pair_tile16_z   seed 004, §5.2: the grid's z dimension for the four quarters of the matrix
//          pair_contest    §6: pair_tile16_z without what a program for one contest can leave out: the tests of borders, and
//                          the number of pixels is known at compile time
//          Adjacent threads write adjacent distances, and adjacent blocks have adjacent training images, as in the seeds.
// shared   the training tile's rows are one float longer, so that adjacent threads read a column from different banks
// metrics  l2, l1, lp (terms.cuh); those for `bench` alone: l2
// limits   dim <= 66,051 (the distance fits 32 bits); any n_train and n_query. pair_contest: 128 pixels, numbers of points
//          that are multiples of 16. half_*: query i is training point i, n_query <= n_train.
// work     n_query · n_train · dim subtractions and multiply-adds; half_*: half of them for n_query = n_train, and as many
//          scattered as contiguous writes

#include <cassert>

#include "data/core/device_index.h"
#include "gpu/distance/distance.h"
#include "gpu/distance/terms.cuh"

namespace knn::gpu {

namespace {

constexpr int contest_dim = 128, contest_side = 16;

/// Which pairs a kernel computes.
enum class Pairs { all, half };

/// The first pair of a block of `width` training images and `height` queries; `row_blocks` of them have the same queries.
/// blockIdx.z: the quarter of the matrix, where there are four.
struct Corner {
    std::int64_t q, t;
};
template <int width, int height>
__device__ Corner corner(unsigned row_blocks) {
    const std::int64_t x = blockIdx.x % row_blocks + std::int64_t{blockIdx.z / 2} * row_blocks;
    const std::int64_t y = blockIdx.x / row_blocks + std::int64_t{blockIdx.z % 2} * (gridDim.x / row_blocks);
    return {y * height, x * width};
}

/// Writes the score of query q and training point t. half: q is a training point; only called for q <= t.
template <Pairs pairs>
__device__ void write(const DistanceRows& out, std::int64_t q, std::int64_t t, unsigned score) {
    if constexpr (pairs == Pairs::half) {
        assert(q <= t);
        if (q == t) score = excluded_distance;
        if (t < out.n) out.row(t)[q] = score;  // there may be rows for the first queries only
    }
    out.row(q)[t] = score;
}

template <class Terms, Pairs pairs, int width, int height, int unroll>
__global__ void __launch_bounds__(width* height)
    plain_kernel(FloatRows train, FloatRows query, DistanceRows out, unsigned row_blocks,
                 const __grid_constant__ Terms terms) {
    __shared__ typename Terms::Shared shared;
    terms.prepare(shared);
    const Corner first = corner<width, height>(row_blocks);
    const std::int64_t q = first.q + threadIdx.y, t = first.t + threadIdx.x;
    if (q >= out.n || t >= out.cols || (pairs == Pairs::half && q > t)) return;
    const float *a = query.row(q), *b = train.row(t);
    const int dim = static_cast<int>(train.cols);
    typename Terms::Sum sum;
    for (int begin = 0; begin < dim; begin += pixels_per_carry) {
        const int end = min(begin + pixels_per_carry, dim);
#pragma unroll unroll
        for (int i = begin; i < end; ++i)
            sum.add(a[i], b[i], shared);
        sum.carry();
    }
    write<pairs>(out, q, t, sum.score());
}

/// fixed_dim: the number of pixels if it is known at compile time, else 0; then there are no tests of borders either.
template <class Terms, Pairs pairs, int side, int fixed_dim>
__global__ void __launch_bounds__(side* side)
    tile_kernel(FloatRows train, FloatRows query, DistanceRows out, unsigned row_blocks,
                const __grid_constant__ Terms terms) {
    constexpr bool whole = fixed_dim > 0;
    static_assert(pixels_per_carry % side == 0, "sums are carried between two steps");
    static_assert(fixed_dim % side == 0 && fixed_dim <= pixels_per_carry);
    assert(blockDim.x == side && blockDim.y == side && train.cols == query.cols);
    __shared__ float query_tile[side][side], train_tile[side][side + 1];
    __shared__ typename Terms::Shared shared;
    terms.prepare(shared);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const Corner first = corner<side, side>(row_blocks);
    if (pairs == Pairs::half && first.q >= first.t + side) return;  // the whole block
    assert(!whole || (first.q + side <= out.n && first.t + side <= out.cols && train.cols == fixed_dim));
    const std::int64_t q = first.q + y, t = first.t + x;
    const float* query_row = query.row(whole ? q : min(q, query.n - 1));
    const float* train_row = train.row(whole ? first.t + y : min(first.t + y, train.n - 1));
    const int dim = whole ? fixed_dim : static_cast<int>(train.cols);
    typename Terms::Sum sum;
    for (int begin = 0; begin < dim; begin += side) {
        const bool inside = whole || begin + x < dim;
        query_tile[y][x] = inside ? query_row[begin + x] : 0;
        train_tile[y][x] = inside ? train_row[begin + x] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < side; ++i)
            sum.add(query_tile[y][i], train_tile[x][i], shared);
        if (!whole && (begin + side) % pixels_per_carry == 0) sum.carry();
        __syncthreads();  // all have read the tiles
    }
    if ((whole || (q < out.n && t < out.cols)) && (pairs == Pairs::all || q <= t))
        write<pairs>(out, q, t, sum.score());
}

UnsupportedReason refuse_contest(const Problem& problem) {
    if (problem.dim == contest_dim && problem.n_train % contest_side == 0 &&
        problem.n_query % contest_side == 0)
        return std::nullopt;
    return "the contest program has no tests of borders: expected 128 pixels, and numbers of points that are "
           "multiples of 16";
}

/// Launches `kernel` on blocks of width × height pairs; layers: 1, or 4 with half the width and height each.
template <Pairs pairs, int width, int height, class Terms, class Kernel>
void launch_blocks(Kernel kernel, const Images& train, const Images& query, const DistanceRows& out,
                   const Terms& terms, int layers, cudaStream_t stream) {
    require(pairs == Pairs::all || out.n <= out.cols, "queries that are the first training points");
    const int halves = layers == 4 ? 2 : 1;
    const std::int64_t row_blocks = divide_up(out.cols, width * halves);
    const dim3 grid(grid_size(row_blocks * divide_up(out.n, height * halves)), 1,
                    static_cast<unsigned>(layers));
    kernel<<<grid, dim3(width, height), 0, stream>>>(train.floats, query.floats, out,
                                                     static_cast<unsigned>(row_blocks), terms);
    check_launch("launching a thread per pair");
}

template <Pairs pairs, int width, int height>
void launch_plain(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                  cudaStream_t stream) {
    with_terms(problem, [&]<class Terms>(const Terms& terms) {
        launch_blocks<pairs, width, height>(plain_kernel<Terms, pairs, width, height, 4>, in.train, in.query,
                                            out, terms, 1, stream);
    });
}

template <int side, Pairs pairs = Pairs::all, int layers = 1>
void launch_tiles(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                  cudaStream_t stream) {
    with_terms(problem, [&]<class Terms>(const Terms& terms) {
        launch_blocks<pairs, side, side>(tile_kernel<Terms, pairs, side, 0>, in.train, in.query, out, terms,
                                         layers, stream);
    });
}

/// Whole tiles in each layer.
template <Pairs pairs>
void launch_contest(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                    cudaStream_t stream) {
    require(!refuse_contest(problem), "whole tiles of points with 128 pixels");
    const bool quarters =
        problem.n_train % (2 * contest_side) == 0 && problem.n_query % (2 * contest_side) == 0;
    launch_blocks<pairs, contest_side, contest_side>(tile_kernel<L2, pairs, contest_side, contest_dim>,
                                                     in.train, in.query, out, L2{}, quarters ? 4 : 1, stream);
}

void launch_ladder(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                   cudaStream_t stream) {
    for (std::int64_t q = 0; q < problem.n_query; ++q)
        launch_blocks<Pairs::all, 256, 1>(plain_kernel<L2, Pairs::all, 256, 1, 1>, in.train,
                                          {in.query.floats.slice(q, 1), {}}, out.slice(q, 1), L2{}, 1,
                                          stream);
}

}  // namespace

extern const DistanceKernel naive_distance{.name = "naive",
                                           .summary = "one thread per pair, scalar loads from global memory",
                                           .launch = launch_plain<Pairs::all, 256, 1>,
                                           .metrics = direct_metrics};
extern const DistanceKernel tiled8_distance{
    .name = "tiled8",
    .summary = "8 x 8 tiles of both sets in shared memory, one thread per pair",
    .launch = launch_tiles<8>,
    .metrics = direct_metrics};
extern const DistanceKernel tiled_distance{
    .name = "tiled",
    .summary = "16 x 16 tiles of both sets in shared memory, one thread per pair",
    .launch = launch_tiles<16>,
    .metrics = direct_metrics};
extern const DistanceKernel tiled32_distance{
    .name = "tiled32",
    .summary = "32 x 32 tiles of both sets in shared memory, one thread per pair",
    .launch = launch_tiles<32>,
    .metrics = direct_metrics};

extern const DistanceKernel ladder_scalar{
    .name = "ladder_scalar", .summary = "seed 003, original: scalar loads", .launch = launch_ladder};
extern const DistanceKernel pair_plain{.name = "pair_plain",
                                       .summary = "seed 004, §4.1: one thread per pair",
                                       .launch = launch_plain<Pairs::all, 16, 16>};
extern const DistanceKernel pair_tile4{
    .name = "pair_tile4", .summary = "seed 004, §5.1: tiles of 4 x 4", .launch = launch_tiles<4>};
extern const DistanceKernel pair_tile8{
    .name = "pair_tile8", .summary = "seed 004, §5.1: tiles of 8 x 8", .launch = launch_tiles<8>};
extern const DistanceKernel pair_tile16{
    .name = "pair_tile16", .summary = "seed 004, §5.1: tiles of 16 x 16", .launch = launch_tiles<16>};
extern const DistanceKernel pair_tile32{
    .name = "pair_tile32", .summary = "seed 004, §5.1: tiles of 32 x 32", .launch = launch_tiles<32>};
extern const DistanceKernel pair_tile16_z{
    .name = "pair_tile16_z",
    .summary = "seed 004, §5.2: tiles of 16 x 16, one grid layer per quarter of the matrix",
    .launch = launch_tiles<16, Pairs::all, 4>};
extern const DistanceKernel pair_contest{
    .name = "pair_contest",
    .summary = "seed 004, §6: tiles of 16 x 16, without tests of borders",
    .refuse = refuse_contest,
    .launch = launch_contest<Pairs::all>};
extern const DistanceKernel half_plain{.name = "half_plain",
                                       .summary = "seed 004, §4.1: one thread per two equal distances",
                                       .launch = launch_plain<Pairs::half, 16, 16>,
                                       .operations = 1.5};
extern const DistanceKernel half_tile4{.name = "half_tile4",
                                       .summary = "seed 004, §5.1: half of the pairs, tiles of 4 x 4",
                                       .launch = launch_tiles<4, Pairs::half>,
                                       .operations = 1.5};
extern const DistanceKernel half_tile8{.name = "half_tile8",
                                       .summary = "seed 004, §5.1: half of the pairs, tiles of 8 x 8",
                                       .launch = launch_tiles<8, Pairs::half>,
                                       .operations = 1.5};
extern const DistanceKernel half_tile16{.name = "half_tile16",
                                        .summary = "seed 004, §5.1: half of the pairs, tiles of 16 x 16",
                                        .launch = launch_tiles<16, Pairs::half>,
                                        .operations = 1.5};
extern const DistanceKernel half_tile32{.name = "half_tile32",
                                        .summary = "seed 004, §5.1: half of the pairs, tiles of 32 x 32",
                                        .launch = launch_tiles<32, Pairs::half>,
                                        .operations = 1.5};
extern const DistanceKernel half_tile16_z{.name = "half_tile16_z",
                                          .summary = "seed 004, §5.2: half_tile16, a grid layer per quarter",
                                          .launch = launch_tiles<16, Pairs::half, 4>,
                                          .operations = 1.5};
extern const DistanceKernel half_contest{.name = "half_contest",
                                         .summary = "seed 004, §6: half_tile16_z without tests of borders",
                                         .refuse = refuse_contest,
                                         .launch = launch_contest<Pairs::half>,
                                         .operations = 1.5};

}  // namespace knn::gpu
