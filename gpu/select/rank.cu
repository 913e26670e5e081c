// Every element computes its own rank (seed 000, §4.4.2, there called cuBubbleSort).
//
// out     an element of rank r < k writes itself to out[r]
// launch  one thread per element, 256 elements of one query per block (`rank512`: 512, which the seed tried, §4.1). All
//         threads read the same distance at the same time, from global memory as in the seed: one broadcast read per warp.
// order   equal distances of lower index count as smaller: (distance, index)
// limits  n_train <= 2¹⁸: with n_train² · n_query comparisons, more would take minutes
// work    n_train² comparisons per query: 3.6·10¹³ for MNIST

#include <cassert>

#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr std::int64_t max_train = std::int64_t{1} << 18;

template <int threads>
__global__ void __launch_bounds__(threads)
    rank_kernel(DistanceRows in, NeighborRows out, std::int64_t blocks_per_row) {
    const std::int64_t q = blockIdx.x / blocks_per_row;
    const std::int64_t t = blockIdx.x % blocks_per_row * threads + threadIdx.x;
    if (t >= in.cols) return;
    assert(q < out.n_query && in.cols <= std::int64_t{1} << 31);
    const std::uint32_t* row = in.row(q);
    const std::uint32_t mine = row[t];
    int rank = 0;
#pragma unroll 8
    for (std::int64_t i = 0; i < t; ++i)
        rank += row[i] <= mine ? 1 : 0;
#pragma unroll 8
    for (std::int64_t i = t + 1; i < in.cols; ++i)
        rank += row[i] < mine ? 1 : 0;
    if (rank < out.k) out.d_data[q * out.k + rank] = {mine, static_cast<std::uint32_t>(t)};
}

template <int threads>
void launch(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void*,
            cudaStream_t stream) {
    const std::int64_t blocks_per_row = divide_up(problem.n_train, threads);
    rank_kernel<threads>
        <<<grid_size(blocks_per_row * problem.n_query), threads, 0, stream>>>(in, out, blocks_per_row);
    check_launch("launching rank");
}

}  // namespace

extern const Selector rank_selector{.name = "rank",
                                    .summary = "every element counts its own rank",
                                    .launch = launch<256>,
                                    .max_train = max_train};
extern const Selector rank512_selector{.name = "rank512",
                                       .summary = "the same with 512 threads in a block instead of 256",
                                       .launch = launch<512>,
                                       .max_train = max_train};

}  // namespace knn::gpu
