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
#include "data/core/round_up.h"
#include "gpu/bench/rungs.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr int pixels_per_carry = 256;
constexpr int plain_side = 16;
constexpr int contest_dim = 128, contest_side = 16;
constexpr std::int64_t max_blocks_y = 65'535;

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
    unsigned total = 0;
    for (int begin = 0; begin < dim; begin += pixels_per_carry) {
        float sum = 0;
        for (int i = begin; i < min(begin + pixels_per_carry, dim); ++i) {
            const float d = a[i] - b[i];
            sum = fmaf(d, d, sum);
        }
        total += static_cast<unsigned>(sum);
    }
    write<pairs>(out, q, t, total);
}

/// blockIdx.z: quarter of the matrix; a grid with one layer covers all of it.
template <int side, Pairs pairs>
__global__ void __launch_bounds__(side* side)
    tile_kernel(FloatRows train, FloatRows query, DistanceRows out) {
    __shared__ float query_tile[side][side], train_tile[side][side + 1];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t train_begin = (std::int64_t{blockIdx.x} + blockIdx.z / 2 * gridDim.x) * side;
    const std::int64_t query_begin = (std::int64_t{blockIdx.y} + blockIdx.z % 2 * gridDim.y) * side;
    if (pairs == Pairs::half && query_begin >= train_begin + side) return;  // the whole block
    const std::int64_t q = query_begin + y, t = train_begin + x;
    const float* query_row = query.row(min(q, query.n - 1));
    const float* train_row = train.row(min(train_begin + y, train.n - 1));
    const int dim = static_cast<int>(train.cols);
    unsigned total = 0;
    float sum = 0;
    for (int begin = 0; begin < dim; begin += side) {
        const bool inside = begin + x < dim;
        query_tile[y][x] = inside ? query_row[begin + x] : 0;
        train_tile[y][x] = inside ? train_row[begin + x] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < side; ++i) {
            const float d = query_tile[y][i] - train_tile[x][i];
            sum = fmaf(d, d, sum);
        }
        if ((begin + side) % pixels_per_carry == 0) {
            total += static_cast<unsigned>(sum);
            sum = 0;
        }
        __syncthreads();  // all have read the tiles
    }
    if (q < out.n && t < out.cols && (pairs == Pairs::all || q <= t))
        write<pairs>(out, q, t, total + static_cast<unsigned>(sum));
}

/// Grid: tiles of half of the training points × half of the queries × 4 if `layers` is 4, else all tiles.
template <int layers>
__global__ void __launch_bounds__(contest_side* contest_side)
    contest_kernel(FloatRows train, FloatRows query, DistanceRows out) {
    constexpr int side = contest_side;
    static_assert(contest_dim % side == 0 && contest_dim <= pixels_per_carry);
    __shared__ float query_tile[side][side], train_tile[side][side + 1];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const unsigned layer = layers == 4 ? blockIdx.z : 0;
    const std::int64_t train_begin = (std::int64_t{blockIdx.x} + layer / 2 * gridDim.x) * side;
    const std::int64_t query_begin = (std::int64_t{blockIdx.y} + layer % 2 * gridDim.y) * side;
    assert(query_begin + side <= out.n && train_begin + side <= out.cols && train.cols == contest_dim);
    const float* query_row = query.row(query_begin + y) + x;
    const float* train_row = train.row(train_begin + y) + x;
    float sum = 0;
    for (int begin = 0; begin < contest_dim; begin += side) {
        query_tile[y][x] = query_row[begin];
        train_tile[y][x] = train_row[begin];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < side; ++i) {
            const float d = query_tile[y][i] - train_tile[x][i];
            sum = fmaf(d, d, sum);
        }
        __syncthreads();  // all have read the tiles
    }
    out.row(query_begin + y)[train_begin + x] = static_cast<unsigned>(sum);
}

template <int side>
Refusal supports(const Problem& problem) {
    if (Refusal refusal = refuse_all_but_l2("the tiles of seed 004", problem)) return refusal;
    if (problem.n_query > max_blocks_y * side)
        return "the grid has 65,535 rows of blocks: expected at most " + std::to_string(max_blocks_y * side) +
               " queries";
    return refuse_problem(problem);
}

Refusal supports_contest(const Problem& problem) {
    if (problem.dim != contest_dim || problem.n_train % contest_side != 0 ||
        problem.n_query % contest_side != 0)
        return "the contest program has no tests of borders: expected 128 pixels, and numbers of points that "
               "are "
               "multiples of 16";
    return supports<contest_side>(problem);
}

unsigned blocks(std::int64_t n, int of) {
    return static_cast<unsigned>(divide_up(n, of));
}

template <Pairs pairs>
void enqueue_plain(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                   cudaStream_t stream) {
    const dim3 grid(blocks(problem.n_train, plain_side), blocks(problem.n_query, plain_side));
    if constexpr (pairs == Pairs::half)
        require(problem.n_query <= problem.n_train, "queries that are the first training points");
    plain_kernel<pairs>
        <<<grid, dim3(plain_side, plain_side), 0, stream>>>(in.train.floats, in.query.floats, out);
    check_launch("launching one thread per pair");
}

/// layers: 1, or 4 with half the width and height each.
template <int side, int layers, Pairs pairs = Pairs::all>
void enqueue_tiles(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                   cudaStream_t stream) {
    constexpr int halves = layers == 4 ? 2 : 1;
    const dim3 grid(blocks(problem.n_train, side * halves), blocks(problem.n_query, side * halves), layers);
    if constexpr (pairs == Pairs::half)
        require(problem.n_query <= problem.n_train, "queries that are the first training points");
    tile_kernel<side, pairs><<<grid, dim3(side, side), 0, stream>>>(in.train.floats, in.query.floats, out);
    check_launch("launching tiles of seed 004");
}

void enqueue_contest(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
                     cudaStream_t stream) {
    require(!supports_contest(problem), "whole tiles of points with 128 pixels");
    const auto n_train = static_cast<unsigned>(problem.n_train / contest_side),
               n_query = static_cast<unsigned>(problem.n_query / contest_side);
    const dim3 block(contest_side, contest_side);
    if (n_train % 2 == 0 && n_query % 2 == 0)
        contest_kernel<4>
            <<<dim3(n_train / 2, n_query / 2, 4), block, 0, stream>>>(in.train.floats, in.query.floats, out);
    else
        contest_kernel<1>
            <<<dim3(n_train, n_query), block, 0, stream>>>(in.train.floats, in.query.floats, out);
    check_launch("launching the contest program of seed 004");
}

}  // namespace

#define TILES(tiles, side, layers, text)                                                                    \
    extern const DistanceKernel tiles {                                                                     \
        .name = #tiles, .summary = text, .supports = supports<side>, .enqueue = enqueue_tiles<side, layers> \
    }

extern const DistanceKernel pair_plain{.name = "pair_plain",
                                       .summary = "seed 004, §4.1: one thread per pair",
                                       .supports = supports<plain_side>,
                                       .enqueue = enqueue_plain<Pairs::all>};
extern const DistanceKernel half_plain{.name = "half_plain",
                                       .summary = "seed 004, §4.1: one thread per two equal distances",
                                       .supports = supports<plain_side>,
                                       .enqueue = enqueue_plain<Pairs::half>,
                                       .operations = 1.5};
extern const DistanceKernel half_tile16{
    .name = "half_tile16",
    .summary = "seed 004, §5.1: one of each two equal distances, by tiles",
    .supports = supports<16>,
    .enqueue = enqueue_tiles<16, 1, Pairs::half>,
    .operations = 1.5};
extern const DistanceKernel pair_contest{
    .name = "pair_contest",
    .summary = "seed 004, §6: tiles of 16 x 16, without tests of borders",
    .supports = supports_contest,
    .enqueue = enqueue_contest};
TILES(pair_tile4, 4, 1, "seed 004, §5.1: tiles of 4 x 4");
TILES(pair_tile8, 8, 1, "seed 004, §5.1: tiles of 8 x 8");
TILES(pair_tile16, 16, 1, "seed 004, §5.1: tiles of 16 x 16");
TILES(pair_tile32, 32, 1, "seed 004, §5.1: tiles of 32 x 32");
TILES(pair_tile16_z, 16, 4, "seed 004, §5.2: tiles of 16 x 16, one grid layer per quarter of the matrix");

#undef TILES

}  // namespace knn::gpu
