// Seed 004's ways to find k minima: a search for each of them, or k candidates of which the largest is replaced.
//
// launch     k_pass       §4.2: k searches through the row. The seed overwrites each minimum; here each search finds the
//                         smallest key above the last one, and the matrix is unchanged.
//            replace_max  §5.3: the first k are candidates; each further key below the largest of them replaces it, and the
//                         largest is searched again; at the end k searches put them in order
//            A warp per query, for coalesced reads: 32 distances at a time are compared with the largest candidate, and the few
//            that are smaller replace it one after another. `*_thread`, for `bench` alone: one thread per query, as in the seed.
// shared     replace_max: k keys for each of the block's 2 warps, at most 16 KiB
// workspace  replace_max_thread: k keys
// order      keys are distance << 32 | index, all different
// limits     k_pass*: k · n_train <= 2³³; above that it would take minutes
// work       k_pass*: k · n_train comparisons and 4 · k · n_train bytes per query, from the L2 cache if a row fits.
//            replace_max*: 4 · n_train bytes and n_train comparisons; for random order about k · ln(n_train / k)
//            replacements, each a search over k keys; k searches to sort them

#include <cassert>

#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int pass_threads = 128, replace_threads = 64;
constexpr std::int64_t max_compared = std::int64_t{1} << 33;

/// The lanes that share a query: a warp, or one thread.
template <int lanes>
struct Team {
    static_assert(lanes == 1 || lanes == warp_size);
    __device__ static int lane() { return static_cast<int>(threadIdx.x) % lanes; }
    __device__ static std::int64_t query() {
        return (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / lanes;
    }
    __device__ static NeighborKey smallest(NeighborKey key) { return lanes == 1 ? key : warp_min(key); }
    __device__ static NeighborKey largest(NeighborKey key) { return lanes == 1 ? key : warp_max(key); }
    __device__ static unsigned ballot(bool yes) { return lanes == 1 ? yes : __ballot_sync(all_lanes, yes); }
    __device__ static NeighborKey of_lane(NeighborKey key, int from) {
        return lanes == 1 ? key : __shfl_sync(all_lanes, key, from);
    }
    __device__ static void sync() {
        if constexpr (lanes > 1) __syncwarp();
    }
};

/// k searches through n keys: writes the k smallest in order.
template <int lanes, class KeyAt>
__device__ void write_smallest(const KeyAt& key_at, std::int64_t n, int k, Neighbor* d_out) {
    NeighborKey last = 0;
    for (int rank = 0; rank < k; ++rank) {
        NeighborKey best = no_key;
        for (std::int64_t i = Team<lanes>::lane(); i < n; i += lanes) {
            const NeighborKey key = key_at(i);
            if ((rank == 0 || key > last) && key < best) best = key;
        }
        last = Team<lanes>::smallest(best);
        assert(last != no_key);  // k <= n
        if (Team<lanes>::lane() == 0) d_out[rank] = neighbor_of(last);
    }
}

template <int lanes>
__global__ void __launch_bounds__(pass_threads) k_pass_kernel(DistanceRows in, NeighborRows out) {
    const std::int64_t q = Team<lanes>::query();
    if (q >= out.n_query) return;
    const std::uint32_t* row = in.row(q);
    write_smallest<lanes>([&](std::int64_t t) { return key_of(row[t], t); }, in.cols, out.k,
                          out.d_data + q * out.k);
}

/// The candidates of one query, unordered.
template <int lanes>
struct Candidates {
    NeighborKey* keys;
    int k;

    __device__ NeighborKey largest() const {
        NeighborKey worst = 0;
        for (int i = Team<lanes>::lane(); i < k; i += lanes)
            worst = max(worst, keys[i]);
        return Team<lanes>::largest(worst);
    }
    /// All keys differ, so exactly one lane finds `old`.
    __device__ void replace(NeighborKey old, NeighborKey by) const {
        for (int i = Team<lanes>::lane(); i < k; i += lanes)
            if (keys[i] == old) keys[i] = by;
        Team<lanes>::sync();
    }
};

/// steps_ahead: loads in flight per thread. d_keys: of single threads, k per query; a warp's are in shared memory.
template <int lanes, int steps_ahead>
__global__ void __launch_bounds__(replace_threads)
    replace_max_kernel(DistanceRows in, NeighborRows out, NeighborKey* d_keys) {
    using Lanes = Team<lanes>;
    extern __shared__ NeighborKey shared_keys[];
    const std::int64_t q = Lanes::query();
    const int lane = Lanes::lane();
    if (q >= out.n_query) return;
    assert(blockDim.x == replace_threads && out.k <= in.cols);
    const std::uint32_t* row = in.row(q);
    const Candidates<lanes> candidates{
        lanes == 1 ? d_keys + q * out.k : shared_keys + threadIdx.x / lanes * out.k, out.k};
    for (int i = lane; i < out.k; i += lanes)
        candidates.keys[i] = key_of(row[i], i);
    Lanes::sync();

    NeighborKey worst = candidates.largest();
    for_keys<lanes, steps_ahead>(row, out.k, in.cols, lane, [&](NeighborKey key) {
        for (unsigned smaller = Lanes::ballot(key < worst); smaller != 0;
             smaller = Lanes::ballot(key < worst) & (smaller & (smaller - 1))) {
            candidates.replace(worst, Lanes::of_lane(key, __ffs(static_cast<int>(smaller)) - 1));
            worst = candidates.largest();
        }
    });
    write_smallest<lanes>([&](std::int64_t i) { return candidates.keys[i]; }, out.k, out.k,
                          out.d_data + q * out.k);
}

template <int lanes>
void launch_k_pass(const Selection& of) {
    const unsigned blocks = grid_size(divide_up(of.in.n * lanes, pass_threads));
    k_pass_kernel<lanes><<<blocks, pass_threads, 0, of.stream>>>(of.in, of.out);
}

template <int lanes>
void launch_replace_max(const Selection& of) {
    constexpr int teams = replace_threads / lanes;
    static_assert(lanes == 1 || teams * sizeof(NeighborKey) * max_device_k <= 48 << 10,
                  "more must be asked for");
    const unsigned blocks = grid_size(divide_up(of.in.n, teams));
    const std::size_t shared_bytes =
        lanes == 1 ? 0 : teams * sizeof(NeighborKey) * static_cast<std::size_t>(of.out.k);
    // For large k most of the time is spent replacing, and more registers only reduce occupancy.
    constexpr int few = lanes == 1 ? 1 : 4, many = lanes == 1 ? 1 : 8;
    const auto kernel = of.out.k <= 64 ? replace_max_kernel<lanes, many> : replace_max_kernel<lanes, few>;
    kernel<<<blocks, replace_threads, shared_bytes, of.stream>>>(of.in, of.out, of.workspace<NeighborKey>());
}

}  // namespace

extern const Selector k_pass_selector("k_pass", "k searches for a minimum", launch_k_pass<warp_size>,
                                      {.max_k_train = max_compared});
extern const Selector k_pass_thread_selector("k_pass_thread", "", launch_k_pass<1>,
                                             {.max_k_train = max_compared});
extern const Selector replace_max_selector("replace_max", "keep k, replace the largest, then order them",
                                           launch_replace_max<warp_size>);
extern const Selector replace_max_thread_selector("replace_max_thread", "", launch_replace_max<1>,
                                                  {.row_bytes = [](const Problem& of) {
                                                      return key_bytes * of.k;
                                                  }});

}  // namespace knn::gpu
