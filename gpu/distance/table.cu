#include "gpu/distance/distance.h"

namespace knn::gpu {

extern const DistanceKernel float4_distance, gemm_distance, auto_texture_distance, texture_distance,
    tiled16_distance, tiled32_distance, tiled8_distance, row_shared_distance, naive_distance;

namespace {

// In the order in which `classic` takes the first that supports a problem.
const DistanceKernel* const table[] = {
    &float4_distance,  &gemm_distance,   &auto_texture_distance, &texture_distance, &tiled16_distance,
    &tiled32_distance, &tiled8_distance, &row_shared_distance,   &naive_distance,
};

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
