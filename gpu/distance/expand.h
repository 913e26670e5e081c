#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Queues the copy of 8-bit pixels into float rows; in.n == out.n, in.cols == out.cols == dim.
/// Pads each float row with zeros to a multiple of 4, so that float4 loads read no uninitialized memory.
void enqueue_expand(const ByteRows& in, const FloatRows& out, cudaStream_t stream);

/// Pixels 4 · i to 4 · i + 3 of a row of `cols` bytes that begins at a multiple of 4; those beyond its end are
/// 0, whatever is there. 4 · i < cols.
__device__ inline uchar4 four_pixels(const std::uint8_t* row, std::int64_t i, std::int64_t cols) {
    if (4 * i + 4 <= cols) return reinterpret_cast<const uchar4*>(row)[i];
    uchar4 pixels = make_uchar4(row[4 * i], 0, 0, 0);
    if (4 * i + 1 < cols) pixels.y = row[4 * i + 1];
    if (4 * i + 2 < cols) pixels.z = row[4 * i + 2];
    return pixels;
}

}  // namespace knn::gpu
