// The exact way out: queries that the fused search could not decide are compared with every training image.
//
// train, query  n × dim bytes, pitched rows (multiples of 16 bytes) that are zero beyond dim, device memory
// undecided     the numbers of those queries; how many there are is known on the device alone
// out           the rows of those queries: k neighbors by (distance, index)
// launch        a fixed grid; a block takes one undecided query after the other. A group of 8 lanes computes a
//               pair, and the block keeps its K best in shared memory (select/topk.cuh).
// exact         4-byte products (dp4a) of absolute differences, 32-bit sums: 4,096 · 255² < 2³²
// bound by      the multiprocessors' integer units. Slow beside the tensor cores: heavy ties end up here.

#include <bit>

#include "gpu/fused/merge.h"
#include "gpu/runtime/check.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256, lanes_a_pair = 8, pairs_at_once = threads / lanes_a_pair;

__device__ std::uint32_t squared_difference(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
    const std::uint32_t d = __vabsdiffu4(a, b);
    return __dp4a(d, d, sum);
}

__global__ void __launch_bounds__(threads)
    scan_kernel(ByteRows train, ByteRows query, NeighborRows out, Undecided undecided, int K) {
    extern __shared__ NeighborKey shared[];
    __shared__ int gathered_count;
    const TopK<threads> top{shared, shared + K, &gathered_count, out.k, K};
    const int lane = static_cast<int>(threadIdx.x) % lanes_a_pair;
    const int undecided_count = *undecided.d_count;
    for (int u = static_cast<int>(blockIdx.x); u < undecided_count; u += static_cast<int>(gridDim.x)) {
        const std::int64_t q = undecided.d_queries[u];
        const auto* query_words = reinterpret_cast<const uint4*>(query.row(q));
        top.clear();
        for (std::int64_t begin = 0; begin < train.n; begin += pairs_at_once) {
            const std::int64_t t = begin + threadIdx.x / lanes_a_pair;
            std::uint32_t sum = 0;
            if (t < train.n) {
                const auto* train_words = reinterpret_cast<const uint4*>(train.row(t));
                for (std::int64_t at = lane; 16 * at < train.cols; at += lanes_a_pair) {
                    const uint4 a = query_words[at], b = train_words[at];
                    sum = squared_difference(a.x, b.x, sum);
                    sum = squared_difference(a.y, b.y, sum);
                    sum = squared_difference(a.z, b.z, sum);
                    sum = squared_difference(a.w, b.w, sum);
                }
            }
            for (int step = lanes_a_pair / 2; step > 0; step /= 2)
                sum += __shfl_xor_sync(all_lanes, sum, step);
            if (lane == 0 && t < train.n) top.gather(key_of(sum, t));
            top.merge_when_full();
        }
        top.merge();
        for (int i = static_cast<int>(threadIdx.x); i < out.k; i += threads)
            out.d_data[q * out.k + i] = neighbor_of(top.best[i]);
        __syncthreads();
    }
}

}  // namespace

void enqueue_scan(const ByteRows& train, const ByteRows& query, const NeighborRows& out,
                  const Undecided& undecided, cudaStream_t stream) {
    const int K = static_cast<int>(std::bit_ceil(static_cast<unsigned>(out.k < threads ? threads : out.k)));
    const int blocks = 4 * device_attribute(cudaDevAttrMultiProcessorCount);
    scan_kernel<<<static_cast<unsigned>(blocks), threads, TopK<threads>::bytes(K), stream>>>(
        train, query, out, undecided, K);
    check_launch("launching scan");
}

}  // namespace knn::gpu
