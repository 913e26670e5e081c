// k searches for a minimum (seed 004, §4.2).
//
// in      n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out     n_query × k neighbors
// launch  one warp per query, for coalesced reads; the seed uses one thread. The seed overwrites each
//         minimum; here each search finds the smallest key above the last one, and the matrix is unchanged.
// order   keys are distance << 32 | index
// limits  k · n_train <= 2³³; above that a warp would take minutes
// work    k · n_train comparisons and 4 · k · n_train bytes per query, from the L2 cache if a row fits

#include <cassert>

#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int warps = 4;

__global__ void __launch_bounds__(warps* warp_size) k_pass_kernel(DistanceRows in, NeighborRows out) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t q = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size;
    if (q >= out.n_query) return;
    const std::uint32_t* row = in.row(q);
    NeighborKey last = 0;
    for (int rank = 0; rank < out.k; ++rank) {
        NeighborKey best = no_key;
        for (std::int64_t t = lane; t < in.cols; t += warp_size) {
            const NeighborKey key = key_of(row[t], t);
            if ((rank == 0 || key > last) && key < best) best = key;
        }
        last = warp_min(best);
        assert(last != no_key);  // k <= n_train
        if (lane == 0) out.d_data[q * out.k + rank] = neighbor_of(last);
    }
}

UnsupportedReason refuse(const Problem& problem) {
    if (problem.k * problem.n_train <= std::int64_t{1} << 33) return std::nullopt;
    return "k_pass would take minutes: expected k times the training images to be at most 8,589,934,592";
}

void launch(const Problem&, const DistanceRows& in, const NeighborRows& out, void*, cudaStream_t stream) {
    const unsigned blocks = grid_size(divide_up(out.n_query, warps));
    k_pass_kernel<<<blocks, warps * warp_size, 0, stream>>>(in, out);
    check_launch("launching k_pass");
}

}  // namespace

extern const Selector k_pass_selector{
    .name = "k_pass", .summary = "k searches for a minimum", .refuse = refuse, .launch = launch};

}  // namespace knn::gpu
