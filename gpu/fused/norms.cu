// Norms of images, and the first thresholds of queries.
//
// images      n × dim bytes, pitched rows (multiples of 16 bytes) that are zero beyond dim, device memory
// launch      a warp a row, or a query
// norms       Σ x² as an exact 32-bit integer: 4,096 · 255² < 2³²
// thresholds  of each query the rank-th largest of 64 maxima of disjoint parts of the sample: `rank` training
//             images reach it
// moves       each image once; bound by memory

#include "gpu/fused/norms.h"
#include "gpu/runtime/check.h"
#include "gpu/select/warp_minimum.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256, warps = threads / warp_size;

unsigned blocks_for(std::int64_t rows) {
    return static_cast<unsigned>((rows + warps - 1) / warps);
}
__device__ std::int64_t warp_number() {
    return std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size;
}

/// By the whole warp, on every lane.
__device__ std::uint32_t norm_of(const ByteRows& rows, std::int64_t i, int lane) {
    const auto* words = reinterpret_cast<const uint4*>(rows.row(i));
    std::uint32_t sum = 0;
    for (std::int64_t at = lane; 16 * at < rows.cols; at += warp_size) {
        const uint4 w = words[at];
        sum = __dp4a(w.x, w.x, sum);
        sum = __dp4a(w.y, w.y, sum);
        sum = __dp4a(w.z, w.z, sum);
        sum = __dp4a(w.w, w.w, sum);
    }
    for (int step = warp_size / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(all_lanes, sum, step);
    return sum;
}

__global__ void __launch_bounds__(threads)
    train_norms_kernel(ByteRows train, int tile_stride, std::uint32_t* d_norms, std::int32_t* d_score_bias) {
    const std::int64_t i = warp_number();
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (i >= std::int64_t{tile_stride} * tile_train) return;
    std::int32_t bias = padding_score;
    if (i < train.n) {
        const std::uint32_t norm = norm_of(train, i, lane);
        if (lane == 0) d_norms[i] = norm;
        bias = -static_cast<std::int32_t>(norm / 2);
    }
    if (lane == 0) d_score_bias[i % tile_stride * tile_train + i / tile_stride] = bias;
}

__global__ void __launch_bounds__(threads)
    query_norms_kernel(ByteRows query, TensorPass pass, std::uint32_t* d_norms) {
    const std::int64_t q = warp_number();
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (q >= std::int64_t{pass.schedule.query_tiles} * tile_queries) return;
    for (int i = lane; i < buckets; i += warp_size)
        pass.d_maxima[q * buckets + i] = padding_score;
    if (q == 0 && lane == 0) *pass.undecided.d_count = 0;
    const int lists = pass.slots * quad;
    for (int i = lane; i < lists; i += warp_size)
        pass.d_counts[q * lists + i] = 0;
    if (q >= query.n) return;
    const std::uint32_t norm = norm_of(query, q, lane);
    if (lane == 0) d_norms[q] = norm;
}

__global__ void __launch_bounds__(threads)
    thresholds_kernel(TensorPass pass, std::int64_t n_query, int rank, std::int32_t* d_thresholds) {
    const std::int64_t q = warp_number();
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (q >= std::int64_t{pass.schedule.query_tiles} * tile_queries) return;
    if (q >= n_query || rank == 0) {
        if (lane == 0) d_thresholds[q] = closed_threshold;
        return;
    }
    static_assert(buckets == 2 * warp_size);
    const std::int32_t mine[2] = {pass.d_maxima[q * buckets + lane],
                                  pass.d_maxima[q * buckets + warp_size + lane]};
    int above[2] = {0, 0};  // buckets that come before this one; equal ones by their number
#pragma unroll
    for (int other = 0; other < buckets; ++other) {
        const std::int32_t value = __shfl_sync(all_lanes, mine[other / warp_size], other % warp_size);
        for (int i = 0; i < 2; ++i)
            above[i] += value > mine[i] || (value == mine[i] && other < lane + i * warp_size);
    }
    for (int i = 0; i < 2; ++i)
        if (above[i] == rank - 1) d_thresholds[q] = max(mine[i], lowest_threshold);
}

}  // namespace

void enqueue_train_norms(const ByteRows& train, int tile_stride, std::uint32_t* d_norms,
                         std::int32_t* d_score_bias, cudaStream_t stream) {
    train_norms_kernel<<<blocks_for(std::int64_t{tile_stride} * tile_train), threads, 0, stream>>>(
        train, tile_stride, d_norms, d_score_bias);
    check_launch("launching train_norms");
}

void enqueue_query_norms(const ByteRows& query, const TensorPass& pass, std::uint32_t* d_norms,
                         cudaStream_t stream) {
    query_norms_kernel<<<blocks_for(std::int64_t{pass.schedule.query_tiles} * tile_queries), threads, 0,
                         stream>>>(query, pass, d_norms);
    check_launch("launching query_norms");
}

void enqueue_thresholds(const TensorPass& pass, std::int64_t n_query, int rank, std::int32_t* d_thresholds,
                        cudaStream_t stream) {
    thresholds_kernel<<<blocks_for(std::int64_t{pass.schedule.query_tiles} * tile_queries), threads, 0,
                        stream>>>(pass, n_query, rank, d_thresholds);
    check_launch("launching thresholds");
}

}  // namespace knn::gpu
