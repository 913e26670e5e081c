// The order of the candidates after re-ranking.
//
// in      n_query × candidates neighbors and scores, device memory; a factor for each training image, or none
// out     n_query × k neighbors: score, divided by density where there are factors, and index
// launch  a block per query. Keys lie in shared memory; every candidate counts those before it, which all threads read
//         at the same time, and writes itself to that place if it is below k.
// order   (score, index); of candidates that are equal in both, that of the lower place
// work    candidates² comparisons per query

#include "data/rerank/density.h"
#include "gpu/rerank/kernels.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

namespace {

constexpr int order_threads = 128;

__global__ void __launch_bounds__(order_threads)
    order_kernel(NeighborRows candidates, const std::uint32_t* d_scores, const std::uint32_t* d_density,
                 NeighborRows out) {
    __shared__ NeighborKey keys[max_device_k];
    const std::int64_t first = blockIdx.x * std::int64_t{candidates.k};
    const int count = candidates.k, thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < count; i += order_threads) {
        const std::uint32_t index = candidates.d_data[first + i].index;
        std::uint32_t score = d_scores[first + i];
        if (d_density != nullptr) score = scaled_by_density(score, d_density[index]);
        keys[i] = key_of(score, index);
    }
    __syncthreads();
    for (int i = thread; i < count; i += order_threads) {
        const NeighborKey mine = keys[i];
        int place = 0;
#pragma unroll 4
        for (int j = 0; j < count; ++j)
            place += keys[j] < mine || (keys[j] == mine && j < i) ? 1 : 0;
        if (place < out.k) out.d_data[blockIdx.x * std::int64_t{out.k} + place] = neighbor_of(mine);
    }
}

}  // namespace

void enqueue_order(const NeighborRows& candidates, const std::uint32_t* d_scores,
                   const std::uint32_t* d_density, const NeighborRows& out, cudaStream_t stream) {
    require(candidates.k >= 1 && candidates.k <= max_device_k, "1 to 1,024 candidates");
    require(out.n_query == candidates.n_query && out.k >= 1 && out.k <= candidates.k,
            "at most as many neighbors as candidates");
    order_kernel<<<grid_size(candidates.n_query), order_threads, 0, stream>>>(candidates, d_scores, d_density,
                                                                              out);
    check_launch("launching order");
}

void load_order() {
    load_kernels(order_kernel);
}

}  // namespace knn::gpu
