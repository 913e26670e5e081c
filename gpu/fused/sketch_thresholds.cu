// The first thresholds of a search by sketches: exact distances of the nearest sketches of a sample.
//
// maxima      of each query: slots × 32 products of sketches with positions (sketches.h)
// train       used pixels in tile order; rows are gathered
// thresholds  the score at the k-th distance found, which at least k images reach
//
// launch    a warp per query. Each lane keeps the largest maximum of every eighth slot; bisection finds the value that k + 8 of these
//           256 reach; then 8 lanes multiply a row
// limits    k <= 32
// bound by  the latency and bandwidth of the L2 cache: `dim` bytes for each of k + 8 to k + 12 rows

#include <cassert>
#include <climits>

#include "data/core/round_up.h"
#include "gpu/fused/gathered.cuh"
#include "gpu/fused/sketches.h"

namespace knn::gpu {

namespace {

constexpr int threshold_threads = 256, threshold_warps = threshold_threads / warp_size;
[[maybe_unused]] constexpr int most_nearest = 2 * warp_size;
[[maybe_unused]] constexpr std::uint32_t no_distance = 0xffffffff;
[[maybe_unused]] constexpr int kept = 8;  // maxima of a lane

struct Thresholds {
    SketchPass sample;
    TensorPass pass;
    ByteRows train, query;
    LeftOut left_out;
    KnownRows known;
    int k;
};

/// For each slot the first tile of its window, or −1 if the query tile does not use it. A thread for each window. By the whole block.
[[maybe_unused]] __device__ void find_windows(const Schedule& schedule, int query_tile, int* first_tiles) {
    const int w = static_cast<int>(threadIdx.x);
    if (w < schedule.windows) {
        int slot = 0;
        for (int before = 0; before < w; ++before)
            slot += schedule.window_slots(before);
        const int used = schedule.used_slots(query_tile, w), all = schedule.window_slots(w),
                  tile = schedule.window_begin(w);
        for (int i = 0; i < all; ++i)
            first_tiles[slot + i] = i < used ? tile : -1;
    }
    __syncthreads();
}

#if __CUDA_ARCH__ >= 800
/// The largest maxima of a query, `kept` on each lane.
class Nearest {
  public:
    __device__ Nearest(const SketchPass& sample, std::int64_t query, const int* first_tiles, int lane)
        : lane_(lane) {
        const std::int32_t* d_maxima = sample.d_maxima + query * sample.lists.slots * sketch_maxima + lane;
        const int slots = sample.schedule.slots();
#pragma unroll
        for (int i = 0; i < kept; ++i)
            values_[i] = INT_MIN, tiles_[i] = 0;
        for (int first = 0; first < slots; first += kept)
#pragma unroll
            for (int i = 0; i < kept; ++i) {
                const int tile = first + i < slots ? first_tiles[first + i] : -1;
                const std::int32_t value = tile < 0 ? INT_MIN : d_maxima[(first + i) * sketch_maxima];
                if (value <= values_[i]) continue;
                values_[i] = value;
                tiles_[i] = tile;
            }
    }
    /// Writes the positions of the largest `wanted` or a few more, at most most_nearest; returns how many. By the whole warp.
    __device__ int list(int wanted, std::uint32_t* positions) const {
        const std::int32_t least = cut(wanted);
        int n = 0;
#pragma unroll
        for (int i = 0; i < kept; ++i) {
            const bool is = values_[i] >= least;
            const unsigned lanes = __ballot_sync(all_lanes, is);
            const int at = n + __popc(lanes & ((1u << lane_) - 1));
            if (is && at < most_nearest) positions[at] = position(i);
            n += __popc(lanes);
        }
        __syncwarp();
        return min(n, most_nearest);
    }

  private:
    /// What `wanted` to wanted + 3 of the values reach, if there are so many.
    __device__ std::int32_t cut(int wanted) const {
        std::int32_t largest = INT_MIN;
#pragma unroll
        for (int i = 0; i < kept; ++i)
            largest = max(largest, values_[i]);
        // At least 32 values reach the smallest of the lanes' largest.
        std::int64_t reached = wanted <= warp_size ? -warp_max(-max(largest, -INT_MAX)) : -INT_MAX,
                     beyond = std::int64_t{warp_max(largest)} + 1;
        while (beyond - reached > 1) {
            const auto middle = static_cast<std::int32_t>((reached + beyond) >> 1);
            int n = 0;
#pragma unroll
            for (int i = 0; i < kept; ++i)
                n += values_[i] >= middle ? 1 : 0;
            n = __reduce_add_sync(all_lanes, n);
            if (n < wanted) {
                beyond = middle;
                continue;
            }
            reached = middle;
            if (n <= wanted + 3) break;
        }
        return static_cast<std::int32_t>(reached);
    }
    /// In tile order, of this lane's i-th value.
    __device__ std::uint32_t position(int i) const {
        const int code = values_[i] & 511, group = lane_ % (sketch_maxima / quad),
                  member = lane_ / (sketch_maxima / quad);
        return static_cast<std::uint32_t>(tiles_[i] * tile_train + code / 4 * sketch_stage + 16 * group +
                                          code / 2 % 2 * 8 + 2 * member + code % 2);
    }

    int lane_;
    std::int32_t values_[kept];
    int tiles_[kept];
};
#endif

template <int stages>
__global__ void __launch_bounds__(threshold_threads, 4)
    sketch_thresholds_kernel(const __grid_constant__ Thresholds of) {
#if __CUDA_ARCH__ >= 800
    __shared__ uint4 rows[threshold_warps][stages * lanes_per_row];
    __shared__ std::uint32_t positions[threshold_warps][most_nearest],
        distances[threshold_warps][most_nearest];
    __shared__ int first_tiles[most_slots];
    assert(blockDim.x == threshold_threads && of.k <= most_refined_k);
    const int lane = static_cast<int>(threadIdx.x) % warp_size,
              warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t block_query = std::int64_t{blockIdx.x} * threshold_warps, query = block_query + warp;
    find_windows(of.sample.schedule, static_cast<int>(block_query / sketch_queries), first_tiles);
    if (query >= of.query.n) {
        if (lane == 0) of.pass.d_thresholds[query] = closed_threshold;
        return;
    }
    const int pieces = static_cast<int>(of.train.pitch_bytes / 16);
    copy_rows(of.query.row(query), 1, pieces, stages * lanes_per_row, rows[warp], lane, warp_size);
    const std::uint32_t itself = of.left_out.of(query), norm = of.pass.d_query_norms[query];
    const int n = Nearest(of.sample, query, first_tiles, lane).list(of.k + 8, positions[warp]);
    const int row = lane / lanes_per_row, part = lane % lanes_per_row;
    for (int first = 0; first < n; first += rows_at_once) {
        const int at = min(first + row, n - 1);
        const std::uint32_t position = positions[warp][at];
        const TrainImage image = of.pass.d_images[position];
        const std::uint32_t product =
            gathered_product<stages>(of.train.row(position), pieces, rows[warp], part);
        if (part == 0)
            distances[warp][at] = image.index == no_image || image.index == itself
                                      ? no_distance
                                      : norm + image.norm - 2 * product;
    }
    __syncwarp();
    const auto key_at = [&](int i) { return i < n ? NeighborKey{distances[warp][i]} << 32 : no_key; };
    NeighborKey best = warp_sort(key_at(lane), lane);
    if (n > warp_size) best = warp_merge(best, warp_sort(key_at(warp_size + lane), lane), lane);
    const auto last = static_cast<std::uint32_t>(__shfl_sync(all_lanes, best, of.k - 1) >> 32);
    if (lane != 0) return;
    std::int64_t threshold = last == no_distance ? lowest_threshold : score_at(last, norm);
    if (of.known.d_data != nullptr)
        threshold = max(threshold, score_at(of.known.d_data[query * of.k + of.k - 1].distance, norm));
    of.pass.d_thresholds[query] = static_cast<std::int32_t>(max(threshold, std::int64_t{lowest_threshold}));
#endif
}

template <int stages>
void launch(const Thresholds& thresholds, cudaStream_t stream) {
    const std::int64_t rows = round_up(thresholds.query.n, std::int64_t{tile_queries});
    sketch_thresholds_kernel<stages>
        <<<grid_size(rows / threshold_warps), threshold_threads, 0, stream>>>(thresholds);
    check_launch("launching sketch_thresholds");
}

}  // namespace

void enqueue_sketch_thresholds(const SketchPass& sample, const ByteRows& train, const ByteRows& query,
                               const TensorPass& pass, const Batch& batch, cudaStream_t stream) {
    const int k = batch.out.k;
    require(k >= 1 && k <= most_refined_k && sample.schedule.slots() <= most_slots &&
                sample.schedule.windows <= threshold_threads,
            "k from 1 to 32, 512 slots");
    const Thresholds thresholds{sample, pass, train, query, batch.left_out, batch.known, k};
    with_row_stages(train, query, [&](auto stages) { launch<stages.value>(thresholds, stream); });
}

void load_sketch_thresholds() {
    load_kernels(sketch_thresholds_kernel<2>, sketch_thresholds_kernel<6>,
                 sketch_thresholds_kernel<most_row_stages>);
}

}  // namespace knn::gpu
