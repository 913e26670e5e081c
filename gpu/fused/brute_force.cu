// Exact fallback: compares queries that the fused search could not decide with every training image.
//
// train, query  n × dim bytes as the tensor kernels read them (fused.h), device memory
// undecided     the indices of those queries; their count is known only on the device
// out           the rows of those queries: k neighbors by (distance, index)
// launch        a fixed grid. With fewer such queries than blocks, each query is split: every block writes
//               the k best of its part, and the last one to finish merges them. Groups of 8 lanes compute 4
//               pairs each, and the block keeps its K best in shared memory (select/topk.cuh).
// exact         d² = ‖q‖² + ‖r‖² − 2 q·r in integers modulo 2³²; 4,096 · 255² < 2³²
// bound by      reading the training set from the L2 cache once per such query; for a single query, memory

#include <cassert>

#include "gpu/fused/fused.h"

namespace knn::gpu {

namespace {

constexpr int brute_threads = 256, lanes_per_pair = 8, groups_per_block = brute_threads / lanes_per_pair,
              pairs_per_group = 4;
constexpr int pairs_at_once = groups_per_block * pairs_per_group;
constexpr int min_part = pairs_at_once;  // training images per block, at least

/// The products q·r of a query and pairs_per_group images from `position` on, on each lane of a group.
__device__ void products_of(const ByteRows& train, const uint4* query_words, std::int64_t position, int lane,
                            std::uint32_t (&sums)[pairs_per_group]) {
    assert(train.aligned(sizeof(uint4)));
    for (std::int64_t at = lane; 16 * at < train.cols; at += lanes_per_pair) {
        const uint4 a = query_words[at];
        for (int i = 0; i < pairs_per_group; ++i) {
            const uint4 b = reinterpret_cast<const uint4*>(train.row(min(position + i, train.n - 1)))[at];
            sums[i] = __dp4a(a.x, b.x, sums[i]);
            sums[i] = __dp4a(a.y, b.y, sums[i]);
            sums[i] = __dp4a(a.z, b.z, sums[i]);
            sums[i] = __dp4a(a.w, b.w, sums[i]);
        }
    }
    for (std::uint32_t& sum : sums)
        for (int step = lanes_per_pair / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(all_lanes, sum, step);
}

/// Gathers the K best of the images begin .. end − 1 in tile order, without image `left_out`. By the whole
/// block.
__device__ void search_part(const ByteRows& train, const TrainImage* d_images, const uint4* query_words,
                            std::uint32_t query_norm, std::uint32_t left_out, std::uint32_t first_index,
                            std::int64_t begin, std::int64_t end, const BlockTopK<brute_threads>& top) {
    const int lane = static_cast<int>(threadIdx.x) % lanes_per_pair;
    assert(blockDim.x == brute_threads && train.n % tile_train == 0 && end <= train.n);
    for (std::int64_t first = begin; first < end; first += pairs_at_once) {
        const std::int64_t position = first + threadIdx.x / lanes_per_pair * pairs_per_group;
        std::uint32_t sums[pairs_per_group] = {};
        products_of(train, query_words, position, lane, sums);
#pragma unroll
        for (int i = 0; i < pairs_per_group; ++i) {
            if (lane != i || position + i >= end) continue;
            const TrainImage image = d_images[position + i];
            if (image.index != no_image && image.index != left_out)
                top.gather(key_of(query_norm + image.norm - 2 * sums[i], first_index + image.index));
        }
        top.merge_when_full();
    }
    top.merge_few();
}

/// Stores the k best of one part of undecided query u. The last block to do so for this query gets the k best of
/// all parts; returns false in the others. By the whole block.
__device__ bool merge_parts(const BruteForceWorkspace& workspace, int u, int part, int parts,
                            const BlockTopK<brute_threads>& top) {
    __shared__ bool is_last;
    NeighborKey* d_all = workspace.d_keys + std::int64_t{u} * parts * top.k;
    for (int i = static_cast<int>(threadIdx.x); i < top.k; i += brute_threads)
        d_all[part * top.k + i] = top.best[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(&workspace.d_finished[u], 1) == parts - 1;
    __syncthreads();
    if (!is_last) return false;
    if (threadIdx.x == 0) workspace.d_finished[u] = 0;
    __threadfence();
    const int n = parts * top.k;
    const auto load = [&](int i) { return i < n ? __ldcg(d_all + i) : no_key; };
    // Loaded ahead, as one block alone waits for them.
    const int thread = static_cast<int>(threadIdx.x);
    NeighborKey key = load(thread), second = load(thread + brute_threads),
                third = load(thread + 2 * brute_threads);
    top.clear();
    for (int begin = 0; begin < n; begin += brute_threads) {
        top.gather(key);
        key = second;
        second = third;
        third = load(begin + 3 * brute_threads + thread);
        top.merge_when_full();
        if (begin == 0) top.merge_few();  // most of the others are farther than the k best of these
    }
    top.merge_few();
    return true;
}

/// Gathers the k known neighbors of a query. By the whole block.
__device__ void gather_known(const Neighbor* d_known, const BlockTopK<brute_threads>& top) {
    for (int begin = 0; begin < top.k; begin += brute_threads) {
        const int i = begin + static_cast<int>(threadIdx.x);
        if (i < top.k) top.gather(NeighborKey{d_known[i].distance} << 32 | d_known[i].index);  // or no_key
        top.merge_when_full();
    }
}

__global__ void __launch_bounds__(brute_threads)
    brute_force_kernel(ByteRows train, const TrainImage* d_images, ByteRows query,
                       const std::uint32_t* d_query_norms, NeighborRows out, Undecided undecided,
                       LeftOut left_out, KnownRows known, BruteForceWorkspace workspace, int K) {
    extern __shared__ NeighborKey shared_keys[];
    __shared__ int gathered_count;
    const BlockTopK<brute_threads> top{shared_keys, shared_keys + K, &gathered_count, out.k, K};
    const int count = *undecided.d_count, blocks = static_cast<int>(gridDim.x);
    if (count == 0) return;
    assert(count > 0 && count <= out.n_query);
    const int wanted = static_cast<int>(min((train.n + min_part - 1) / min_part, std::int64_t{blocks}));
    const int parts = max(min(blocks / count, wanted), 1);
    const std::int64_t part_size = (train.n + parts - 1) / parts;
    for (int item = static_cast<int>(blockIdx.x); item < count * parts; item += blocks) {
        const int u = item / parts, part = item % parts;
        const std::int64_t q = undecided.d_queries[u];
        assert(q >= 0 && q < out.n_query && query.aligned(sizeof(uint4)));
        const std::int64_t begin = part * part_size, end = min(begin + part_size, train.n);
        top.clear();
        if (part == 0 && known.d_data != nullptr) gather_known(known.d_data + q * out.k, top);
        search_part(train, d_images, reinterpret_cast<const uint4*>(query.row(q)), d_query_norms[q],
                    left_out.of(q), known.first, begin, end, top);
        if (parts > 1) {
            assert(count * parts <= blocks);  // so this block has only one item
            if (!merge_parts(workspace, u, part, parts, top)) return;
        }
        for (int i = static_cast<int>(threadIdx.x); i < out.k; i += brute_threads)
            out.d_data[q * out.k + i] = neighbor_of(top.best[i]);
        __syncthreads();
    }
}

}  // namespace

void load_brute_force() {
    load_kernels(brute_force_kernel);
}

int brute_force_blocks() {
    return 4 * device_attribute(cudaDevAttrMultiProcessorCount);
}

void enqueue_brute_force(const ByteRows& train, const TrainImage* d_images, const ByteRows& query,
                         const std::uint32_t* d_query_norms, const Batch& batch, const Undecided& undecided,
                         const BruteForceWorkspace& workspace, cudaStream_t stream) {
    const NeighborRows& out = batch.out;
    require(out.k >= 1 && out.k <= max_device_k && out.k <= train.n,
            "k from 1 to 1024 and the training images");
    require(out.n_query == query.n && train.cols == query.cols && train.n % tile_train == 0,
            "whole tiles of training images, and a row of neighbors for each query");
    require(train.aligned(sizeof(uint4)) && query.aligned(sizeof(uint4)), "rows at multiples of 16 bytes");
    const int K = BlockTopK<brute_threads>::size_for(out.k);
    brute_force_kernel<<<static_cast<unsigned>(brute_force_blocks()), brute_threads,
                         BlockTopK<brute_threads>::bytes(K), stream>>>(
        train, d_images, query, d_query_norms, out, undecided, batch.left_out, batch.known, workspace, K);
    check_launch("launching brute_force");
}

}  // namespace knn::gpu
