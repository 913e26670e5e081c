// Distances pixel by pixel, without optimization (seed 003, §3.2 "original").
//
// train    n_train × dim floats holding integers 0..255, pitched rows, device memory
// query    n_query × dim floats, the same
// out      n_query × n_train 32-bit scores, pitched rows
// launch   one thread per pair, 256 training images and one query per block. Scalar loads from global memory;
//          adjacent threads read addresses a whole row apart, which the other kernels avoid.
// metrics  l2, l1, lp (terms.cuh)
// limits   dim <= 66,051 (the distance fits 32 bits); any n_train and n_query
// work     n_query · n_train · dim subtractions and multiply-adds; as many loads of each operand

#include <cassert>

#include "gpu/distance/distance.h"
#include "gpu/distance/terms.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256;

template <class Terms>
__global__ void __launch_bounds__(threads)
    naive_kernel(FloatRows train, FloatRows query, DistanceRows out, std::int64_t train_blocks,
                 const __grid_constant__ Terms terms) {
    __shared__ typename Terms::Shared shared;
    terms.prepare(shared);
    const std::int64_t q = blockIdx.x / train_blocks;
    const std::int64_t t = blockIdx.x % train_blocks * threads + threadIdx.x;
    if (t >= out.cols) return;
    assert(q < out.n && out.cols <= train.n && train.cols == query.cols);
    const float *a = query.row(q), *b = train.row(t);
    typename Terms::Sum sum;
    for (std::int64_t begin = 0; begin < train.cols; begin += pixels_per_carry) {
        const std::int64_t end = min(begin + pixels_per_carry, train.cols);
        for (std::int64_t i = begin; i < end; ++i)
            sum.add(a[i], b[i], shared);
        sum.carry();
    }
    out.row(q)[t] = sum.score();
}

void launch(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
            cudaStream_t stream) {
    const std::int64_t train_blocks = divide_up(problem.n_train, threads);
    with_terms(problem, [&](const auto& terms) {
        naive_kernel<<<grid_size(train_blocks * problem.n_query), threads, 0, stream>>>(
            in.train.floats, in.query.floats, out, train_blocks, terms);
    });
    check_launch("launching naive");
}

}  // namespace

extern const DistanceKernel naive_distance{.name = "naive",
                                           .summary = "one thread per pair, scalar loads from global memory",
                                           .launch = launch,
                                           .metrics = direct_metrics};

}  // namespace knn::gpu
