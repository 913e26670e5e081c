// One thread per query: insertion into its sorted list of the k best, or a comb sort.
//
// launch     insertion          blocks of 64 threads, which spread few queries over many multiprocessors. Adjacent threads
//                               read different rows, so nothing is coalesced; the lists grow in `out`.
//            For `bench` alone, blocks of 256 threads (seed 000, §4.1) and arrays by columns, so that adjacent threads read
//            adjacent addresses:
//            insertion_columns  seed 000, §4.4.1. The lists are in shared memory while 256 of them fit (k <= 24), the shift that
//                               seed 001 sees in its Fig. 4, else by columns. The seeds' distance kernels write columns; here a
//                               transposition precedes the insertion, and its time is included.
//            comb_sort          gaps shrink by 1.3; Garcia et al., 2008, consider it for large k (seed 002, §3.2)
// workspace  a column for each query: n_train distances and, unless they are shared, k neighbors; or n_train keys
// order      elements come in ascending index and are inserted after equal ones: (distance, index); keys are all different
// limits     insertion*: k · n_train <= 2³²; comb_sort: n_train <= 2¹⁸; above that one thread would take minutes
// work       insertion*: n_train comparisons per query, and about k · k · ln(n_train / k) moves for random order;
//            comb_sort: about n_train · log₁.₃ n_train comparisons, whatever k is

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

}  // namespace

extern const Selector insertion_selector("insertion", "one thread per query, insertion into its k best",
                                         launch_insertion, {.max_k_train = max_moves});
extern const Selector insertion_columns_selector("insertion_columns", "", launch_insertion_columns,
                                                 by_columns(insertion_bytes, max_columns, max_moves));
extern const Selector comb_sort_selector("comb_sort", "", launch_comb_sort,
                                         by_columns([](const Problem& of) { return key_bytes * of.n_train; },
                                                    std::int64_t{1} << 18, unlimited));

}  // namespace knn::gpu
