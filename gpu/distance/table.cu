#include "gpu/distance/distance.h"

namespace knn::gpu {

extern const DistanceKernel float4_distance, naive_distance, tiled8_distance, tiled16_distance,
    tiled32_distance, row_shared_distance;

namespace {
const DistanceKernel* const table[] = {
    &float4_distance,  &naive_distance,   &tiled8_distance,
    &tiled16_distance, &tiled32_distance, &row_shared_distance,
};
}  // namespace

std::span<const DistanceKernel* const> distance_table() {
    return table;
}

}  // namespace knn::gpu
