#pragma once

#include <cuda_runtime.h>

#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Queues the copy of neighbors to arrays of the caller, each n_query × k or null. Scores that are not integral are floats.
void enqueue_answers(const NeighborRows& found, bool is_integral, std::uint32_t* d_indices,
                     double* d_distances, cudaStream_t stream);

}  // namespace knn::gpu
