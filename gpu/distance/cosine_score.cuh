#pragma once
/// cosine_score of data/core/metric.h on the device, bit for bit: every operation rounds once, to nearest;
/// nothing is fused.

#include <cstdint>

namespace knn::gpu {

/// All three arguments are integers.
__device__ inline std::uint32_t cosine_score(double dot, double norm_a, double norm_b) {
    if (norm_a == 0 || norm_b == 0) return __float_as_uint(1.0f);
    const double distance = __dsub_rn(1.0, __ddiv_rn(dot, __dsqrt_rn(__dmul_rn(norm_a, norm_b))));
    return __float_as_uint(__double2float_rn(fmax(distance, 0.0)));
}

}  // namespace knn::gpu
