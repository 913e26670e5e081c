// Leave-one-out on a matrix of scores: sets the score of each query and itself above all others.
//
// matrix  n_query × n_train 32-bit scores, pitched rows, device memory; one score per row is overwritten
// launch  one thread per query
// exact   no score of data/core/metric.h reaches 2³² − 1, and k is at most the number of other images, so the
//         query itself is never selected

#include "gpu/engines/exclude.h"

#include <cassert>

#include "data/core/round_up.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) exclude_kernel(DistanceRows matrix, Excluded excluded) {
    const std::int64_t q = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (q >= matrix.n) return;
    const std::uint32_t itself = excluded.of(q);
    assert(itself < matrix.cols);
    matrix.row(q)[itself] = excluded_distance;
}

}  // namespace

void enqueue_exclude(const DistanceRows& matrix, const Excluded& excluded, cudaStream_t stream) {
    require(excluded.any(), "queries that are training images");
    exclude_kernel<<<grid_size(divide_up(matrix.n, threads)), threads, 0, stream>>>(matrix, excluded);
    check_launch("launching exclude");
}

}  // namespace knn::gpu
