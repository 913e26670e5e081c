// A bitonic sort that keeps only the k best while merging.
//
// launch  one block of 128 threads per query. K = k rounded up to a power of two, at least 128.
//         bitonic_topk        Distances below the K-th best so far are gathered in a buffer; when the next 128 may not fit,
//                             its 2 · K keys are sorted and merged with the K best: the minima of best[i] and
//                             buffer[K − 1 − i] form a bitonic sequence of the K smallest. Four loads are in flight while
//                             the previous ones are gathered.
//         bitonic_topk_plain  for `bench` alone: the truncated bitonic sort that seed 001 compares with (Sismanis et al.,
//                             2012), without the filter: each K keys are sorted and merged with the K best.
// shared  K best and 2 · K gathered keys: at most 24 KiB
// order   keys are distance << 32 | index
// work    4 · n_train bytes per query; n_train comparisons and a sort of 2 · K keys for about every 2 · K gathered keys, or
//         n_train / K sorts of K keys

#include "gpu/select/select.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 128;
constexpr int steps_ahead = 4;  // loads in flight

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
void launch(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void*,
            cudaStream_t stream) {
    const int K = BlockTopK<threads>::size_for(problem.k);
    bitonic_topk_kernel<filter>
        <<<grid_size(out.n_query), threads, BlockTopK<threads>::bytes(K), stream>>>(in, out, K);
    check_launch("launching bitonic_topk");
}

}  // namespace

extern const Selector bitonic_topk_selector{.name = "bitonic_topk",
                                            .summary = "bitonic sort that keeps the k best while merging",
                                            .launch = launch<true>};
extern const Selector bitonic_topk_plain_selector{.name = "bitonic_topk_plain", .launch = launch<false>};

}  // namespace knn::gpu
