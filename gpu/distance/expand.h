#pragma once

#include <cuda_runtime.h>

#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Queues the copy of 8-bit pixels into float rows; in.n == out.n, in.cols == out.cols == dim.
/// Pads each float row with zeros to a multiple of 4, so that float4 loads read no uninitialized memory.
void enqueue_expand(const ByteRows& in, const FloatRows& out, cudaStream_t stream);

}  // namespace knn::gpu
