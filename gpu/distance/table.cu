#include "gpu/distance/distance.h"

// One line a distance kernel, in the order of --help; the first is what `classic` uses.
#define DISTANCES(ROW) \
    ROW(float4)        \
    ROW(naive)         \
    ROW(tiled8)        \
    ROW(tiled16)       \
    ROW(tiled32)       \
    ROW(row_shared)

namespace knn::gpu {

#define ROW(name) extern const DistanceKernel name##_distance;
DISTANCES(ROW)
#undef ROW

namespace {
#define ROW(name) &name##_distance,
const DistanceKernel* const table[] = {DISTANCES(ROW)};
#undef ROW
}  // namespace

std::span<const DistanceKernel* const> distance_table() {
    return table;
}

}  // namespace knn::gpu
