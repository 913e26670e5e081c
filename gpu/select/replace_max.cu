// Keeps k candidates, replaces the largest when a smaller one is found, sorts them at the end (seed 004,
// §5.3).
//
// in      n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out     n_query × k neighbors
// launch  one warp per query: 32 distances at a time are compared with the largest candidate, and the few
//         that are smaller replace it one after another; the seed uses one thread per query.
// shared  k keys for each of the block's 2 warps: at most 16 KiB
// order   keys are distance << 32 | index
// work    4 · n_train bytes and n_train comparisons per query; for random order about k · ln(n_train / k)
//         replacements, each a search over k keys for the new largest; k searches to sort them

#include <cassert>

#include "data/core/round_up.h"
#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int warps = 2;

/// The candidates of one query in shared memory, unordered.
struct Candidates {
    NeighborKey* keys;
    int k, lane;

    /// The largest key, on every lane.
    __device__ NeighborKey largest() const {
        NeighborKey worst = 0;
        for (int i = lane; i < k; i += warp_size)
            worst = max(worst, keys[i]);
        return warp_max(worst);
    }
    /// All keys differ, so exactly one lane finds `old`.
    __device__ void replace(NeighborKey old, NeighborKey by) const {
        for (int i = lane; i < k; i += warp_size)
            if (keys[i] == old) keys[i] = by;
        __syncwarp();
    }
    __device__ void write_in_order(Neighbor* d_out) const {
        NeighborKey last = 0;
        for (int rank = 0; rank < k; ++rank) {
            NeighborKey best = no_key;
            for (int i = lane; i < k; i += warp_size)
                if ((rank == 0 || keys[i] > last) && keys[i] < best) best = keys[i];
            last = warp_min(best);
            if (lane == 0) d_out[rank] = neighbor_of(last);
        }
    }
};

/// steps_ahead: loads in flight per thread.
template <int steps_ahead>
__global__ void __launch_bounds__(warps* warp_size) replace_max_kernel(DistanceRows in, NeighborRows out) {
    extern __shared__ NeighborKey shared[];
    const int lane = static_cast<int>(threadIdx.x) % warp_size,
              warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t q = std::int64_t{blockIdx.x} * warps + warp;
    if (q >= out.n_query) return;
    assert(blockDim.x == warps * warp_size && out.k <= in.cols);
    const std::uint32_t* row = in.row(q);
    const Candidates candidates{shared + warp * out.k, out.k, lane};
    for (int i = lane; i < out.k; i += warp_size)
        candidates.keys[i] = key_of(row[i], i);
    __syncwarp();

    NeighborKey worst = candidates.largest();
    for (std::int64_t begin = out.k; begin < in.cols; begin += steps_ahead * warp_size) {
        NeighborKey key[steps_ahead];
#pragma unroll
        for (int i = 0; i < steps_ahead; ++i) {
            const std::int64_t t = begin + i * warp_size + lane;
            key[i] = t < in.cols ? key_of(row[t], t) : no_key;
        }
#pragma unroll
        for (int i = 0; i < steps_ahead; ++i)
            for (unsigned smaller = __ballot_sync(all_lanes, key[i] < worst); smaller != 0;
                 smaller = __ballot_sync(all_lanes, key[i] < worst) & (smaller & (smaller - 1))) {
                candidates.replace(worst,
                                   __shfl_sync(all_lanes, key[i], __ffs(static_cast<int>(smaller)) - 1));
                worst = candidates.largest();
            }
    }
    candidates.write_in_order(out.d_data + q * out.k);
}

void launch(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void*,
            cudaStream_t stream) {
    static_assert(warps * sizeof(NeighborKey) * max_k <= 48 << 10, "more must be asked for");
    const unsigned blocks = grid_size(divide_up(out.n_query, warps));
    const std::size_t shared_bytes = warps * sizeof(NeighborKey) * static_cast<std::size_t>(problem.k);
    // For large k most of the time is spent replacing, and more registers only reduce occupancy.
    const auto kernel = problem.k <= 64 ? replace_max_kernel<8> : replace_max_kernel<4>;
    kernel<<<blocks, warps * warp_size, shared_bytes, stream>>>(in, out);
    check_launch("launching replace_max");
}

}  // namespace

extern const Selector replace_max_selector{
    .name = "replace_max", .summary = "keep k, replace the largest, then order them", .launch = launch};

}  // namespace knn::gpu
