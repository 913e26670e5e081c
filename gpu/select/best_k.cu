// A block per query reads its row once and keeps the k best.
//
// launch     bitonic_topk        128 threads. K = k rounded up to a power of two, at least 128. Distances below the K-th best
//                                so far are gathered in a buffer; when the next 128 may not fit, its 2 · K keys are sorted and
//                                merged with the K best (topk.cuh). Four loads are in flight while others are gathered.
//            For `bench` alone:
//            bitonic_topk_plain  the truncated bitonic sort that seed 001 compares with (Sismanis et al., 2012), without the
//                                filter: each K keys are sorted and merged with the K best.
//            heap                Barrientos et al., 2011, as seed 001 describes it: 256 threads. Keys below the largest of a
//                                heap are gathered; when the next 256 may not fit, all threads wait while one inserts them
//                                into the heap. At the end it takes the heap apart in order.
// shared     K best and 2 · K gathered keys: at most 24 KiB; heap: the buffer of 512 keys
// workspace  heap: k keys, the largest first
// order      keys are distance << 32 | index, all different
// work       4 · n_train bytes and n_train comparisons per query; a sort of 2 · K keys for about every 2 · K gathered keys, or
//            n_train / K sorts of K keys; heap: for random order about k · ln(n_train / k) insertions of log₂ k steps

#include <cassert>

#include "gpu/select/select.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 128;
constexpr int steps_ahead = 4;  // loads in flight
constexpr int heap_threads = 256, capacity = 2 * heap_threads;

/// filter: leaves out what is not below the K-th best so far.
template <bool filter>
__global__ void __launch_bounds__(threads) bitonic_topk_kernel(DistanceRows in, NeighborRows out, int K) {
    extern __shared__ NeighborKey shared[];
    __shared__ int count;
    const std::int64_t q = blockIdx.x;
    const std::uint32_t* row = in.row(q);
    const auto thread = static_cast<int>(threadIdx.x);
    const BlockTopK<threads> top{shared, shared + K, &count, out.k, K};
    top.clear();
    if constexpr (filter) {
        for_keys<threads, steps_ahead>(row, 0, in.cols, thread, [&](NeighborKey key) {
            top.gather(key);
            top.merge_when_full();
        });
        top.merge();
    } else {
        for (std::int64_t begin = 0; begin < in.cols; begin += K) {
            for (int i = thread; i < K; i += threads)
                top.gathered[i] = begin + i < in.cols ? key_of(row[begin + i], begin + i) : no_key;
            top.merge_sorted(K);
        }
    }
    for (int i = thread; i < out.k; i += threads)
        out.d_data[q * out.k + i] = neighbor_of(top.best[i]);
}

template <bool filter>
void launch(const Selection& of) {
    const int K = BlockTopK<threads>::size_for(of.out.k);
    bitonic_topk_kernel<filter>
        <<<grid_size(of.in.n), threads, BlockTopK<threads>::bytes(K), of.stream>>>(of.in, of.out, K);
}

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

__global__ void __launch_bounds__(heap_threads)
    heap_kernel(DistanceRows in, NeighborRows out, NeighborKey* d_heaps) {
    __shared__ NeighborKey gathered[capacity], largest;
    __shared__ int count;
    const int k = out.k;
    NeighborKey* heap = d_heaps + std::int64_t{blockIdx.x} * k;
    const std::uint32_t* row = in.row(blockIdx.x);
    assert(blockDim.x == heap_threads && k <= in.cols);
    for (int i = static_cast<int>(threadIdx.x); i < k; i += heap_threads)
        heap[i] = no_key;
    if (threadIdx.x == 0) {
        count = 0;
        largest = no_key;
    }
    __syncthreads();
    for (std::int64_t begin = 0; begin < in.cols; begin += heap_threads) {
        const std::int64_t t = begin + threadIdx.x;
        const NeighborKey key = t < in.cols ? key_of(row[t], t) : no_key;
        if (key < largest) gathered[atomicAdd(&count, 1)] = key;
        __syncthreads();
        if (threadIdx.x == 0 && (count > capacity - heap_threads || begin + heap_threads >= in.cols)) {
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

void launch_heap(const Selection& of) {
    heap_kernel<<<grid_size(of.in.n), heap_threads, 0, of.stream>>>(of.in, of.out,
                                                                    of.workspace<NeighborKey>());
}

}  // namespace

extern const Selector bitonic_topk_selector("bitonic_topk",
                                            "bitonic sort that keeps the k best while merging", launch<true>);
extern const Selector bitonic_topk_plain_selector("bitonic_topk_plain", "", launch<false>);
extern const Selector heap_selector("heap", "", launch_heap,
                                    {.row_bytes = [](const Problem& of) { return key_bytes * of.k; }});

}  // namespace knn::gpu
