// Squared Euclidean distances in the steps of seed 003, §3: each rung changes one thing of the previous one.
//
// train   n_train × dim floats holding integers 0..255, rows of any pitch that is a multiple of 16 bytes,
//         zeros up to a multiple of 4, device memory
// query   n_query × dim floats, the same
// out     n_query × n_train unsigned 32-bit integers, pitched rows
// launch  as in the seed: one launch per test image, one thread per training image, 256 per block
// rungs   ladder_scalar    §3.2 "original": floats one by one from global memory (gpu/distance/pairs.cu)
//         ladder_float4    §3.2 "optimized": four at a time
//         ladder_shared    §3.4: all threads of a block read the test image from shared memory
//         ladder_unroll4   §3.5: the loop over the pixels is unrolled by 4, four pixels a step
//         ladder_unroll8   §3.2, in its code: by 8
//         ladder_unrolled  fully unrolled; compiled for 784 pixels
//         (§3.1 and §3.3, pinned memory and pitched rows, change the arrays, not the kernel.)
// exact   a float sum takes at most 256 squares of up to 255² before it is added to an integer:
//         256 · 65,025 < 2²⁴; each float4 lane has its own sum
// limits  dim <= 66,051 (the distance fits 32 bits); with shared memory dim <= 12,288 (48 KiB)
// work    n_query · n_train · dim subtractions and multiply-adds; every launch reads the training set once

#include "gpu/bench/rungs.h"
#include "gpu/distance/terms.cuh"

namespace knn::gpu {

namespace {

constexpr int threads = 256, unrolled_dim = 784;
constexpr std::int64_t max_shared_dim = 48 * 1024 / sizeof(float);

/// unroll: float4 steps per iteration. fixed_dim: the number of pixels if it is known at compile time, else 0.
template <bool shared, int unroll, int fixed_dim>
__global__ void __launch_bounds__(threads)
    ladder_kernel(FloatRows train, const float* d_query, std::uint32_t* d_out) {
    static_assert(fixed_dim / 4 <= pixels_per_carry, "one sum");
    extern __shared__ float4 shared_query[];
    const int steps = fixed_dim > 0 ? fixed_dim / 4 : static_cast<int>((train.cols + 3) / 4);
    const auto* query = reinterpret_cast<const float4*>(d_query);
    if constexpr (shared) {
        for (int i = static_cast<int>(threadIdx.x); i < steps; i += threads)
            shared_query[i] = query[i];
        __syncthreads();
        query = shared_query;
    }
    const std::int64_t t = std::int64_t{blockIdx.x} * threads + threadIdx.x;
    if (t >= train.n) return;
    const auto* image = reinterpret_cast<const float4*>(train.row(t));
    unsigned total = 0;
    for (int begin = 0; begin < steps; begin += pixels_per_carry) {
        const int end = fixed_dim > 0 ? fixed_dim / 4 : min(begin + pixels_per_carry, steps);
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll unroll
        for (int i = begin; i < end; ++i)
            add_terms<Metric::l2>(sum, image[i], query[i]);
        total += integer_sum(sum);
    }
    d_out[t] = total;
}

template <bool shared, int fixed_dim>
UnsupportedReason refuse(const Problem& problem) {
    if (fixed_dim > 0 && problem.dim != fixed_dim)
        return "the unrolled rung is compiled for images of " + std::to_string(fixed_dim) + " pixels";
    if (shared && problem.dim > max_shared_dim)
        return "the rung keeps the test image in 48 KiB of shared memory: expected at most 12,288 pixels";
    return std::nullopt;
}

template <bool shared, int unroll, int fixed_dim>
void launch(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
            cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(divide_up(problem.n_train, threads));
    const std::size_t shared_bytes =
        shared ? static_cast<std::size_t>((problem.dim + 3) / 4) * sizeof(float4) : 0;
    for (std::int64_t q = 0; q < problem.n_query; ++q)
        ladder_kernel<shared, unroll, fixed_dim>
            <<<blocks, threads, shared_bytes, stream>>>(in.train.floats, in.query.floats.row(q), out.row(q));
    check_launch("launching a rung of the ladder");
}

template <bool shared, int unroll, int fixed_dim = 0>
constexpr DistanceKernel rung(const char* name, const char* summary) {
    return {.name = name,
            .summary = summary,
            .refuse = refuse<shared, fixed_dim>,
            .launch = launch<shared, unroll, fixed_dim>};
}

}  // namespace

extern const DistanceKernel ladder_float4 = rung<false, 1>("ladder_float4", "seed 003, §3.2: float4 loads");
extern const DistanceKernel ladder_shared =
    rung<true, 1>("ladder_shared", "seed 003, §3.4: the test image in shared memory");
extern const DistanceKernel ladder_unroll4 =
    rung<true, 4>("ladder_unroll4", "seed 003, §3.5: the loop unrolled by 4");
extern const DistanceKernel ladder_unroll8 =
    rung<true, 8>("ladder_unroll8", "seed 003, §3.2: the loop unrolled by 8");
extern const DistanceKernel ladder_unrolled =
    rung<true, unrolled_dim / 4, unrolled_dim>("ladder_unrolled", "seed 003, §3.5: the loop fully unrolled");

}  // namespace knn::gpu
