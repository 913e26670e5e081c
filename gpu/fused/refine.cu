// Refines what a search by sketches leaves: exact distances of the survivors.
//
// survivors   for each 8 queries and slot a list of masks (sketches.h)
// train       used pixels in tile order; rows are gathered
// known       neighbors found in other images, which compete; or none
// best        of each list and query the k nearest, by (distance, index)
// out         n_query × k neighbors by (distance, index); before the last pass padded with no_key
// thresholds  raised as by the fold
//
// launch    refine: a block for a list. 256 masks at a time: sorted by query into shared memory, replaced by keys, 8 lanes a row, and
//           taken by the warp of their query. All warps share the work, because few queries have many survivors.
//           merge: a warp for a query, which merges what its lists gave
// exact     d² = ‖q‖² + ‖r‖² − 2 q·r in integers
// limits    k <= 32; at most `most` survivors in 256 masks: more leave the list's queries undecided
// bound by  the bandwidth of the L2 cache: `dim` bytes for each survivor

#include <cassert>

#include "data/core/round_up.h"
#include "gpu/fused/folding.cuh"
#include "gpu/fused/gathered.cuh"
#include "gpu/fused/sketches.h"

namespace knn::gpu {

namespace {

constexpr int queries = queries_per_list, refine_warps = queries, refine_threads = refine_warps * warp_size;
[[maybe_unused]] constexpr int most = 2048;
[[maybe_unused]] constexpr std::uint32_t position_mask = (1u << position_bits) - 1;

struct Refinement : Folding {
    SketchPass sketches;
    ByteRows train, query;
};

#if __CUDA_ARCH__ >= 800
/// A warp's query and the k best found so far, one per lane.
class Best {
  public:
    __device__ Best(NeighborKey key, int k, int lane) : key_(key), k_(k), lane_(lane) {}
    /// Takes a key of each lane into account.
    __device__ void take(NeighborKey key) {
        if (any_is_near(key)) key_ = warp_merge(key_, warp_sort(key, lane_), lane_);
    }
    /// The same of ascending keys.
    __device__ void take_sorted(NeighborKey key) {
        if (any_is_near(key)) key_ = warp_merge(key_, key, lane_);
    }
    __device__ NeighborKey key() const { return key_; }

  private:
    __device__ bool any_is_near(NeighborKey key) const {
        return __any_sync(all_lanes, key < __shfl_sync(all_lanes, key_, k_ - 1));
    }

    NeighborKey key_;
    int k_, lane_;
};

/// Replaces n survivors (query << position_bits | position) by their keys. By the whole block.
template <int stages>
__device__ void compute_keys(const Refinement& refinement, const uint4* rows, std::int64_t first_query,
                             NeighborKey* found, int n) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size,
              warp = static_cast<int>(threadIdx.x) / warp_size;
    const int part = lane % lanes_per_row, pieces = static_cast<int>(refinement.train.pitch_bytes / 16);
    for (int first = rows_at_once * warp; first < n; first += rows_at_once * refine_warps) {
        // Another warp may already have replaced the last one, so lanes beyond it read none.
        const int at = first + lane / lanes_per_row;
        const std::uint32_t survivor = at < n ? static_cast<std::uint32_t>(found[at]) : 0;
        const auto query = static_cast<int>(survivor >> position_bits);
        const TrainImage image = refinement.pass.d_images[survivor & position_mask];
        const std::uint32_t product =
            gathered_product<stages>(refinement.train.row(survivor & position_mask), pieces,
                                     rows + query * (stages * lanes_per_row), part);
        __syncwarp();  // all lanes have read theirs
        if (part != 0 || at >= n) continue;
        const std::uint32_t distance =
            refinement.pass.d_query_norms[first_query + query] + image.norm - 2 * product;
        found[at] = image.index == no_image || image.index == refinement.left_out.of(first_query + query)
                        ? no_key
                        : NeighborKey{distance} << 32 | (image.index + refinement.known.first);
    }
}
#endif

template <int stages>
__global__ void __launch_bounds__(refine_threads, 4)
    refine_kernel(const __grid_constant__ Refinement refinement, NeighborKey* d_best) {
#if __CUDA_ARCH__ >= 800
    __shared__ uint4 rows[queries * stages * lanes_per_row];
    __shared__ NeighborKey found[most];
    __shared__ int counts[queries];
    const SketchLists& lists = refinement.sketches.lists;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size, warp = thread / warp_size;
    const std::int64_t list = blockIdx.x, first_query = list / lists.slots * queries;
    const int n_masks = lists.d_counts[list], k = refinement.out.k;
    assert(blockDim.x == refine_threads && k <= most_refined_k);
    if (n_masks == 0 || n_masks > lists.capacity) return;  // merge_kernel knows
    const int n_query = static_cast<int>(min(std::int64_t{queries}, refinement.out.n_query - first_query));
    const Survivors* d_survivors = lists.d_survivors + list * lists.capacity;
    Survivors next{0, 0};
    if (thread < n_masks) next = d_survivors[thread];
    copy_rows(refinement.query.row(first_query), n_query, static_cast<int>(refinement.query.pitch_bytes / 16),
              stages * lanes_per_row, rows, thread, refine_threads);
    Best best(no_key, k, lane);
    for (int first = 0; first < n_masks; first += refine_threads) {
        if (thread < queries) counts[thread] = 0;
        __syncthreads();
        Survivors survivors = next;
        next = {0, 0};
        if (first + refine_threads + thread < n_masks) next = d_survivors[first + refine_threads + thread];
        const int query = static_cast<int>(survivors.first >> position_bits);
        int at = 0;
        if (survivors.mask != 0) at = atomicAdd(&counts[query], __popc(survivors.mask));
        __syncthreads();
        int begin = 0, end = 0, n = 0;
        for (int i = 0; i < queries; ++i) {
            if (i == query) at += n;
            if (i == warp) begin = n, end = n + counts[i];
            n += counts[i];
        }
        if (n > most) {
            if (thread == 0) lists.d_counts[list] = lists.capacity + 1;
            return;
        }
        while (survivors.mask != 0) {
            const auto t = static_cast<unsigned>(__clz(static_cast<int>(survivors.mask)));
            survivors.mask &= ~(0x80000000u >> t);
            found[at++] = survivors.first + 8 * (t / 2) + t % 2;
        }
        __syncthreads();
        compute_keys<stages>(refinement, rows, first_query, found, n);
        __syncthreads();
        for (int i = begin; i < end; i += warp_size)
            best.take(i + lane < end ? found[i + lane] : no_key);
    }
    if (lane < k) d_best[(list * queries + warp) * k + lane] = best.key();
#endif
}

__global__ void __launch_bounds__(refine_threads)
    merge_kernel(const __grid_constant__ Refinement refinement, const NeighborKey* d_best) {
#if __CUDA_ARCH__ >= 800
    const int lane = static_cast<int>(threadIdx.x) % warp_size, k = refinement.out.k;
    const std::int64_t query = (std::int64_t{blockIdx.x} * refine_threads + threadIdx.x) / warp_size;
    if (query >= refinement.out.n_query) return;
    const SketchLists& lists = refinement.sketches.lists;
    const std::int64_t first_list = query / queries * lists.slots;
    Best best(lane < k ? refinement.key_before(query, lane) : no_key, k, lane);
    bool complete = true;
    for (int first = 0; first < lists.slots; first += warp_size) {
        const int count = first + lane < lists.slots ? lists.d_counts[first_list + first + lane] : 0;
        complete = complete && !__any_sync(all_lanes, count > lists.capacity);
        unsigned filled = __ballot_sync(all_lanes, count > 0 && count <= lists.capacity);
        while (filled != 0) {
            const std::int64_t list = first_list + first + __ffs(static_cast<int>(filled)) - 1;
            filled &= filled - 1;
            best.take_sorted(lane < k ? d_best[(list * queries + query % queries) * k + lane] : no_key);
        }
    }
    const std::uint32_t norm = refinement.pass.d_query_norms[query];
    const std::int32_t threshold = refinement.pass.d_thresholds[query];
    const bool decides =
        SketchThreshold(refinement.sketches.bound, refinement.sketches.d_query_terms[query], norm, threshold)
            .decides;
    if (!complete || !decides) {
        if (lane == 0) refinement.leave_undecided(query);
        return;
    }
    const NeighborKey deciding = __shfl_sync(all_lanes, best.key(), refinement.deciding());
    if (lane == 0) refinement.conclude(query, deciding, norm, threshold);
    if (lane < k) refinement.out.d_data[query * k + lane] = neighbor_of(best.key());
#endif
}

}  // namespace

void enqueue_refine(const SketchPass& sketches, const ByteRows& train, const ByteRows& query,
                    const TensorPass& pass, const FoldStep& step, const Batch& batch, NeighborKey* d_best,
                    cudaStream_t stream) {
    const NeighborRows& out = batch.out;
    require(out.k >= 1 && out.k <= most_refined_k, "k from 1 to 32");
    require(step.is_last || (step.rank >= 1 && step.rank <= out.k), "a rank from 1 to k");
    require(
        out.n_query <= std::int64_t{sketches.schedule.query_tiles} * sketch_queries && out.n_query == query.n,
        "a row of neighbors for each query");
    const Refinement refinement{{pass, step, out, batch.left_out, batch.known}, sketches, train, query};
    const std::int64_t lists = divide_up(out.n_query, queries) * sketches.lists.slots;
    with_row_stages(train, query, [&](auto stages) {
        refine_kernel<stages.value><<<grid_size(lists), refine_threads, 0, stream>>>(refinement, d_best);
    });
    check_launch("launching refine");
    merge_kernel<<<grid_size(divide_up(out.n_query, refine_warps)), refine_threads, 0, stream>>>(refinement,
                                                                                                 d_best);
    check_launch("launching merge");
}

void load_refine() {
    load_kernels(refine_kernel<2>, refine_kernel<6>, refine_kernel<most_row_stages>, merge_kernel);
}

}  // namespace knn::gpu
