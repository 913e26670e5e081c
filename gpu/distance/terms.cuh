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

/// Of L2 and L1.
struct CarriedTerms {
    struct Shared {};  // a block's shared memory
    __device__ void prepare(Shared&) const {}

    struct Sum {
        float part = 0;
        unsigned total = 0;
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

struct L2 : CarriedTerms {
    struct Sum : CarriedTerms::Sum {
        __device__ void add(float a, float b, const Shared&) {
            const float d = a - b;
            part = fmaf(d, d, part);
        }
    };
};

struct L1 : CarriedTerms {
    struct Sum : CarriedTerms::Sum {
        __device__ void add(float a, float b, const Shared&) { part += fabsf(a - b); }
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

/// Adds the terms of four pixels of l2 or l1, each to a sum of its own.
template <Metric metric>
__device__ inline void add_terms(float4& sum, const float4& a, const float4& b) {
    const float4 d = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
    if constexpr (metric == Metric::l2) {
        sum.x = fmaf(d.x, d.x, sum.x);
        sum.y = fmaf(d.y, d.y, sum.y);
        sum.z = fmaf(d.z, d.z, sum.z);
        sum.w = fmaf(d.w, d.w, sum.w);
    } else {
        sum.x += fabsf(d.x);
        sum.y += fabsf(d.y);
        sum.z += fabsf(d.z);
        sum.w += fabsf(d.w);
    }
}

/// Four exact integers below 2²⁴ each.
__device__ inline unsigned integer_sum(const float4& v) {
    assert(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)) < 1 << 24);
    return static_cast<unsigned>(v.x) + static_cast<unsigned>(v.y) + static_cast<unsigned>(v.z) +
           static_cast<unsigned>(v.w);
}

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
