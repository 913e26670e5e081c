// Distances by one thread per pair: from global memory, or by square tiles of both sets in shared memory.
//
// launch   naive     blocks of 256 training images and one query
//          tiledN    seed 000, §4.3.1: blocks of N × N threads, tiles of N × N pixels of both sets in shared memory; `tiled` is
//                    that of 16, the best in seed 004, §5.1
//          For `bench` alone:
//          ladder_*  the steps of seed 003, §3, with one launch per query as in its program; each changes one thing of the one
//                    before: _scalar §3.2 "original", a loop that is not unrolled; _float4 §3.2 "optimized", four pixels at a
//                    time; _shared §3.4, the query in shared memory; _unroll4 §3.5, by 4 steps of four pixels; _unroll8 §3.2,
//                    in its code; _unrolled fully, compiled for 784 pixels
//          half_*    seed 004, for queries that are the training points: a thread of q < t computes the pair and writes it to
//                    both places, that of q = t writes a distance above all others; blocks below the diagonal end at once.
//                    _plain §4.1, blocks of 16 × 16; _tileN §5.1; _tile16_z §5.2, the grid's z dimension for the four quarters
//                    of the matrix; _contest §6, this without what a program for one contest can leave out: the tests of
//                    borders, and the number of pixels is known at compile time
//          Adjacent threads write adjacent distances, and adjacent blocks have adjacent training images, as in the seeds.
// shared   the training tile's rows are one float longer, so that adjacent threads read a column from different banks
// metrics  l2, l1, lp (terms.cuh); those for `bench` alone: l2
// exact    a float sum takes at most 256 terms of up to 255² before it is added to an integer: 256 · 65,025 < 2²⁴; each lane
//          of a float4 has its own
// limits   with the query in shared memory dim <= 12,288 (48 KiB). half_*: query i is training point i, n_query <= n_train
// work     n_query · n_train · dim subtractions and multiply-adds; half_*: half of them for n_query = n_train, and as many
//          scattered as contiguous writes

#include <cassert>

#include "data/core/device_index.h"
#include "gpu/distance/distance.h"
#include "gpu/distance/terms.cuh"

namespace knn::gpu {

namespace {

constexpr int contest_dim = 128, contest_side = 16, unrolled_dim = 784;
constexpr std::int64_t max_shared_dim = 48 * 1024 / sizeof(float);

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

/// L2 by four pixels at a time.
struct FourL2 : CarriedTerms {
    struct Sum {
        float4 part = {0, 0, 0, 0};
        unsigned total = 0;
        __device__ void add(const float4& a, const float4& b, const Shared&) {
            add_terms<Metric::l2>(part, a, b);
        }
        __device__ void carry() {
            total += integer_sum(part);
            part = {0, 0, 0, 0};
        }
        __device__ std::uint32_t score() const { return total; }
    };
};

/// Load: float or float4, what Terms adds at once. unroll: of these, per iteration. shared_query: all queries of a block, one,
/// in shared memory. fixed_dim: the number of pixels if it is known at compile time, else 0.
template <class Terms, class Load, Pairs pairs, int width, int height, int unroll, bool shared_query,
          int fixed_dim>
__global__ void __launch_bounds__(width* height)
    plain_kernel(FloatRows train, FloatRows query, DistanceRows out, unsigned row_blocks,
                 const __grid_constant__ Terms terms) {
    constexpr int pixels = sizeof(Load) / sizeof(float);
    static_assert(fixed_dim % pixels == 0 && (!shared_query || height == 1));
    extern __shared__ float4 query_in_shared[];
    __shared__ typename Terms::Shared shared;
    terms.prepare(shared);
    const Corner first = corner<width, height>(row_blocks);
    const std::int64_t q = first.q + threadIdx.y, t = first.t + threadIdx.x;
    const int steps = (fixed_dim > 0 ? fixed_dim : static_cast<int>(train.cols) + pixels - 1) / pixels;
    const auto* a = reinterpret_cast<const Load*>(query.row(min(q, query.n - 1)));
    if constexpr (shared_query) {
        auto* copy = reinterpret_cast<Load*>(query_in_shared);
        for (int i = static_cast<int>(threadIdx.x); i < steps; i += width)
            copy[i] = a[i];
        __syncthreads();
        a = copy;
    }
    if (q >= out.n || t >= out.cols || (pairs == Pairs::half && q > t)) return;
    const auto* b = reinterpret_cast<const Load*>(train.row(t));
    typename Terms::Sum sum;
    for (int begin = 0; begin < steps; begin += pixels_per_carry) {
        const int end = min(begin + pixels_per_carry, steps);
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

/// Launches `kernel` on blocks of width × height pairs; layers: 1, or 4 with half the width and height each.
template <int width, int height, class Terms, class Kernel>
void launch_blocks(const DistanceLaunch& of, Kernel kernel, const Terms& terms, int layers = 1,
                   std::size_t shared_bytes = 0) {
    const int halves = layers == 4 ? 2 : 1;
    const std::int64_t row_blocks = divide_up(of.out.cols, width * halves);
    const dim3 grid(grid_size(row_blocks * divide_up(of.out.n, height * halves)), 1,
                    static_cast<unsigned>(layers));
    kernel<<<grid, dim3(width, height), shared_bytes, of.stream>>>(
        of.in.train.floats, of.in.query.floats, of.out, static_cast<unsigned>(row_blocks), terms);
}

template <Pairs pairs, int width, int height>
void launch_plain(const DistanceLaunch& of) {
    with_terms(of.problem, [&]<class Terms>(const Terms& terms) {
        launch_blocks<width, height>(of, plain_kernel<Terms, float, pairs, width, height, 4, false, 0>,
                                     terms);
    });
}

template <int side, Pairs pairs = Pairs::all, int layers = 1>
void launch_tiles(const DistanceLaunch& of) {
    with_terms(of.problem, [&]<class Terms>(const Terms& terms) {
        launch_blocks<side, side>(of, tile_kernel<Terms, pairs, side, 0>, terms, layers);
    });
}

/// Whole tiles in each layer.
void launch_contest(const DistanceLaunch& of) {
    const int layers = of.out.cols % (2 * contest_side) == 0 && of.out.n % (2 * contest_side) == 0 ? 4 : 1;
    launch_blocks<contest_side, contest_side>(of, tile_kernel<L2, Pairs::half, contest_side, contest_dim>,
                                              L2{}, layers);
}

template <bool shared_query, int fixed_dim>
UnsupportedReason refuse_rung(const Problem& problem) {
    if (fixed_dim > 0 && problem.dim != fixed_dim)
        return "the unrolled rung is compiled for images of " + std::to_string(fixed_dim) + " pixels";
    if (shared_query && problem.dim > max_shared_dim)
        return "the rung keeps the test image in 48 KiB of shared memory: expected at most 12,288 pixels";
    return std::nullopt;
}

template <class Terms, class Load, int unroll, bool shared_query, int fixed_dim>
void launch_rung(const DistanceLaunch& of) {
    const std::int64_t bytes = shared_query ? round_up(of.problem.dim, 4) * std::int64_t{sizeof(float)} : 0;
    DistanceLaunch one = of;
    for (std::int64_t q = 0; q < of.out.n; ++q) {
        one.in.query.floats = of.in.query.floats.slice(q, 1);
        one.out = of.out.slice(q, 1);
        launch_blocks<256, 1>(one,
                              plain_kernel<Terms, Load, Pairs::all, 256, 1, unroll, shared_query, fixed_dim>,
                              Terms{}, 1, static_cast<std::size_t>(bytes));
    }
}

template <class Terms, class Load, int unroll, bool shared_query = false, int fixed_dim = 0>
constexpr DistanceKernel rung(const char* name) {
    return {name,
            "",
            launch_rung<Terms, Load, unroll, shared_query, fixed_dim>,
            {.refuse = refuse_rung<shared_query, fixed_dim>}};
}

UnsupportedReason refuse_half(const Problem& problem) {
    if (problem.n_query <= problem.n_train) return std::nullopt;
    return "the queries are the first training points";
}

UnsupportedReason refuse_contest(const Problem& problem) {
    if (problem.dim == contest_dim && problem.n_train % contest_side == 0 &&
        problem.n_query % contest_side == 0)
        return refuse_half(problem);
    return "the contest program has no tests of borders: expected 128 pixels, and numbers of points that are "
           "multiples of 16";
}

constexpr DistanceOptions for_sums{.metrics = direct_metrics},
    half{.refuse = refuse_half, .operations = 1.5, .half = true},
    contest{.refuse = refuse_contest, .operations = 1.5, .half = true};

}  // namespace

extern const DistanceKernel naive_distance("naive", "one thread per pair, scalar loads from global memory",
                                           launch_plain<Pairs::all, 256, 1>, for_sums);
extern const DistanceKernel tiled8_distance("tiled8",
                                            "8 x 8 tiles of both sets in shared memory, one thread per pair",
                                            launch_tiles<8>, for_sums);
extern const DistanceKernel tiled_distance("tiled",
                                           "16 x 16 tiles of both sets in shared memory, one thread per pair",
                                           launch_tiles<16>, for_sums);
extern const DistanceKernel tiled32_distance(
    "tiled32", "32 x 32 tiles of both sets in shared memory, one thread per pair", launch_tiles<32>,
    for_sums);

std::span<const DistanceKernel> bench_distance_table() {
    static constexpr DistanceKernel table[] = {
        rung<L2, float, 1>("ladder_scalar"),
        rung<FourL2, float4, 1>("ladder_float4"),
        rung<FourL2, float4, 1, true>("ladder_shared"),
        rung<FourL2, float4, 4, true>("ladder_unroll4"),
        rung<FourL2, float4, 8, true>("ladder_unroll8"),
        rung<FourL2, float4, unrolled_dim / 4, true, unrolled_dim>("ladder_unrolled"),
        {"half_plain", "", launch_plain<Pairs::half, 16, 16>, half},
        {"half_tile4", "", launch_tiles<4, Pairs::half>, half},
        {"half_tile8", "", launch_tiles<8, Pairs::half>, half},
        {"half_tile16", "", launch_tiles<16, Pairs::half>, half},
        {"half_tile32", "", launch_tiles<32, Pairs::half>, half},
        {"half_tile16_z", "", launch_tiles<16, Pairs::half, 4>, half},
        {"half_contest", "", launch_contest, contest},
    };
    return table;
}

}  // namespace knn::gpu
