#pragma once
/// Functions that define a transform run on the host and on the device, with the same result: integers, or single
/// operations of IEEE arithmetic, which no compiler may fuse (-ffp-contract=off, -fmad=false).

#include <cmath>
#include <cstdint>

#include "data/core/host_device.h"

namespace knn {

/// To the nearest integer, ties to even.
KNN_HOST_DEVICE inline int rounded(float value) {
#ifdef __CUDA_ARCH__
    return __float2int_rn(value);
#else
    return static_cast<int>(std::nearbyint(value));
#endif
}
KNN_HOST_DEVICE inline long long rounded(double value) {
#ifdef __CUDA_ARCH__
    return __double2ll_rn(value);
#else
    return static_cast<long long>(std::nearbyint(value));
#endif
}

/// ⌊√n⌋ for n < 2⁶³, in integers but for the first guess.
inline std::uint64_t whole_root(std::uint64_t n) {
    auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
    while (root * root > n)
        --root;
    while ((root + 1) * (root + 1) <= n)
        ++root;
    return root;
}

}  // namespace knn
