#pragma once

#include <cuda_runtime.h>

#include "gpu/runtime/excluded.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Queues the writing of a score above all others, 2³² − 1, where a query meets itself in the matrix; only
/// where excluded.any().
void enqueue_exclude(const DistanceRows& matrix, const Excluded& excluded, cudaStream_t stream);

}  // namespace knn::gpu
