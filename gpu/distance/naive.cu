// Squared Euclidean distances, the plain way (seed 003, §3.2 "original").
//
// train   n_train × dim floats holding integers 0..255, pitched rows, device memory
// query   n_query × dim floats, the same
// out     n_query × n_train unsigned 32-bit integers, pitched rows
// launch  a thread a pair: a block takes 256 training images and one query. Scalar loads from global memory,
// where
//         neighboring threads read addresses a whole row apart: what the other kernels avoid.
// exact   (a − b)² is summed in a float that is carried into an integer every 256 pixels: 256 · 65,025 < 2²⁴
// limits  dim <= 66,051 (the distance fits 32 bits); any n_train and n_query
// work    n_query · n_train · dim subtractions and multiply-adds; as many loads of each operand

#include "gpu/distance/distance.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr int threads = 256;
constexpr std::int64_t pixels_a_carry = 256;

__global__ void __launch_bounds__(threads)
    naive_kernel(FloatRows train, FloatRows query, DistanceRows out, std::int64_t train_blocks) {
    const std::int64_t q = blockIdx.x / train_blocks;
    const std::int64_t t = blockIdx.x % train_blocks * threads + threadIdx.x;
    if (t >= out.cols) return;
    const float *a = query.row(q), *b = train.row(t);
    unsigned total = 0;
    for (std::int64_t begin = 0; begin < train.cols; begin += pixels_a_carry) {
        const std::int64_t end = min(begin + pixels_a_carry, train.cols);
        float sum = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const float d = a[i] - b[i];
            sum = fmaf(d, d, sum);
        }
        total += static_cast<unsigned>(sum);
    }
    out.row(q)[t] = total;
}

Refusal supports(const Problem& problem) {
    if (Refusal refusal = refuse_all_but_l2("naive", problem)) return refusal;
    return refuse_problem(problem);
}

std::size_t workspace_bytes(const Problem&) {
    return 0;
}

void enqueue(const Problem& problem, const FloatRows& train, const FloatRows& query, const DistanceRows& out,
             void*, cudaStream_t stream) {
    const std::int64_t train_blocks = (problem.n_train + threads - 1) / threads;
    naive_kernel<<<static_cast<unsigned>(train_blocks * problem.n_query), threads, 0, stream>>>(
        train, query, out, train_blocks);
    check_launch("launching naive");
}

}  // namespace

extern const DistanceKernel naive_distance{"naive", "a thread a pair, scalar loads from global memory",
                                           supports, workspace_bytes, enqueue};

}  // namespace knn::gpu
