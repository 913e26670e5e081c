#include "gpu/bench/rungs.h"

namespace knn::gpu {

extern const DistanceKernel ladder_scalar, ladder_float4, ladder_shared, ladder_unroll4, ladder_unroll8,
    ladder_unrolled;
extern const DistanceKernel pair_plain, pair_tile4, pair_tile8, pair_tile16, pair_tile32, pair_tile16_z;

namespace {
const DistanceKernel* const table[] = {
    &ladder_scalar, &ladder_float4, &ladder_shared, &ladder_unroll4, &ladder_unroll8, &ladder_unrolled,
    &pair_plain,    &pair_tile4,    &pair_tile8,    &pair_tile16,    &pair_tile32,    &pair_tile16_z,
};
}  // namespace

std::span<const DistanceKernel* const> rung_table() {
    return table;
}

}  // namespace knn::gpu
