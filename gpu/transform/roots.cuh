#pragma once
/// Square roots and quotients, rounded correctly, for the numbers that occur in `gradients`: without the special cases
/// of sqrtf and of the division, half of their instructions. All numbers were tried on the host with approximations
/// that are off by up to 3 (root) and 1 (quotient) units in the last place, which is what PTX promises; the tests try
/// them on the device.

#include <cuda_runtime.h>

#include "data/transform/histograms.h"

namespace knn::gpu {

/// Stands for 0: its root is as good as 0, and adding an integer gives that integer.
inline constexpr float nearly_zero = 1e-30f;

/// √x for nearly_zero and for |g|², integers 1 <= x <= 2 · 1020². Up to 2²⁴ it may be the number next to √x, but
/// root_byte() is exact.
__device__ inline float root(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    const float guess = __fmul_rn(x, y);
    return __fmaf_rn(__fmaf_rn(-guess, guess, x), __fmul_rn(0.5f, y), guess);
}

/// numerator / x for those of gain() in the histograms of `gradients`.
__device__ inline float quotient(float numerator, float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    const float guess = __fmul_rn(numerator, y);
    return __fmaf_rn(__fmaf_rn(-x, guess, numerator), y, guess);
}

/// gain() of a gradient of this squared length.
__device__ inline float fast_gain(float squared, float numerator, float offset) {
    return quotient(numerator, __fadd_rn(root(squared), offset));
}

/// root_feature() in the low byte; sum: nearly_zero, or an integer up to 2²⁴. Adding 2²³ rounds to an integer.
__device__ inline unsigned root_byte(float sum) {
    const float feature = fminf(__fmul_rn(root(sum), root_scale), 255);
    return __float_as_uint(__fadd_rn(feature, 8388608));
}

}  // namespace knn::gpu
