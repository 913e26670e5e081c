#include "gpu/distance/distance.h"

namespace knn::gpu {

extern const DistanceKernel float4_distance;

namespace {
const DistanceKernel* const table[] = {
    &float4_distance,
};
}  // namespace

std::span<const DistanceKernel* const> distance_table() {
    return table;
}

}  // namespace knn::gpu
