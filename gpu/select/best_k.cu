// The k best of a row while a block, a warp or a thread reads it: buffered keys, a heap, candidates, a list; or k readings.
//
// launch     bitonic_topk        a block of 128 threads per query. K = k rounded up to a power of two, at least 128. Distances below
//                                the K-th best so far are gathered in a buffer; when the next 128 may not fit, its 2 · K keys are
//                                sorted and merged with the K best (topk.cuh). Four loads are in flight.
//            replace_max         a warp per query. Seed 004, §5.3: the first k are candidates; each further key below the largest of
//                                them replaces it, and the largest is searched again; at the end k searches put them in order.
//                                32 distances at a time are compared, and the few that are smaller replace one after another.
//            k_pass              a warp per query. Seed 004, §4.2: k searches through the row. The seed overwrites each minimum; here
//                                each search finds the smallest key above the last one, and the matrix is unchanged.
//            insertion           a thread per query inserts into its list of the k best; blocks of 64 threads, which spread few
//                                queries over many multiprocessors. Adjacent threads read different rows, so nothing is
//                                coalesced; the lists grow in `out`.
//            For `bench` alone:
//            bitonic_topk_plain  the truncated bitonic sort that seed 001 compares with (Sismanis et al., 2012), without the
//                                filter: each K keys are sorted and merged with the K best
//            heap                Barrientos et al., 2011, as seed 001 describes it: a block of 256 threads. Keys below the largest of
//                                a heap are gathered; when the next 256 may not fit, all threads wait while one inserts them
//                                into the heap. At the end it takes the heap apart in order.
//            k_pass_thread, replace_max_thread: a thread per query, as in the seed
//            insertion_columns   seed 000, §4.4.1: blocks of 256 threads (§4.1), and arrays by columns, so that adjacent threads
//                                read adjacent addresses. The lists are in shared memory while 256 of them fit (k <= 24), the
//                                shift that seed 001 sees in its Fig. 4, else by columns. The seeds' distance kernels write
//                                columns; here a transposition precedes the insertion, and its time is included.
//            comb_sort           a thread sorts a column; gaps shrink by 1.3. Garcia et al., 2008, consider it for large k (seed
//                                002, §3.2)
// shared     bitonic_topk: K best and 2 · K gathered keys, at most 24 KiB; heap: the buffer of 512 keys; replace_max: k keys for each
//            of the block's 2 warps, at most 16 KiB
// workspace  heap, replace_max_thread: k keys; insertion_columns: n_train distances and, unless they are shared, k neighbors of each
//            query; comb_sort: n_train keys
// order      a list takes elements in ascending index after equal ones: (distance, index). All others compare keys,
//            distance << 32 | index, all different
// limits     insertion*: k · n_train <= 2³², k_pass*: 2³³; comb_sort: n_train <= 2¹⁸; above that it would take minutes
// work       4 · n_train bytes and n_train comparisons per query; bitonic_topk: a sort of 2 · K keys for about every 2 · K gathered
//            keys, or n_train / K sorts of K keys. In random order about k · ln(n_train / k) keys enter the k best: each costs a
//            heap log₂ k steps by one thread, replace_max* a search over k keys, a list up to k moves. comb_sort: about
//            n_train · log₁.₃ n_train comparisons; k_pass*: all of it k times, from the L2 cache if a row fits

#include <cassert>

#include "gpu/distance/transpose.cuh"
#include "gpu/runtime/warp.cuh"
#include "gpu/select/select.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

namespace {

constexpr int topk_threads = 128, heap_threads = 256, capacity = 2 * heap_threads;

/// filter: leaves out what is not below the K-th best so far.
template <bool filter>
__global__ void __launch_bounds__(topk_threads)
    bitonic_topk_kernel(DistanceRows in, NeighborRows out, int K) {
    extern __shared__ NeighborKey shared[];
    __shared__ int count;
    const std::int64_t q = blockIdx.x;
    const std::uint32_t* row = in.row(q);
    const auto thread = static_cast<int>(threadIdx.x);
    const BlockTopK<topk_threads> top{shared, shared + K, &count, out.k, K};
    top.clear();
    if constexpr (filter) {
        for_keys<topk_threads, 4>(row, 0, in.cols, thread, [&](NeighborKey key) {
            top.gather(key);
            top.merge_when_full();
        });
        top.merge();
    } else {
        for (std::int64_t begin = 0; begin < in.cols; begin += K) {
            for (int i = thread; i < K; i += topk_threads)
                top.gathered[i] = begin + i < in.cols ? key_of(row[begin + i], begin + i) : no_key;
            top.merge_sorted(K);
        }
    }
    for (int i = thread; i < out.k; i += topk_threads)
        out.d_data[q * out.k + i] = neighbor_of(top.best[i]);
}

template <bool filter>
void launch_topk(const Selection& of) {
    const int K = BlockTopK<topk_threads>::size_for(of.out.k);
    bitonic_topk_kernel<filter>
        <<<grid_size(of.in.n), topk_threads, BlockTopK<topk_threads>::bytes(K), of.stream>>>(of.in, of.out,
                                                                                             K);
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

extern const Selector bitonic_topk_selector("bitonic_topk",
                                            "bitonic sort that keeps the k best while merging",
                                            launch_topk<true>);
extern const Selector bitonic_topk_plain_selector("bitonic_topk_plain", "", launch_topk<false>);
extern const Selector heap_selector("heap", "", launch_heap,
                                    {.row_bytes = [](const Problem& of) { return key_bytes * of.k; }});
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
