#pragma once
/// `density`: each distance is divided by the fourth root of the typical distance around the training image, which
/// corrects for images far from all others and for classes with much variation.
///
///   d_t      sum of the distances of training image t to its nearest density_neighbors by leave-one-out
///   m        the lower median of all d_t, at least 1
///   r        ⌊2²⁸ m / min(max(d_t, ⌈m / 16⌉), 16 m)⌋, in 2²⁴ .. 2³²
///   factor   ⌊√(4 ⌊√(2²⁸ r)⌋)⌋, which is 2¹⁵ (m / d_t)^¼, in 2¹⁴ .. 2¹⁶
///   distance ⌊distance · factor / 2¹⁵⌋
///
/// Distances are below 2³¹ (distance.h), so the result fits 32 bits.

#include <cstdint>
#include <vector>

#include "data/core/neighbors.h"
#include "data/transform/rounding.h"

namespace knn {

inline constexpr int density_neighbors = 3, density_shift = 15;
/// The neighbors by leave-one-out are the nearest of this many candidates: on MNIST 222 errors, a sixth of the pairs.
inline constexpr int density_candidates = 16;

KNN_HOST_DEVICE inline std::uint32_t scaled_by_density(std::uint32_t distance, std::uint32_t factor) {
    return static_cast<std::uint32_t>(std::uint64_t{distance} * factor >> density_shift);
}

/// The factor of each training image. `nearest`: row i are the nearest by leave-one-out of image i, re-ranked without
/// density; of a row with fewer than density_neighbors, the sum is that of its mean.
std::vector<std::uint32_t> density_factors(const Neighbors& nearest);

}  // namespace knn
