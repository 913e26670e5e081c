// Squared Euclidean distances in the steps of seed 004: one thread per pair, and the first two of its three
// tricks.
//
// train   n_train × dim floats holding integers 0..255, pitched rows, device memory
// query   n_query × dim floats, the same
// out     n_query × n_train unsigned 32-bit integers, pitched rows
// launch  pair_plain       §4.1: blocks of 16 × 16 threads, each reads its two images from global memory
//         pair_tileN       §5.1: blocks of N × N threads, tiles of N × N of both sets in shared memory
//         pair_tile16_z    §5.2: the same, with the grid's z dimension for the four quarters of the matrix
//         pair_contest     §6: pair_tile16_z without what a program for one contest can leave out: the tests of borders, and
//                          the number of pixels is known at compile time
//         half_plain       §4.1 as the seed has it, for queries that are the training points: a thread of q < t computes the
//                          pair and writes it to both places, that of q = t writes a distance above all others
//         half_tile16      §5.1 likewise; blocks below the diagonal end at once
//         As in the seed, x is the fastest dimension in memory, so adjacent threads write adjacent distances.
// exact   (a − b)² is summed in a float that is added to an integer every 256 pixels: 256 · 65,025 < 2²⁴
// limits  dim <= 66,051 (the distance fits 32 bits); 65,535 blocks of queries. pair_contest: 128 pixels, numbers of points
//         that are multiples of 16. half_*: query i is training point i, n_query <= n_train.
// work    n_query · n_train · dim subtractions and multiply-adds; half_*: half of them for n_query = n_train, and as many
//         scattered as contiguous writes

#include <cassert>

#include "data/core/device_index.h"
#include "gpu/bench/rungs.h"
#include "gpu/distance/terms.cuh"

namespace knn::gpu {

namespace {

constexpr int plain_side = 16;
constexpr int contest_dim = 128, contest_side = 16;

/// Which pairs a kernel computes.
enum class Pairs { all, half };

/// Writes the distance of query q and training point t. half: q is a training point; only called for q <= t.
template <Pairs pairs>
__device__ void write(const DistanceRows& out, std::int64_t q, std::int64_t t, unsigned distance) {
    if constexpr (pairs == Pairs::half) {
        assert(q <= t);
        if (q == t) distance = excluded_distance;
        if (t < out.n) out.row(t)[q] = distance;  // there may be rows for the first queries only
    }
    out.row(q)[t] = distance;
}

template <Pairs pairs>
__global__ void __launch_bounds__(plain_side* plain_side)
    plain_kernel(FloatRows train, FloatRows query, DistanceRows out) {
    const std::int64_t t = std::int64_t{blockIdx.x} * plain_side + threadIdx.x;
    const std::int64_t q = std::int64_t{blockIdx.y} * plain_side + threadIdx.y;
    if (q >= out.n || t >= out.cols || (pairs == Pairs::half && q > t)) return;
    const float *a = query.row(q), *b = train.row(t);
    const int dim = static_cast<int>(train.cols);
    L2::Sum sum;
    for (int begin = 0; begin < dim; begin += pixels_per_carry) {
        for (int i = begin; i < min(begin + pixels_per_carry, dim); ++i)
            sum.add(a[i], b[i], {});
        sum.carry();
    }
    write<pairs>(out, q, t, sum.score());
}

/// blockIdx.z: quarter of the matrix; a grid with one layer covers all of it. fixed_dim: the number of pixels if it is known
/// at compile time, else 0; then there are no tests of borders either.
template <int side, Pairs pairs, int fixed_dim>
__global__ void __launch_bounds__(side* side)
    tile_kernel(FloatRows train, FloatRows query, DistanceRows out) {
    constexpr bool whole = fixed_dim > 0;
    static_assert(fixed_dim % side == 0 && fixed_dim <= pixels_per_carry);
    __shared__ float query_tile[side][side], train_tile[side][side + 1];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t train_begin = (std::int64_t{blockIdx.x} + blockIdx.z / 2 * gridDim.x) * side;
    const std::int64_t query_begin = (std::int64_t{blockIdx.y} + blockIdx.z % 2 * gridDim.y) * side;
    if (pairs == Pairs::half && query_begin >= train_begin + side) return;  // the whole block
    assert(!whole ||
           (query_begin + side <= out.n && train_begin + side <= out.cols && train.cols == fixed_dim));
    const std::int64_t q = query_begin + y, t = train_begin + x;
    const float* query_row = query.row(whole ? q : min(q, query.n - 1));
    const float* train_row = train.row(whole ? train_begin + y : min(train_begin + y, train.n - 1));
    const int dim = whole ? fixed_dim : static_cast<int>(train.cols);
    L2::Sum sum;
    for (int begin = 0; begin < dim; begin += side) {
        const bool inside = whole || begin + x < dim;
        query_tile[y][x] = inside ? query_row[begin + x] : 0;
        train_tile[y][x] = inside ? train_row[begin + x] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < side; ++i)
            sum.add(query_tile[y][i], train_tile[x][i], {});
        if (!whole && (begin + side) % pixels_per_carry == 0) sum.carry();
        __syncthreads();  // all have read the tiles
    }
    if (whole || (q < out.n && t < out.cols && (pairs == Pairs::all || q <= t)))
        write<pairs>(out, q, t, sum.score());
}

template <int side>
UnsupportedReason refuse(const Problem& problem) {
    if (problem.n_query <= max_grid_y * side) return std::nullopt;
    return "the grid has 65,535 rows of blocks: expected at most " + std::to_string(max_grid_y * side) +
           " queries";
}

UnsupportedReason refuse_contest(const Problem& problem) {
    if (problem.dim != contest_dim || problem.n_train % contest_side != 0 ||
        problem.n_query % contest_side != 0)
        return "the contest program has no tests of borders: expected 128 pixels, and numbers of points that "
               "are multiples of 16";
    return refuse<contest_side>(problem);
}

unsigned blocks(std::int64_t n, int of) {
    return static_cast<unsigned>(divide_up(n, of));
}

template <Pairs pairs>
void launch_plain(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                  cudaStream_t stream) {
    require(pairs == Pairs::all || problem.n_query <= problem.n_train,
            "queries that are the first training points");
    const dim3 grid(blocks(problem.n_train, plain_side), blocks(problem.n_query, plain_side));
    plain_kernel<pairs>
        <<<grid, dim3(plain_side, plain_side), 0, stream>>>(in.train.floats, in.query.floats, out);
    check_launch("launching one thread per pair");
}

/// layers: 1, or 4 with half the width and height each.
template <int side, int layers, Pairs pairs = Pairs::all, int fixed_dim = 0>
void launch(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
            cudaStream_t stream) {
    require(pairs == Pairs::all || problem.n_query <= problem.n_train,
            "queries that are the first training points");
    constexpr int halves = layers == 4 ? 2 : 1;
    const dim3 grid(blocks(problem.n_train, side * halves), blocks(problem.n_query, side * halves), layers);
    tile_kernel<side, pairs, fixed_dim>
        <<<grid, dim3(side, side), 0, stream>>>(in.train.floats, in.query.floats, out);
    check_launch("launching tiles of seed 004");
}

/// Whole tiles in each layer.
void launch_contest(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                    cudaStream_t stream) {
    require(!refuse_contest(problem), "whole tiles of points with 128 pixels");
    const bool quarters =
        problem.n_train % (2 * contest_side) == 0 && problem.n_query % (2 * contest_side) == 0;
    const auto launch_tiles = quarters ? launch<contest_side, 4, Pairs::all, contest_dim>
                                       : launch<contest_side, 1, Pairs::all, contest_dim>;
    launch_tiles(problem, in, out, nullptr, stream);
}

template <int side, int layers>
constexpr DistanceKernel tiles(const char* name, const char* summary) {
    return {.name = name, .summary = summary, .refuse = refuse<side>, .launch = launch<side, layers>};
}

}  // namespace

extern const DistanceKernel pair_plain{.name = "pair_plain",
                                       .summary = "seed 004, §4.1: one thread per pair",
                                       .refuse = refuse<plain_side>,
                                       .launch = launch_plain<Pairs::all>};
extern const DistanceKernel half_plain{.name = "half_plain",
                                       .summary = "seed 004, §4.1: one thread per two equal distances",
                                       .refuse = refuse<plain_side>,
                                       .launch = launch_plain<Pairs::half>,
                                       .operations = 1.5};
extern const DistanceKernel half_tile16{
    .name = "half_tile16",
    .summary = "seed 004, §5.1: one of each two equal distances, by tiles",
    .refuse = refuse<16>,
    .launch = launch<16, 1, Pairs::half>,
    .operations = 1.5};
extern const DistanceKernel pair_contest{
    .name = "pair_contest",
    .summary = "seed 004, §6: tiles of 16 x 16, without tests of borders",
    .refuse = refuse_contest,
    .launch = launch_contest};
extern const DistanceKernel pair_tile4 = tiles<4, 1>("pair_tile4", "seed 004, §5.1: tiles of 4 x 4");
extern const DistanceKernel pair_tile8 = tiles<8, 1>("pair_tile8", "seed 004, §5.1: tiles of 8 x 8");
extern const DistanceKernel pair_tile16 = tiles<16, 1>("pair_tile16", "seed 004, §5.1: tiles of 16 x 16");
extern const DistanceKernel pair_tile32 = tiles<32, 1>("pair_tile32", "seed 004, §5.1: tiles of 32 x 32");
extern const DistanceKernel pair_tile16_z = tiles<16, 4>(
    "pair_tile16_z", "seed 004, §5.2: tiles of 16 x 16, one grid layer per quarter of the matrix");

}  // namespace knn::gpu
