#pragma once

#include <cuda_runtime.h>

#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Queues a kernel that sets the score of each query and itself to 2³² − 1, above all others. excluded.any() must
/// hold.
void enqueue_exclude(const DistanceRows& matrix, const Excluded& excluded, cudaStream_t stream);

}  // namespace knn::gpu
