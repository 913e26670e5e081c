// A heap of the k best per query (Barrientos et al., 2011, as seed 001 describes it).
//
// workspace  k keys: a heap with its largest first
// launch     a block of 256 threads per query. Keys below the heap's largest are gathered in a buffer; when the next 256 may
//            not fit, all threads wait while one inserts them into the heap. At the end it takes the heap apart in order.
// shared     the buffer of 512 keys
// order      keys are distance << 32 | index, all different
// work       n_train comparisons and 4 · n_train bytes per query; for random order about k · ln(n_train / k) insertions of
//            log₂ k steps by one thread

#include <cassert>

#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256, capacity = 2 * threads;

/// Puts `key` in the place of the largest of `size` keys.
__device__ void replace_largest(NeighborKey* heap, int size, NeighborKey key) {
    int place = 0;
    for (int child = 1; child < size; child = 2 * place + 1) {
        if (child + 1 < size && heap[child + 1] > heap[child]) ++child;
        if (heap[child] <= key) break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = key;
}

__global__ void __launch_bounds__(threads)
    heap_kernel(DistanceRows in, NeighborRows out, NeighborKey* d_heaps) {
    __shared__ NeighborKey gathered[capacity], largest;
    __shared__ int count;
    const int k = out.k;
    NeighborKey* heap = d_heaps + std::int64_t{blockIdx.x} * k;
    const std::uint32_t* row = in.row(blockIdx.x);
    assert(blockDim.x == threads && k <= in.cols);
    for (int i = static_cast<int>(threadIdx.x); i < k; i += threads)
        heap[i] = no_key;
    if (threadIdx.x == 0) {
        count = 0;
        largest = no_key;
    }
    __syncthreads();
    for (std::int64_t begin = 0; begin < in.cols; begin += threads) {
        const std::int64_t t = begin + threadIdx.x;
        const NeighborKey key = t < in.cols ? key_of(row[t], t) : no_key;
        if (key < largest) gathered[atomicAdd(&count, 1)] = key;
        __syncthreads();
        if (threadIdx.x == 0 && (count > capacity - threads || begin + threads >= in.cols)) {
            for (int i = 0; i < count; ++i)
                if (gathered[i] < heap[0]) replace_largest(heap, k, gathered[i]);
            count = 0;
            largest = heap[0];
        }
        __syncthreads();
    }
    if (threadIdx.x > 0) return;
    for (int size = k; size > 0; --size) {
        out.d_data[std::int64_t{blockIdx.x} * k + size - 1] = neighbor_of(heap[0]);
        replace_largest(heap, size - 1, heap[size - 1]);
    }
}

void launch(const Problem&, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
            cudaStream_t stream) {
    heap_kernel<<<grid_size(out.n_query), threads, 0, stream>>>(in, out,
                                                                static_cast<NeighborKey*>(d_workspace));
    check_launch("launching heap");
}

}  // namespace

extern const Selector heap_selector{
    .name = "heap", .launch = launch, .row_bytes = [](const Problem& problem) {
        return key_bytes * problem.k;
    }};

}  // namespace knn::gpu
