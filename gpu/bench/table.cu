#include "gpu/bench/rungs.h"

namespace knn::gpu {

extern const DistanceKernel ladder_scalar, ladder_float4, ladder_shared, ladder_unroll4, ladder_unroll8,
    ladder_unrolled;
extern const DistanceKernel pair_plain, pair_tile4, pair_tile8, pair_tile16, pair_tile32, pair_tile16_z,
    pair_contest;
extern const DistanceKernel half_plain, half_tile16;

extern const Selector radix_kth_selector, bucket_kth_selector, quick_kth_selector, bitonic_unpadded_selector;

namespace {
const DistanceKernel* const table[] = {
    &ladder_scalar,   &ladder_float4, &ladder_shared, &ladder_unroll4, &ladder_unroll8,
    &ladder_unrolled, &pair_plain,    &pair_tile4,    &pair_tile8,     &pair_tile16,
    &pair_tile32,     &pair_tile16_z, &pair_contest,
};
const DistanceKernel* const half[] = {&half_plain, &half_tile16};
const Selector* const kth[] = {&radix_kth_selector, &bucket_kth_selector, &quick_kth_selector};
const Selector* const unpadded[] = {&bitonic_unpadded_selector};
}  // namespace

std::span<const DistanceKernel* const> rung_table() {
    return table;
}

std::span<const DistanceKernel* const> half_table() {
    return half;
}

std::span<const Selector* const> kth_table() {
    return kth;
}

std::span<const Selector* const> unpadded_table() {
    return unpadded;
}

}  // namespace knn::gpu
