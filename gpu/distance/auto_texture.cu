// `texture` if the training images are within the device's texture limits, else `tiled`, as in the program of
// seed 000 (§4.3). Arrays, limits and exactness are those of the chosen kernel.

#include "gpu/distance/distance.h"
#include "gpu/distance/transpose.cuh"

namespace knn::gpu {

extern const DistanceKernel texture_distance, tiled_distance;

namespace {

const DistanceKernel& chosen(const Problem& problem) {
    return texture_distance.supports(problem) ? tiled_distance : texture_distance;
}

Refusal supports(const Problem& problem) {
    return refuse_all_but_direct("auto-texture", problem);
}

std::size_t prepared_bytes(const Problem& problem) {
    return chosen(problem).prepared_bytes(problem);
}

void enqueue(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void* d_workspace,
             cudaStream_t stream) {
    const DistanceKernel& kernel = in.d_prepared != nullptr ? texture_distance : tiled_distance;
    kernel.enqueue(problem, in, out, d_workspace, stream);
}

}  // namespace

extern const DistanceKernel auto_texture_distance{
    .name = "auto-texture",
    .summary = "texture where the training images fit one, else tiled",
    .supports = supports,
    .prepared_bytes = prepared_bytes,
    .prepare = prepare_columns,
    .enqueue = enqueue,
    .metrics = direct_metrics};

}  // namespace knn::gpu
