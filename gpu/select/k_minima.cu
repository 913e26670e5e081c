// The k smallest of a row by one thread, or one warp: a sorted list, a comb sort, k searches, or k candidates.
//
// launch     insertion          one thread per query inserts into its list of the k best; blocks of 64 threads, which spread few
//                               queries over many multiprocessors. Adjacent threads read different rows, so nothing is
//                               coalesced; the lists grow in `out`.
//            k_pass             seed 004, §4.2: k searches through the row. The seed overwrites each minimum; here each search
//                               finds the smallest key above the last one, and the matrix is unchanged.
//            replace_max        seed 004, §5.3: the first k are candidates; each further key below the largest of them replaces
//                               it, and the largest is searched again; at the end k searches put them in order.
//            These two with a warp per query, for coalesced reads: 32 distances at a time are compared with the largest
//            candidate, and the few that are smaller replace it one after another.
//            For `bench` alone:
//            k_pass_thread, replace_max_thread: one thread per query, as in the seed
//            insertion_columns  seed 000, §4.4.1: blocks of 256 threads (§4.1), and arrays by columns, so that adjacent threads
//                               read adjacent addresses. The lists are in shared memory while 256 of them fit (k <= 24), the
//                               shift that seed 001 sees in its Fig. 4, else by columns. The seeds' distance kernels write
//                               columns; here a transposition precedes the insertion, and its time is included.
//            comb_sort          also by columns; gaps shrink by 1.3. Garcia et al., 2008, consider it for large k (seed 002, §3.2)
// shared     replace_max: k keys for each of the block's 2 warps, at most 16 KiB
// workspace  a column for each query: n_train distances and, unless they are shared, k neighbors; or n_train keys.
//            replace_max_thread: k keys
// order      elements come in ascending index and are inserted after equal ones: (distance, index). All others compare keys,
//            distance << 32 | index, all different
// limits     insertion*: k · n_train <= 2³², k_pass*: 2³³; comb_sort: n_train <= 2¹⁸; above that it would take minutes
// work       insertion*: n_train comparisons per query, and about k · k · ln(n_train / k) moves for random order; comb_sort: about
//            n_train · log₁.₃ n_train comparisons, whatever k is; k_pass*: k · n_train comparisons and 4 · k · n_train bytes, from
//            the L2 cache if a row fits; replace_max*: 4 · n_train bytes and n_train comparisons; for random order about
//            k · ln(n_train / k) replacements, each a search over k keys; k searches to sort them

#include <cassert>

#include "gpu/distance/transpose.cuh"
#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

constexpr int row_threads = 64, column_threads = 256;
constexpr std::int64_t max_moves = std::int64_t{1} << 32;
constexpr int max_shared_k = (48 << 10) / column_threads / sizeof(Neighbor);

/// One thread's elements, `stride` apart.
template <class T>
struct Strided {
    T* d_data;
    std::int64_t stride;
    __device__ T& operator[](std::int64_t i) const { return d_data[i * stride]; }
};

/// The k smallest of n distances, in order, to `list`.
__device__ void insert_all(const Strided<const std::uint32_t>& distances, std::int64_t n,
                           const Strided<Neighbor>& list, int k) {
    int size = 0;
    std::uint32_t worst = 0;  // of a full list
    for (std::int64_t t = 0; t < n; ++t) {
        const std::uint32_t distance = distances[t];
        if (size == k && distance >= worst) continue;
        int place = size < k ? size++ : k - 1;
        for (; place > 0 && list[place - 1].distance > distance; --place)
            list[place] = list[place - 1];
        assert(place >= 0 && place < size && size <= k);
        list[place] = {distance, static_cast<std::uint32_t>(t)};
        worst = list[size - 1].distance;
    }
}

__global__ void __launch_bounds__(row_threads) insertion_kernel(DistanceRows in, NeighborRows out) {
    const std::int64_t q = std::int64_t{blockIdx.x} * row_threads + threadIdx.x;
    if (q < out.n_query) insert_all({in.row(q), 1}, in.cols, {out.d_data + q * out.k, 1}, out.k);
}

/// d_lists: k rows of `stride`; null: the lists are in shared memory.
__global__ void __launch_bounds__(column_threads)
    insertion_columns_kernel(const std::uint32_t* d_columns, std::int64_t stride, std::int64_t n,
                             Neighbor* d_lists, NeighborRows out) {
    extern __shared__ Neighbor shared_lists[];
    const std::int64_t q = std::int64_t{blockIdx.x} * column_threads + threadIdx.x;
    if (q >= out.n_query) return;
    const Strided<Neighbor> list = d_lists != nullptr
                                       ? Strided<Neighbor>{d_lists + q, stride}
                                       : Strided<Neighbor>{shared_lists + threadIdx.x, column_threads};
    insert_all({d_columns + q, stride}, n, list, out.k);
    for (int i = 0; i < out.k; ++i)
        out.d_data[q * out.k + i] = list[i];
}

__global__ void __launch_bounds__(column_threads)
    comb_sort_kernel(DistanceRows in, NeighborKey* d_keys, std::int64_t stride, NeighborRows out) {
    const std::int64_t q = std::int64_t{blockIdx.x} * column_threads + threadIdx.x;
    if (q >= out.n_query) return;
    const Strided<NeighborKey> keys{d_keys + q, stride};
    for (std::int64_t t = 0; t < in.cols; ++t)
        keys[t] = key_of(in.row(q)[t], t);
    std::int64_t gap = in.cols;
    bool sorted = false;
    while (!sorted) {
        gap = max(std::int64_t{1}, gap * 10 / 13);
        sorted = gap == 1;
        for (std::int64_t i = 0; i + gap < in.cols; ++i) {
            const NeighborKey a = keys[i], b = keys[i + gap];
            if (a <= b) continue;
            keys[i] = b;
            keys[i + gap] = a;
            sorted = false;
        }
    }
    for (int i = 0; i < out.k; ++i)
        out.d_data[q * out.k + i] = neighbor_of(keys[i]);
}

std::int64_t insertion_bytes(const Problem& problem) {
    return 4 * problem.n_train + (problem.k > max_shared_k ? 8 * problem.k : 0);
}

unsigned blocks_of(const Selection& of, int threads) {
    return grid_size(divide_up(of.in.n, threads));
}

void launch_insertion(const Selection& of) {
    insertion_kernel<<<blocks_of(of, row_threads), row_threads, 0, of.stream>>>(of.in, of.out);
}

void launch_insertion_columns(const Selection& of) {
    auto* d_columns = of.workspace<std::uint32_t>();
    const std::int64_t stride = column_stride(of.in.n);
    const bool shared = of.out.k <= max_shared_k;
    enqueue_transpose(of.in, d_columns, of.stream);
    auto* d_lists = shared ? nullptr : reinterpret_cast<Neighbor*>(d_columns + stride * of.in.cols);
    const std::size_t shared_bytes = shared ? sizeof(Neighbor) * column_threads * of.out.k : 0;
    insertion_columns_kernel<<<blocks_of(of, column_threads), column_threads, shared_bytes, of.stream>>>(
        d_columns, stride, of.in.cols, d_lists, of.out);
}

void launch_comb_sort(const Selection& of) {
    comb_sort_kernel<<<blocks_of(of, column_threads), column_threads, 0, of.stream>>>(
        of.in, of.workspace<NeighborKey>(), column_stride(of.in.n), of.out);
}

constexpr SelectorOptions by_columns(std::int64_t (*bytes)(const Problem&), std::int64_t max_train,
                                     std::int64_t max_k_train) {
    return {.row_bytes = bytes,
            .workspace_goal = std::int64_t{1} << 30,
            .row_multiple = column_multiple,
            .max_train = max_train,
            .max_k_train = max_k_train};
}

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

extern const Selector insertion_selector("insertion", "one thread per query, insertion into its k best",
                                         launch_insertion, {.max_k_train = max_moves});
extern const Selector insertion_columns_selector("insertion_columns", "", launch_insertion_columns,
                                                 by_columns(insertion_bytes, max_columns, max_moves));
extern const Selector comb_sort_selector("comb_sort", "", launch_comb_sort,
                                         by_columns([](const Problem& of) { return key_bytes * of.n_train; },
                                                    std::int64_t{1} << 18, unlimited));
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
