#include "gpu/distance/distance.h"

// One line a distance kernel, in the order in which `classic` takes the first that supports a problem.
#define DISTANCES(ROW) \
    ROW(float4)        \
    ROW(gemm)          \
    ROW(auto_texture)  \
    ROW(texture)       \
    ROW(tiled)         \
    ROW(tiled32)       \
    ROW(tiled8)        \
    ROW(row_shared)    \
    ROW(naive)

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

Refusal refuse_all_but(MetricSet metrics, const char* name, const char* names, const Problem& problem) {
    if ((metrics & metric_set(problem.metric)) == 0)
        return std::string(name) + " computes " + names + " distances only";
    return refuse_problem(problem);
}

Refusal refuse_all_but_direct(const char* name, const Problem& problem) {
    return refuse_all_but(direct_metrics, name, "l2, l1 and lp", problem);
}

}  // namespace knn::gpu
