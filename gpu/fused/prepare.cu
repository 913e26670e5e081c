// Arranges images in the rows that tensor kernels read; computes their norms and the first thresholds.
//
// in          n × dim bytes, pitched rows, device memory
// used        flags of pixels that are not zero in all training images
// arranged    the used pixels: rows with a pitch that is a multiple of 32 bytes (a sector of the L2 cache),
//             zero beyond them
// launch      one warp per row or query, through shared memory
// norms       Σ x² as an exact 32-bit integer: 4,096 · 255² < 2³²
// thresholds  per query, the rank-th largest of 64 maxima of disjoint parts of the sample: at least `rank`
//             training images reach it
// bytes       each image is read and written once; memory bound

#include "gpu/fused/fused.h"

#include <algorithm>

#include "data/core/round_up.h"

namespace knn::gpu {

namespace {

constexpr int prepare_threads = 256, prepare_warps = prepare_threads / warp_size;

unsigned blocks_for(std::int64_t rows) {
    return grid_size(divide_up(rows, prepare_warps));
}
__device__ std::int64_t warp_index() {
    return std::int64_t{blockIdx.x} * prepare_warps + threadIdx.x / warp_size;
}

/// One thread per pixel, several rows per block: every warp reads adjacent bytes.
__global__ void __launch_bounds__(prepare_threads) used_pixels_kernel(ByteRows train, std::uint8_t* d_used) {
    const std::int64_t pixel = std::int64_t{blockIdx.x} * prepare_threads + threadIdx.x;
    if (pixel >= train.cols) return;
    unsigned any = 0;
#pragma unroll 8
    for (std::int64_t i = blockIdx.y; i < train.n; i += gridDim.y)
        any |= train.row(i)[pixel];
    if (any != 0) d_used[pixel] = 1;
}

/// The bytes of row `i` into `shared_row`, zero up to a multiple of 16; returns Σ x² on every lane. By the
/// whole warp.
__device__ std::uint32_t load_row(const ByteRows& in, std::int64_t i, std::uint8_t* shared_row, int lane) {
    const std::uint8_t* row = in.row(i);
    auto* words = reinterpret_cast<uint4*>(shared_row);
    const bool aligned = reinterpret_cast<std::uintptr_t>(row) % 16 == 0;
    std::uint32_t sum = 0;
    for (std::int64_t at = 16 * lane; at < in.cols; at += 16 * warp_size) {
        uint4 w = make_uint4(0, 0, 0, 0);
        if (aligned && at + 16 <= in.cols) {
            w = *reinterpret_cast<const uint4*>(row + at);
        } else {
            std::uint32_t parts[4] = {};
#pragma unroll
            for (int b = 0; b < 16; ++b)
                if (at + b < in.cols) parts[b / 4] |= std::uint32_t{row[at + b]} << (b % 4 * 8);
            w = make_uint4(parts[0], parts[1], parts[2], parts[3]);
        }
        words[at / 16] = w;
        sum = __dp4a(w.x, w.x, sum);
        sum = __dp4a(w.y, w.y, sum);
        sum = __dp4a(w.z, w.z, sum);
        sum = __dp4a(w.w, w.w, sum);
    }
    __syncwarp();
    return warp_sum(sum);
}

/// The used pixels of a row in shared memory, 4 bytes a lane at a time, zero beyond the last.
__device__ void store_used(const std::uint8_t* shared_row, const std::int32_t* d_indices, const ByteRows& out,
                           std::int64_t position, int lane) {
    auto* to = reinterpret_cast<std::uint32_t*>(out.row(position));
    const auto cols = static_cast<int>(out.cols);
    for (int at = 4 * lane; at < static_cast<int>(out.pitch_bytes); at += 4 * warp_size) {
        int pixels[4] = {at, at + 1, at + 2, at + 3};
        if (d_indices != nullptr && at < cols) {
            const int4 indices = *reinterpret_cast<const int4*>(d_indices + at);
            pixels[0] = indices.x, pixels[1] = indices.y, pixels[2] = indices.z, pixels[3] = indices.w;
        }
        std::uint32_t word = 0;
#pragma unroll
        for (int b = 0; b < 4; ++b)
            if (at + b < cols) word |= std::uint32_t{shared_row[pixels[b]]} << (8 * b);
        to[at / 4] = word;
    }
    __syncwarp();
}

/// This warp's row of a block's shared memory, which has `prepare_warps` rows of cols bytes, rounded up to 16.
__device__ std::uint8_t* warp_row(uint4* shared, std::int64_t cols) {
    return reinterpret_cast<std::uint8_t*>(shared + threadIdx.x / warp_size * ((cols + 15) / 16));
}
std::size_t shared_rows_bytes(std::int64_t cols) {
    return static_cast<std::size_t>(prepare_warps * round_up(cols, 16));
}

__global__ void __launch_bounds__(prepare_threads)
    prepare_training_kernel(ByteRows train, const std::int32_t* d_indices, int n_tiles, std::int64_t stride,
                            ByteRows arranged, TrainImage* d_images, std::int32_t* d_score_bias) {
    extern __shared__ uint4 shared[];
    const std::int64_t i = warp_index(), position = position_of(i, n_tiles, stride);
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (i >= std::int64_t{n_tiles} * tile_train) return;
    const bool there = i < train.n;
    std::uint32_t norm = 0;
    if (there) {
        norm = load_row(train, i, warp_row(shared, train.cols), lane);
        store_used(warp_row(shared, train.cols), d_indices, arranged, position, lane);
    } else {
        for (int at = lane; 16 * at < static_cast<int>(arranged.pitch_bytes); at += warp_size)
            reinterpret_cast<uint4*>(arranged.row(position))[at] = make_uint4(0, 0, 0, 0);
    }
    if (lane != 0) return;
    d_images[position] = {norm, there ? static_cast<std::uint32_t>(i) : no_image};
    d_score_bias[position] = there ? -static_cast<std::int32_t>(norm / 2) : padding_score;
}

__global__ void __launch_bounds__(prepare_threads)
    prepare_queries_kernel(ByteRows query, const std::int32_t* d_indices, Undecided undecided,
                           bool all_undecided, ByteRows arranged, std::uint32_t* d_norms) {
    extern __shared__ uint4 shared[];
    const std::int64_t q = warp_index();
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (q >= query.n) return;
    if (q == 0 && lane == 0) *undecided.d_count = all_undecided ? static_cast<std::int32_t>(query.n) : 0;
    if (all_undecided && lane == 0) undecided.d_queries[q] = static_cast<std::int32_t>(q);
    const std::uint32_t norm = load_row(query, q, warp_row(shared, query.cols), lane);
    store_used(warp_row(shared, query.cols), d_indices, arranged, q, lane);
    if (lane == 0) d_norms[q] = norm;
}

__global__ void __launch_bounds__(prepare_threads)
    thresholds_kernel(TensorPass pass, std::int64_t n_query, int rank, const Neighbor* d_known, int k) {
    const std::int64_t q = warp_index();
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    if (q >= std::int64_t{pass.schedule.query_tiles} * tile_queries) return;
    if (q >= n_query || rank == 0) {
        if (lane == 0) pass.d_thresholds[q] = closed_threshold;
        return;
    }
    static_assert(buckets == 2 * warp_size);
    const std::int32_t* d_maxima = pass.d_maxima + q * pass.sample_slots * buckets;
    const int slots = pass.schedule.used_slots(static_cast<int>(q / tile_queries));
    std::int32_t mine[2] = {padding_score, padding_score};
    for (int slot = 0; slot < slots; ++slot)
        for (int i = 0; i < 2; ++i)
            mine[i] = max(mine[i], d_maxima[slot * buckets + i * warp_size + lane]);
    // Removes the largest, rank − 1 times.
    for (int taken = 1;; ++taken) {
        const std::int32_t largest = warp_max(max(mine[0], mine[1]));
        if (taken == rank) {
            if (lane != 0) return;
            std::int64_t threshold = max(largest, lowest_threshold);
            if (d_known != nullptr)
                threshold = max(threshold, score_at(d_known[q * k + k - 1].distance, pass.d_query_norms[q]));
            pass.d_thresholds[q] = static_cast<std::int32_t>(threshold);
            return;
        }
        const unsigned holders = __ballot_sync(all_lanes, max(mine[0], mine[1]) == largest);
        if (lane == __ffs(static_cast<int>(holders)) - 1) mine[mine[0] == largest ? 0 : 1] = padding_score;
    }
}

}  // namespace

std::vector<std::int32_t> used_pixels(const ByteRows& train, cudaStream_t stream) {
    const auto dim = static_cast<std::size_t>(train.cols);
    DeviceBuffer<std::uint8_t> d_used(dim);
    check(cudaMemsetAsync(d_used.d_data(), 0, dim, stream), "clearing flags");
    const dim3 grid(static_cast<unsigned>(divide_up(train.cols, prepare_threads)),
                    static_cast<unsigned>(std::min<std::int64_t>(train.n, 1024)));
    used_pixels_kernel<<<grid, prepare_threads, 0, stream>>>(train, d_used.d_data());
    check_launch("launching used_pixels");
    std::vector<std::uint8_t> used(dim);
    check(cudaMemcpyAsync(used.data(), d_used.d_data(), dim, cudaMemcpyDeviceToHost, stream),
          "downloading flags");
    check(cudaStreamSynchronize(stream), "finding the pixels in use");

    std::vector<std::int32_t> indices;
    for (std::size_t pixel = 0; pixel < dim; ++pixel)
        if (used[pixel] != 0) indices.push_back(static_cast<std::int32_t>(pixel));
    if (indices.empty()) indices.push_back(0);
    return indices;
}

void load_prepare() {
    load_kernels(used_pixels_kernel, prepare_training_kernel, prepare_queries_kernel, thresholds_kernel);
}

void enqueue_prepare_training(const ByteRows& train, const std::int32_t* d_used, int n_tiles,
                              const ByteRows& arranged, TrainImage* d_images, std::int32_t* d_score_bias,
                              cudaStream_t stream) {
    prepare_training_kernel<<<blocks_for(std::int64_t{n_tiles} * tile_train), prepare_threads,
                              shared_rows_bytes(train.cols), stream>>>(
        train, d_used, n_tiles, tile_stride(n_tiles), arranged, d_images, d_score_bias);
    check_launch("launching prepare_training");
}

void enqueue_prepare_queries(const ByteRows& query, const std::int32_t* d_used, const Undecided& undecided,
                             bool all_undecided, const ByteRows& arranged, std::uint32_t* d_norms,
                             cudaStream_t stream) {
    require(query.n < std::int64_t{1} << 31, "fewer than 2,147,483,648 queries");
    prepare_queries_kernel<<<blocks_for(query.n), prepare_threads, shared_rows_bytes(query.cols), stream>>>(
        query, d_used, undecided, all_undecided, arranged, d_norms);
    check_launch("launching prepare_queries");
}

void enqueue_thresholds(const TensorPass& pass, int rank, const Batch& batch, cudaStream_t stream) {
    thresholds_kernel<<<blocks_for(std::int64_t{pass.schedule.query_tiles} * tile_queries), prepare_threads,
                        0, stream>>>(pass, batch.query.n, rank, batch.known.d_data, batch.out.k);
    check_launch("launching thresholds");
}

}  // namespace knn::gpu
