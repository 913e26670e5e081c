// Runs after each pass of the fused search: reduces each query's survivors to its k best so far, in exact
// order.
//
// survivors   slots × 4 unordered lists per query, device memory (survivors.cuh); emptied
// known       neighbors found in other images, which compete; or none
// out         n_query × k neighbors by (distance, index); before the last pass padded with no_key
// thresholds  raised, never lowered, so the survivors of an earlier one are complete for a later one
// launch      for k <= 32 one warp per query, which keeps the best 32 in registers, one per lane; else one
//             block per query, which sorts all keys distance << 32 | index
// exact       d² = ‖q‖² + ‖r‖² − 2 q·r in integers
// limits      per query 512 groups of survivors for k <= 32, 1,024 groups and 2,048 keys for k <= 128, else
//             4,096 and 8,192; more leave the query undecided

#include <cassert>

#include <cub/block/block_merge_sort.cuh>

#include "data/core/round_up.h"
#include "gpu/fused/folding.cuh"

namespace knn::gpu {

namespace {

constexpr int fold_threads = 256;

/// Shared memory for `keys` keys and for sorting them in place.
__host__ __device__ constexpr int sort_bytes(int keys) {
    return (keys + 16) * static_cast<int>(sizeof(NeighborKey));
}

/// The arguments of both kernels.
struct Fold : Folding {
    /// The keys of a group's images, no_key for those below the threshold and for the query itself. index: in the
    /// query's lists.
    __device__ void keys_of(std::int64_t query, std::uint32_t index, std::uint32_t query_norm,
                            std::uint32_t itself, std::int32_t threshold, NeighborKey (&keys)[4]) const {
        const SurvivorLists& lists = pass.lists;
        assert(index < static_cast<std::uint32_t>(pass.slots * quad * lists.capacity));
        const std::int64_t at = query * pass.slots * quad * lists.capacity + index;
        const int4 loaded = lists.d_products[at];
        const std::uint32_t position = lists.d_positions[at];
        const int products[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
        const auto* d_pairs = reinterpret_cast<const uint4*>(pass.d_images + position);
        const uint4 near = d_pairs[0], far = d_pairs[4];  // two images each
        const TrainImage images[4] = {{near.x, near.y}, {near.z, near.w}, {far.x, far.y}, {far.z, far.w}};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t norm = images[i].norm;
            const bool reaches = products[i] - static_cast<std::int32_t>(norm / 2) >= threshold &&
                                 images[i].index != no_image && images[i].index != itself;
            const std::uint32_t distance = query_norm + norm - 2 * static_cast<std::uint32_t>(products[i]);
            keys[i] = reaches ? key_of(distance, known.first + images[i].index) : no_key;
        }
    }
};

/// A team is a warp or a whole block.
template <int team>
__device__ void team_sync() {
    if constexpr (team == warp_size)
        __syncwarp();
    else
        __syncthreads();
}

/// The groups of a query's lists, renumbered without gaps, so that the threads of a team get equal shares.
/// `numbers` has `max_groups` entries; both are in shared memory.
template <int team>
struct GroupNumbers {
    std::uint32_t* numbers;
    int* count;
    int max_groups;

    /// By the whole team. Empties the lists; returns the number of groups, or more than `max_groups` if a list
    /// overflowed or there are more groups than entries.
    __device__ int collect(const TensorPass& pass, std::int64_t query, int member) const {
        if (member == 0) *count = 0;
        team_sync<team>();
        const int n_lists = pass.slots * quad, capacity = pass.lists.capacity;
        for (int i = member; i < n_lists; i += team) {
            std::int32_t& d_count = pass.lists.d_counts[query * n_lists + i];
            const int found = d_count;
            assert(found >= 0);
            if (found == 0) continue;
            d_count = 0;
            const int at = atomicAdd(count, found <= capacity ? found : max_groups + 1);
            for (int j = 0; j < found && at + j < max_groups; ++j)
                numbers[at + j] = static_cast<std::uint32_t>(i * capacity + j);
        }
        team_sync<team>();
        return *count;
    }
};

constexpr int warp_groups = 512, fold_warps = fold_threads / warp_size;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int blocks_at_once = 4;
#else
constexpr int blocks_at_once = 6;  // limits the registers: more resident warps, whose loads overlap
#endif

__global__ void __launch_bounds__(fold_threads, blocks_at_once)
    warp_fold_kernel(const __grid_constant__ Fold fold) {
    __shared__ std::uint32_t all_numbers[fold_warps][warp_groups];
    __shared__ NeighborKey all_keys[fold_warps][4 * warp_size];
    __shared__ int counts[fold_warps];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t q = std::int64_t{blockIdx.x} * fold_warps + warp;
    const int k = fold.out.k;
    if (q >= fold.out.n_query) return;
    assert(blockDim.x == fold_threads && k <= warp_size);
    // Issued early, to overlap with counting the groups.
    const std::uint32_t query_norm = fold.pass.d_query_norms[q];
    const std::int32_t threshold = fold.pass.d_thresholds[q];
    const std::uint32_t itself = fold.left_out.of(q);
    NeighborKey best = lane < k ? fold.key_before(q, lane) : no_key;
    const GroupNumbers<warp_size> found{all_numbers[warp], &counts[warp], warp_groups};
    const int n_groups = found.collect(fold.pass, q, lane);  // synchronizes the warp
    if (n_groups > warp_groups) {
        if (lane == 0) fold.leave_undecided(q);
        return;
    }
    NeighborKey* keys = all_keys[warp];
    const auto offer = [&](const auto& mine) {
        const NeighborKey last = __shfl_sync(all_lanes, best, k - 1);
        int count = 0;  // the same on all lanes
        for (const NeighborKey key : mine) {
            const unsigned all = __ballot_sync(all_lanes, key < last);
            if (key < last) keys[count + __popc(all & ((1u << lane) - 1))] = key;
            count += __popc(all);
        }
        __syncwarp();
        for (int at = 0; at < count; at += warp_size)
            best = warp_merge(best, warp_sort(at + lane < count ? keys[at + lane] : no_key, lane), lane);
        __syncwarp();
    };
    for (int begin = 0; begin < n_groups; begin += warp_size) {
        NeighborKey mine[4] = {no_key, no_key, no_key, no_key};
        if (begin + lane < n_groups)
            fold.keys_of(q, found.numbers[begin + lane], query_norm, itself, threshold, mine);
        offer(mine);
    }
    const NeighborKey deciding = __shfl_sync(all_lanes, best, fold.deciding());
    if (lane == 0) fold.conclude(q, deciding, query_norm, threshold);
    if (lane < k) fold.out.d_data[q * k + lane] = neighbor_of(best);
}

struct IsLess {
    __device__ bool operator()(NeighborKey a, NeighborKey b) const { return a < b; }
};

/// Sorts keys[0 .. n − 1] ascending and pads them with no_key up to max_keys. By the whole block.
template <int max_keys, int items = 2>
__device__ void sort_keys(NeighborKey* keys, int n) {
    if constexpr (items * fold_threads < max_keys)
        if (n > items * fold_threads) return sort_keys<max_keys, 2 * items>(keys, n);
    using Sort = cub::BlockMergeSort<NeighborKey, fold_threads, items>;
    static_assert(sizeof(typename Sort::TempStorage) <= sort_bytes(max_keys));
    const int thread = static_cast<int>(threadIdx.x);
    NeighborKey mine[items];
#pragma unroll
    for (int i = 0; i < items; ++i)
        mine[i] = i * fold_threads + thread < n ? keys[i * fold_threads + thread] : no_key;
    __syncthreads();
    Sort(*reinterpret_cast<typename Sort::TempStorage*>(keys)).Sort(mine, IsLess());
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; ++i)
        keys[thread * items + i] = mine[i];
    for (int i = items * fold_threads + thread; i < max_keys; i += fold_threads)
        keys[i] = no_key;
    __syncthreads();
}

template <int max_keys>
__global__ void __launch_bounds__(fold_threads) block_fold_kernel(const __grid_constant__ Fold fold) {
    constexpr int max_groups = max_keys / 2;
    extern __shared__ __align__(16) NeighborKey keys[];
    __shared__ int count, n_keys;
    const int thread = static_cast<int>(threadIdx.x), k = fold.out.k;
    const std::int64_t q = blockIdx.x;
    assert(blockDim.x == fold_threads && k <= max_keys);
    const GroupNumbers<fold_threads> found{
        reinterpret_cast<std::uint32_t*>(reinterpret_cast<char*>(keys) + sort_bytes(max_keys)), &count,
        max_groups};
    if (thread == 0) n_keys = 0;
    const int n_groups = found.collect(fold.pass, q, thread);  // synchronizes the block
    const std::uint32_t query_norm = fold.pass.d_query_norms[q];
    const std::int32_t threshold = fold.pass.d_thresholds[q];
    const std::uint32_t itself = fold.left_out.of(q);
    const auto keep = [&](const auto& some_keys) {
        int passing = 0;
        for (const NeighborKey key : some_keys)
            passing += key != no_key;
        int at = passing > 0 ? atomicAdd(&n_keys, passing) : 0;
        for (const NeighborKey key : some_keys)
            if (key != no_key && at < max_keys) keys[at++] = key;
    };
    for (int i = thread; i < k; i += fold_threads) {
        const NeighborKey before[] = {fold.key_before(q, i)};
        keep(before);
    }
    for (int i = thread; n_groups <= max_groups && i < n_groups; i += fold_threads) {
        NeighborKey mine[4];
        fold.keys_of(q, found.numbers[i], query_norm, itself, threshold, mine);
        keep(mine);
    }
    __syncthreads();
    if (n_groups > max_groups || n_keys > max_keys) {
        if (thread == 0) fold.leave_undecided(q);
        return;
    }
    sort_keys<max_keys>(keys, n_keys);
    for (int i = thread; i < k; i += fold_threads)
        fold.out.d_data[q * k + i] = neighbor_of(keys[i]);
    if (thread == 0) fold.conclude(q, keys[fold.deciding()], query_norm, threshold);
}

template <int max_keys>
void launch_block_fold(const Fold& fold, cudaStream_t stream) {
    constexpr int shared_bytes =
        sort_bytes(max_keys) + max_keys / 2 * static_cast<int>(sizeof(std::uint32_t));
    const auto kernel = block_fold_kernel<max_keys>;
    allow_shared(kernel, shared_bytes);
    kernel<<<grid_size(fold.out.n_query), fold_threads, shared_bytes, stream>>>(fold);
}

}  // namespace

void load_fold() {
    load_kernels(warp_fold_kernel);
}

void enqueue_fold(const TensorPass& pass, const FoldStep& step, const Batch& batch, cudaStream_t stream) {
    const NeighborRows& out = batch.out;
    require(out.k >= 1 && out.k <= max_device_k, "k from 1 to 1024");
    require(step.is_last || (step.rank >= 1 && step.rank <= out.k), "a rank from 1 to k");
    require(out.n_query <= std::int64_t{pass.schedule.query_tiles} * tile_queries,
            "a row of neighbors for each query");
    const Fold fold{{pass, step, out, batch.left_out, batch.known}};
    if (out.k <= warp_size)
        warp_fold_kernel<<<grid_size(divide_up(out.n_query, fold_warps)), fold_threads, 0, stream>>>(fold);
    else if (out.k <= 128)
        launch_block_fold<2048>(fold, stream);
    else
        launch_block_fold<8192>(fold, stream);
    check_launch("launching fold");
}

}  // namespace knn::gpu
