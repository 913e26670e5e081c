#pragma once
/// Kernels and selectors that only `bench` runs, because each repeats a step of a paper.

#include "gpu/distance/distance.h"
#include "gpu/select/select.h"

namespace knn::gpu {

extern const DistanceKernel ladder_scalar, ladder_float4, ladder_shared, ladder_unroll4, ladder_unroll8,
    ladder_unrolled, pair_plain, pair_tile4, pair_tile8, pair_tile16, pair_tile32, pair_tile16_z,
    pair_contest, half_plain, half_tile16;
extern const Selector radix_kth_selector, bucket_kth_selector, quick_kth_selector, bitonic_unpadded_selector;

/// The rungs of seed 003, §3, and the tiles of seed 004, §5. They must give the same answers as the other kernels.
inline constexpr const DistanceKernel* rungs[] = {
    &ladder_scalar,   &ladder_float4, &ladder_shared, &ladder_unroll4, &ladder_unroll8,
    &ladder_unrolled, &pair_plain,    &pair_tile4,    &pair_tile8,     &pair_tile16,
    &pair_tile32,     &pair_tile16_z, &pair_contest};

/// The same for queries that are the first training points: one of each two equal distances is computed, and that of a
/// point to itself is `excluded_distance` (seed 004).
inline constexpr const DistanceKernel* half_kernels[] = {&half_plain, &half_tile16};

/// Each writes the k-th neighbor of a row in its place, and nothing else (seed 001, Fig. 7, and Alabi et al. 2012, whose
/// programs find the k-th value alone).
inline constexpr const Selector* kth_selectors[] = {&radix_kth_selector, &bucket_kth_selector,
                                                    &quick_kth_selector};

/// Sorts of seed 003 that are wrong (§2), and return what cpu::unpadded_bitonic returns.
inline constexpr const Selector* unpadded_selectors[] = {&bitonic_unpadded_selector};

}  // namespace knn::gpu
