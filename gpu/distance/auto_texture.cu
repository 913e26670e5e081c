// `texture` if the training images are within the device's texture limits, else `tiled`, as in the program of
// seed 000 (§4.3). Arrays, limits and exactness are those of the chosen kernel.

#include "gpu/distance/distance.h"

namespace knn::gpu {

extern const DistanceKernel texture_distance, tiled_distance;

namespace {

const DistanceKernel& chosen(const Problem& problem) {
    return texture_distance.supports(problem) ? tiled_distance : texture_distance;
}

Refusal supports(const Problem& problem) {
    return refuse_all_but_direct("auto-texture", problem);
}

std::size_t workspace_bytes(const Problem& problem) {
    return chosen(problem).workspace_bytes(problem);
}

void enqueue(const Problem& problem, const FloatRows& train, const FloatRows& query, const DistanceRows& out,
             void* d_workspace, cudaStream_t stream) {
    chosen(problem).enqueue(problem, train, query, out, d_workspace, stream);
}

}  // namespace

extern const DistanceKernel auto_texture_distance{
    "auto-texture", "texture where the training images fit one, else tiled",
    supports,       workspace_bytes,
    enqueue,        direct_metrics};

}  // namespace knn::gpu
