#pragma once
/// The contribution of one pixel to the distance of a pair, for metrics that are sums over pixels. Kernels
/// are templates over one of these types; `with_terms` selects it. data/core/metric.h defines the scores.
///
///   L2, L1   summed in a float that `carry` adds to an integer at least every 256 pixels: 256 · 255² < 2²⁴,
///            so no sum is rounded
///   Lp       terms are looked up in power_table(p), a kernel argument of 2 KB, and added in double
///            precision. A kernel adds the pixels of a pair in order, as the definition requires.
///
/// Two zero pixels add 0, so tiles may be padded with zeros.

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "data/core/metric.h"

namespace knn::gpu {

inline constexpr int pixels_per_carry = 256;

struct L2 {
    struct Shared {};  // a block's shared memory
    __device__ void prepare(Shared&) const {}

    struct Sum {
        float part = 0;
        unsigned total = 0;
        __device__ void add(float a, float b, const Shared&) {
            const float d = a - b;
            part = fmaf(d, d, part);
        }
        __device__ void carry() {
            total = score();
            part = 0;
        }
        __device__ std::uint32_t score() const {
            assert(part < 1 << 24);
            return total + static_cast<unsigned>(part);
        }
    };
};

struct L1 {
    struct Shared {};
    __device__ void prepare(Shared&) const {}

    struct Sum {
        float part = 0;
        unsigned total = 0;
        __device__ void add(float a, float b, const Shared&) { part += fabsf(a - b); }
        __device__ void carry() {
            total = score();
            part = 0;
        }
        __device__ std::uint32_t score() const {
            assert(part < 1 << 24);
            return total + static_cast<unsigned>(part);
        }
    };
};

struct Lp {
    double power[256];

    struct Shared {
        double power[256];
    };
    /// Called by the whole block before the first sum: divergent indexing of kernel arguments is slow.
    __device__ void prepare(Shared& shared) const {
        const unsigned threads = blockDim.x * blockDim.y;
        for (unsigned v = threadIdx.y * blockDim.x + threadIdx.x; v < 256; v += threads)
            shared.power[v] = power[v];
        __syncthreads();
    }

    struct Sum {
        double sum = 0;
        __device__ void add(float a, float b, const Shared& shared) {
            assert(fabsf(a - b) < 256);
            sum = __dadd_rn(sum, shared.power[static_cast<int>(fabsf(a - b))]);
        }
        __device__ void carry() {}
        __device__ std::uint32_t score() const { return __float_as_uint(__double2float_rn(sum)); }
    };
};

/// Calls `launch` with the terms of an l2, l1 or lp problem.
template <class Launch>
void with_terms(const Problem& problem, Launch&& launch) {
    if (problem.measure.metric == Metric::l1) return launch(L1{});
    if (problem.measure.metric != Metric::lp) return launch(L2{});
    Lp lp{};
    const auto table = power_table(problem.measure.p);
    std::copy(table.begin(), table.end(), lp.power);
    launch(lp);
}

}  // namespace knn::gpu
