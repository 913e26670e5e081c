// Squared Euclidean and Manhattan distances by float4 loads and register blocking (seed 003, §3.2 to
// §3.5).
//
// in       n_query × dim and n_train × dim floats, pitched rows (multiples of 16 bytes), device memory
// out      n_query × n_train unsigned 32-bit distances, pitched rows (distance.h)
// launch   a block of 256 threads computes 64 queries × 128 training images, a thread 4 × 8 of them;
//          concurrent blocks share a training tile, so it is read from device memory once. Tiles of 32
//          pixels of both sets are copied to shared memory asynchronously, one tile ahead of the arithmetic.
// shared   rows are 36 floats apart, so the float4 loads of 8 adjacent threads use 8 different groups of
//          banks
// exact    the direct form (a − b)² or |a − b|, one float accumulator per float4 lane. A lane grows by at
//          most 255² per step and is added to an integer after at most 256 steps (1,024 pixels): 256 ·
//          65,025 < 2²⁴, so no sum is rounded.
// metrics  l2, l1
// limits   dim <= 66,051 (the distance fits 32 bits); 64 GiB of training images as floats
// work     n_query · n_train · dim subtractions and multiply-adds: 28 ms for MNIST at 67 TFLOP/s; writes
//          4 bytes per pair

#include <cuda_pipeline.h>

#include <cassert>

#include "gpu/distance/distance.h"
#include "gpu/distance/terms.cuh"

namespace knn::gpu {

namespace {

constexpr int tile_query = 64, tile_train = 128, tile_dim = 32;
constexpr int threads_x = 16, threads_y = 16, float4_threads = threads_x * threads_y;
constexpr int per_query = tile_query / threads_y, per_train = tile_train / threads_x;
constexpr int tile_steps = tile_dim / 4;     // float4 steps in a tile
constexpr int group_steps = 4;               // unrolled steps
constexpr int shared_stride = tile_dim + 4;  // floats
constexpr int stages = 2;
constexpr int tiles_per_carry = 1024 / tile_dim;

struct SharedTile {
    float query[tile_query][shared_stride];
    float train[tile_train][shared_stride];
};

constexpr int rows_at_once = float4_threads / tile_steps;  // of a tile, covered by one round of copies
constexpr int query_rounds = tile_query / rows_at_once, train_rounds = tile_train / rows_at_once;
static_assert(tile_query % rows_at_once == 0 && tile_train % rows_at_once == 0);
static_assert(shared_stride % 4 == 0, "rows in shared memory are read as float4");

/// Which float4 a thread copies of each tile, given for the first tile. Rows beyond the end are replaced by
/// the last row, and their results never stored. Offsets are in units of 16 bytes, so 32 bits cover 64 GiB.
struct CopyPlan {
    const float4 *d_query, *d_train;
    unsigned query_offset[query_rounds], train_offset[train_rounds];
    int row, step;  // in the tile

    __device__ CopyPlan(const FloatRows& train, const FloatRows& query, std::int64_t train_begin,
                        std::int64_t query_begin)
        : d_query(reinterpret_cast<const float4*>(query.d_data)),
          d_train(reinterpret_cast<const float4*>(train.d_data)),
          row(static_cast<int>(threadIdx.x) / tile_steps),
          step(static_cast<int>(threadIdx.x) % tile_steps) {
        assert(blockDim.x == float4_threads && train.aligned(sizeof(float4)) &&
               query.aligned(sizeof(float4)));
#pragma unroll
        for (int i = 0; i < query_rounds; ++i)
            query_offset[i] = offset_of(query, query_begin + row + i * rows_at_once);
#pragma unroll
        for (int i = 0; i < train_rounds; ++i)
            train_offset[i] = offset_of(train, train_begin + row + i * rows_at_once);
    }

    /// Starts the copy of the tile whose rows begin at float4 `first_step` of `all_steps`; zeros beyond.
    __device__ void start(SharedTile& tile, int first_step, int all_steps) const {
        const std::size_t zeros = first_step + step < all_steps ? 0 : sizeof(float4);
#pragma unroll
        for (int i = 0; i < query_rounds; ++i)
            __pipeline_memcpy_async(&tile.query[row + i * rows_at_once][4 * step],
                                    d_query + query_offset[i] + first_step, sizeof(float4), zeros);
#pragma unroll
        for (int i = 0; i < train_rounds; ++i)
            __pipeline_memcpy_async(&tile.train[row + i * rows_at_once][4 * step],
                                    d_train + train_offset[i] + first_step, sizeof(float4), zeros);
    }

  private:
    __device__ unsigned offset_of(const FloatRows& rows, std::int64_t n) const {
        assert(rows.n * rows.pitch_bytes <= std::size_t{64} << 30);
        return static_cast<unsigned>(min(n, rows.n - 1)) *
                   static_cast<unsigned>(rows.pitch_bytes / sizeof(float4)) +
               step;
    }
};

/// Adds 4 steps of the thread's pairs. Every value is read from shared memory one training image, or one
/// step, ahead: otherwise the compiler reads all 12 values of a step and then waits for them.
template <Metric metric>
__device__ void add_group(const float4* query, const float4* train, float4 (&sum)[per_query][per_train]) {
    constexpr int query_stride = threads_y * shared_stride / 4, train_stride = threads_x * shared_stride / 4;
    float4 a[2][per_query], b[2];
#pragma unroll
    for (int i = 0; i < per_query; ++i)
        a[0][i] = query[query_stride * i];
    b[0] = train[0];
#pragma unroll
    for (int step = 0; step < group_steps; ++step)
#pragma unroll
        for (int j = 0; j < per_train; ++j) {
            const int next = step * per_train + j + 1;
            if (next < group_steps * per_train)
                b[next % 2] = train[train_stride * (next % per_train) + next / per_train];
            if (step + 1 < group_steps && j < per_query)
                a[(step + 1) % 2][j] = query[query_stride * j + step + 1];
#pragma unroll
            for (int i = 0; i < per_query; ++i)
                add_terms<metric>(sum[i][j], a[step % 2][i], b[(next - 1) % 2]);
        }
}

/// carry: dim exceeds what the float lanes can hold, so integer totals are kept as well.
template <Metric metric, bool carry>
__global__ void __launch_bounds__(float4_threads, 1)
    float4_kernel(FloatRows train, FloatRows query, DistanceRows out, int query_tiles) {
    extern __shared__ __align__(16) unsigned char shared[];
    auto* tiles = reinterpret_cast<SharedTile*>(shared);

    const std::int64_t query_begin = std::int64_t{blockIdx.x % query_tiles} * tile_query;
    const std::int64_t train_begin = std::int64_t{blockIdx.x / query_tiles} * tile_train;
    const int tx = static_cast<int>(threadIdx.x) % threads_x, ty = static_cast<int>(threadIdx.x) / threads_x;
    const int all_steps = static_cast<int>((train.cols + 3) / 4);
    const int n_tiles = (all_steps + tile_steps - 1) / tile_steps;
    assert(carry || n_tiles <= tiles_per_carry);

    float4 sum[per_query][per_train] = {};
    unsigned total[carry ? per_query : 1][carry ? per_train : 1] = {};

    const CopyPlan copy(train, query, train_begin, query_begin);
#pragma unroll
    for (int t = 0; t < stages - 1; ++t) {
        if (t < n_tiles) copy.start(tiles[t], t * tile_steps, all_steps);
        __pipeline_commit();
    }
    for (int t = 0; t < n_tiles; ++t) {
        __pipeline_wait_prior(stages - 2);
        __syncthreads();  // tile t is visible to all, and all are done with the previous one
        if (const int ahead = t + stages - 1; ahead < n_tiles)
            copy.start(tiles[ahead % stages], ahead * tile_steps, all_steps);
        __pipeline_commit();

        const SharedTile& tile = tiles[t % stages];
        const int steps = min(tile_steps, all_steps - t * tile_steps);
        // Whole groups of 4 steps: the last group is padded with zeros.
        for (int group = 0; group < steps; group += group_steps)
            add_group<metric>(reinterpret_cast<const float4*>(&tile.query[ty][4 * group]),
                              reinterpret_cast<const float4*>(&tile.train[tx][4 * group]), sum);
        if constexpr (carry) {
            if ((t + 1) % tiles_per_carry == 0) {
#pragma unroll
                for (int i = 0; i < per_query; ++i)
#pragma unroll
                    for (int j = 0; j < per_train; ++j) {
                        total[i][j] += integer_sum(sum[i][j]);
                        sum[i][j] = make_float4(0, 0, 0, 0);
                    }
            }
        }
    }

#pragma unroll
    for (int i = 0; i < per_query; ++i) {
        const std::int64_t q = query_begin + ty + threads_y * i;
        if (q >= out.n) break;
        unsigned* out_row = out.row(q);
#pragma unroll
        for (int j = 0; j < per_train; ++j) {
            const std::int64_t r = train_begin + tx + threads_x * j;
            if (r < out.cols)
                out_row[r] = integer_sum(sum[i][j]) + (carry ? total[carry ? i : 0][carry ? j : 0] : 0);
        }
    }
}

UnsupportedReason refuse_float4(const Problem& problem) {
    constexpr std::int64_t max_pitch_gap = 512;  // bytes that cudaMallocPitch adds per row, at most
    if (problem.n_train * (4 * problem.dim + max_pitch_gap) > std::int64_t{64} << 30)
        return "float4 reads at most 64 GiB of training images as floats";
    return std::nullopt;
}

auto kernel_for(const Problem& problem) {
    if (problem.measure.metric == Metric::l1)
        return problem.dim > 1024 ? float4_kernel<Metric::l1, true> : float4_kernel<Metric::l1, false>;
    return problem.dim > 1024 ? float4_kernel<Metric::l2, true> : float4_kernel<Metric::l2, false>;
}

void load_float4(const Problem& problem) {
    load_kernels(kernel_for(problem));
}

void launch_float4(const DistanceLaunch& of) {
    const auto& [problem, in, out, d_workspace, stream] = of;
    // For any pitch; `refuse_float4` assumes that of cudaMallocPitch.
    for (const FloatRows& rows : {in.train.floats, in.query.floats})
        require(static_cast<std::size_t>(rows.n) * rows.pitch_bytes <= std::size_t{64} << 30,
                "at most 64 GiB of images as floats");
    const std::int64_t query_tiles = divide_up(problem.n_query, tile_query);
    const std::int64_t train_tiles = divide_up(problem.n_train, tile_train);
    const auto kernel = kernel_for(problem);
    constexpr int shared_bytes = stages * sizeof(SharedTile);
    allow_shared(kernel, shared_bytes);
    kernel<<<grid_size(query_tiles * train_tiles), float4_threads, shared_bytes, stream>>>(
        in.train.floats, in.query.floats, out, static_cast<int>(query_tiles));
}

}  // namespace

extern const DistanceKernel float4_distance(
    "float4", "float4 loads, tiles of both sets in shared memory, 4 x 8 pairs in a thread's registers",
    launch_float4,
    {.refuse = refuse_float4, .metrics = metric_set(Metric::l2, Metric::l1), .load = load_float4});

}  // namespace knn::gpu
