// Between the passes: what survived of the first training tiles gives a better threshold for the others.
//
// survivors   of each query the lists of the first pass, device memory (survivors.cuh)
// thresholds  one of each query; raised, never lowered
// launch      a warp a query; the scores are sorted in shared memory
// exact       `rank` images reach the new threshold; whether k do is checked by the merge

#include "gpu/fused/merge.h"
#include "gpu/runtime/check.h"
#include "gpu/select/team_sort.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256, warps = threads / warp_size, room = 512, at_once = 4;

/// The scores of a list into `scores`, whose entries in use are counted by `count`; negated, so that the best
/// comes first.
__device__ void add_scores(const Survivor* d_list, int found, std::int32_t* scores, int& count) {
    std::int32_t loaded[at_once];
    for (int begin = 0; begin < found; begin += at_once) {
#pragma unroll
        for (int i = 0; i < at_once; ++i)
            loaded[i] = d_list[min(begin + i, found - 1)].score;
        const int at = atomicAdd(&count, min(at_once, found - begin));
#pragma unroll
        for (int i = 0; i < at_once; ++i)
            if (begin + i < found && at + i < room) scores[at + i] = -loaded[i];
    }
}

__global__ void __launch_bounds__(threads)
    raise_kernel(TensorPass pass, int slots, std::int64_t n_query, int rank, std::int32_t* d_thresholds) {
    __shared__ std::int32_t all_scores[warps][room];
    __shared__ int counts[warps];
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t q = std::int64_t{blockIdx.x} * warps + warp;
    if (q >= n_query) return;
    std::int32_t* scores = all_scores[warp];
    int& count = counts[warp];
    if (lane == 0) count = 0;
    __syncwarp();
    const std::int64_t first_list = q * pass.slots * quad;
    for (int i = lane; i < slots * quad; i += warp_size) {
        const int found = min(pass.d_counts[first_list + i], pass.capacity);
        add_scores(pass.d_survivors + (first_list + i) * pass.capacity, found, scores, count);
    }
    __syncwarp();
    if (count < rank || count > room) return;
    const int size = power_of_two_from(count);
    for (int i = count + lane; i < size; i += warp_size)
        scores[i] = closed_threshold;
    __syncwarp();
    team_sort<warp_size>(scores, size, lane);
    if (lane == 0) d_thresholds[q] = max(d_thresholds[q], -scores[rank - 1]);
}

}  // namespace

void enqueue_raise(const TensorPass& pass, int slots, std::int64_t n_query, int rank,
                   std::int32_t* d_thresholds, cudaStream_t stream) {
    raise_kernel<<<static_cast<unsigned>((n_query + warps - 1) / warps), threads, 0, stream>>>(
        pass, slots, n_query, rank, d_thresholds);
    check_launch("launching raise");
}

}  // namespace knn::gpu
