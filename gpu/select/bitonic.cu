// A bitonic sort of each query's whole row of distances (seed 003, §2; seed 000, §4.4.3).
//
// in      n_query × n_train unsigned 32-bit distances, pitched rows, device memory
// out     n_query × k neighbors: the first k of each sorted row
// keys    distance << 26 | index (bitonic_block.cuh), so equal distances are ordered by index. The row is padded to
//         the next power of two (at least 1,024) with a sentinel above every key; k <= n_train, so it is
//         never returned.
// launch  a block of 2^(log_keys − 5) threads holds 2^log_keys keys, 32 in registers per thread. A row of up
//         to 8,192 keys is one block. On cards with thread block clusters (compute capability 9.0) a row of
//         up to 131,072 keys is a cluster of 1 to 8 blocks of 16,384 keys that read each other's shared
//         memory. Longer rows, and all on other cards: blocks sort pieces of 8,192 keys in a workspace, and
//         steps of 8,192 and more run over the workspace. Blocks of different queries run concurrently.
// limits  n_train <= 2²⁶, the index bits of a key
// work    p/2 · log p · (log p + 1)/2 compare-exchanges for p padded keys: 4.5 million per row for MNIST

#include <cooperative_groups.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "gpu/select/bitonic_block.cuh"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

using namespace bitonic;
namespace cg = cooperative_groups;

constexpr int min_log_keys = 10;      // of one block: 32 threads
constexpr int piece_log_keys = 13;    // 64 KiB, available on every card
constexpr int cluster_log_keys = 14;  // 128 KiB: fewer blocks per row, so fewer steps between blocks
constexpr int max_cluster = 8;        // the portable cluster size
constexpr std::int64_t max_row = std::int64_t{1} << index_bits;
constexpr int step_threads = 256;

int log_padded(std::int64_t n_train) {
    return std::max(min_log_keys, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_train - 1))));
}

/// Threads per block, and resident blocks per multiprocessor.
constexpr int threads_of(int log_keys) {
    return 1 << (log_keys - log_window);
}
constexpr int blocks_of(int log_keys) {
    return log_keys < cluster_log_keys ? 2 : 1;
}

/// A row that is one block. Grid: rows.
template <int log_keys>
__global__ void __launch_bounds__(threads_of(log_keys), blocks_of(log_keys))
    block_kernel(DistanceRows in, NeighborRows out) {
    extern __shared__ Key shared[];
    const std::int64_t row = blockIdx.x;
    assert(row < out.n_query && in.cols <= 1 << log_keys && out.k <= in.cols);
    BlockSort<log_keys> sort(shared, 0);
    sort.load(in.row(row), static_cast<int>(in.cols));
    sort.sort_block();
    sort.write_first(out.d_data + row * out.k, out.k);
}

/// A row that is one cluster of blocks. Grid: rows × blocks of a row.
__global__ void __launch_bounds__(threads_of(cluster_log_keys), blocks_of(cluster_log_keys))
    cluster_kernel(DistanceRows in, NeighborRows out, int log_row) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ Key shared[];
    const auto cluster = cg::this_cluster();
    const std::int64_t row = blockIdx.x / cluster.num_blocks();
    assert(row < out.n_query && in.cols <= 1 << log_row && out.k <= in.cols);
    assert(cluster.num_blocks() == 1u << (log_row - cluster_log_keys));
    BlockSort<cluster_log_keys> sort(shared, cluster.block_rank());
    sort.load(in.row(row), static_cast<int>(in.cols));
    sort.sort_block();
    for (int stage = cluster_log_keys + 1; stage <= log_row; ++stage) {
        for (int level = stage - 1; level >= cluster_log_keys; --level)
            sort.exchange_blocks(stage, level);
        sort.merge_block(stage);
    }
    sort.write_first(out.d_data + row * out.k, out.k);
#endif
}

/// Sorts pieces of 8,192 keys, alternately ascending and descending, into the workspace. Grid: pieces of a
/// row, rows.
__global__ void __launch_bounds__(threads_of(piece_log_keys), blocks_of(piece_log_keys))
    piece_sort_kernel(DistanceRows in, Key* d_keys) {
    extern __shared__ Key shared[];
    BlockSort<piece_log_keys> sort(shared, blockIdx.x);
    assert(blockIdx.y < in.n && in.cols <= std::int64_t{gridDim.x} << piece_log_keys);
    sort.load(in.row(blockIdx.y), static_cast<int>(in.cols));
    sort.sort_block();
    sort.store(d_keys + (std::int64_t{blockIdx.y} * gridDim.x << piece_log_keys));
}

/// One step of distance 2^level >= 8,192 of merge stage `stage`. Grid: pairs of a row, rows.
__global__ void __launch_bounds__(step_threads)
    far_step_kernel(Key* d_keys, int log_row, int stage, int level) {
    const std::int64_t pair = std::int64_t{blockIdx.x} * step_threads + threadIdx.x;
    const std::int64_t low = pair & ((std::int64_t{1} << level) - 1);
    const std::int64_t first = ((pair >> level) << (level + 1)) | low;
    assert(level < stage && stage <= log_row &&
           first + (std::int64_t{1} << level) < std::int64_t{1} << log_row);
    Key* d_row = d_keys + (std::int64_t{blockIdx.y} << log_row);
    Key a = d_row[first], b = d_row[first + (std::int64_t{1} << level)];
    compare_exchange(a, b, ((first >> stage) & 1) == 0);
    d_row[first] = a;
    d_row[first + (std::int64_t{1} << level)] = b;
}

/// The steps below 8,192 of a merge stage; after the last stage also writes the row's first k. Grid: pieces
/// of a row, rows.
__global__ void __launch_bounds__(threads_of(piece_log_keys), blocks_of(piece_log_keys))
    piece_merge_kernel(Key* d_keys, int stage, bool last, NeighborRows out) {
    extern __shared__ Key shared[];
    BlockSort<piece_log_keys> sort(shared, blockIdx.x);
    Key* d_row = d_keys + (std::int64_t{blockIdx.y} * gridDim.x << piece_log_keys);
    sort.load(d_row);
    sort.merge_block(stage);
    if (last) {
        assert(blockIdx.y < out.n_query);
        sort.write_first(out.d_data + std::int64_t{blockIdx.y} * out.k, out.k);
    } else {
        sort.store(d_row);
    }
}

template <int log_keys>
constexpr int shared_bytes = sizeof(Key) << log_keys;

template <int log_keys>
void enqueue_one_block(const DistanceRows& in, const NeighborRows& out, cudaStream_t stream) {
    const auto kernel = block_kernel<log_keys>;
    allow_shared(kernel, shared_bytes<log_keys>);
    kernel<<<grid_size(out.n_query), threads_of(log_keys), shared_bytes<log_keys>, stream>>>(in, out);
}

void enqueue_cluster(const DistanceRows& in, const NeighborRows& out, int log_row, cudaStream_t stream) {
    allow_shared(cluster_kernel, shared_bytes<cluster_log_keys>);
    const unsigned blocks = 1u << std::max(0, log_row - cluster_log_keys);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t launch{};
    launch.gridDim = dim3(grid_size(out.n_query * blocks));
    launch.blockDim = dim3(threads_of(cluster_log_keys));
    launch.dynamicSmemBytes = shared_bytes<cluster_log_keys>;
    launch.stream = stream;
    launch.attrs = &cluster;
    launch.numAttrs = 1;
    check(cudaLaunchKernelEx(&launch, cluster_kernel, in, out, log_row), "launching bitonic in clusters");
}

void enqueue_workspace(const DistanceRows& in, const NeighborRows& out, int log_row, Key* d_keys,
                       cudaStream_t stream) {
    allow_shared(piece_sort_kernel, shared_bytes<piece_log_keys>);
    allow_shared(piece_merge_kernel, shared_bytes<piece_log_keys>);
    constexpr int threads = threads_of(piece_log_keys);
    const auto rows = static_cast<unsigned>(out.n_query);
    const dim3 pieces(1u << (log_row - piece_log_keys), rows);
    const dim3 pairs((1u << (log_row - 1)) / step_threads, rows);
    piece_sort_kernel<<<pieces, threads, shared_bytes<piece_log_keys>, stream>>>(in, d_keys);
    for (int stage = piece_log_keys + 1; stage <= log_row; ++stage) {
        for (int level = stage - 1; level >= piece_log_keys; --level)
            far_step_kernel<<<pairs, step_threads, 0, stream>>>(d_keys, log_row, stage, level);
        piece_merge_kernel<<<pieces, threads, shared_bytes<piece_log_keys>, stream>>>(d_keys, stage,
                                                                                      stage == log_row, out);
    }
}

/// Whether this card sorts rows of this size in a cluster.
bool fits_cluster(int log_row) {
    return log_row - cluster_log_keys <= std::countr_zero(unsigned{max_cluster}) &&
           device_attribute(cudaDevAttrClusterLaunch) != 0 &&
           device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= shared_bytes<cluster_log_keys>;
}

std::int64_t row_bytes(const Problem& problem) {
    const int log_row = log_padded(problem.n_train);
    if (log_row <= piece_log_keys || fits_cluster(log_row)) return 0;
    return std::int64_t{sizeof(Key)} << log_row;
}

void launch(const Selection& of) {
    const auto& [problem, in, out, d_workspace, stream] = of;
    const int log_row = log_padded(problem.n_train);
    constexpr decltype(&enqueue_one_block<13>) one_block[] = {enqueue_one_block<min_log_keys>,
                                                              enqueue_one_block<11>, enqueue_one_block<12>,
                                                              enqueue_one_block<piece_log_keys>};
    if (log_row <= piece_log_keys) return one_block[log_row - min_log_keys](in, out, stream);
    if (fits_cluster(log_row)) return enqueue_cluster(in, out, log_row, stream);
    enqueue_workspace(in, out, log_row, static_cast<Key*>(d_workspace), stream);
}

void load(const Problem& problem) {
    const int log_row = log_padded(problem.n_train);
    if (log_row > piece_log_keys && fits_cluster(log_row))
        load_kernels(cluster_kernel);  // that of large sets
}

}  // namespace

extern const Selector bitonic_selector(
    "bitonic", "padded bitonic sort of the whole row, in registers and shared memory", launch,
    {.row_bytes = row_bytes, .max_train = max_row, .load = load, .max_k = max_k});

/// The same sort fed one query at a time (seed 000, §5.3.1, which supposes that its sort is slow for many queries because of
/// this). No two queries run at the same time, and a row of 60,000 occupies 4 of the 132 multiprocessors of an H200.
extern const Selector bitonic_single_selector(
    "bitonic_single", "bitonic, one query at a time", launch,
    {.row_bytes = row_bytes, .one_by_one = true, .max_train = max_row, .max_k = max_k});

}  // namespace knn::gpu
