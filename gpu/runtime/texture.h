#pragma once
/// Textures over memory that they do not own.

#include <cuda_runtime.h>

#include <functional>

#include "gpu/runtime/views.h"

namespace knn::gpu {

/// The largest two-dimensional texture over linear memory, in texels and bytes.
struct TextureLimits {
    std::int64_t width = 0, height = 0, pitch_bytes = 0;
};
/// Of the current device; if there is none, what all devices so far have.
TextureLimits texture_limits();

/// Calls `launch` with a texture of the rows: x = column, y = row, no filtering, 0 outside. `launch` queues
/// its kernels on `stream`. A texture has to outlive them, so it is given back by a later call, or with the
/// process: a descriptor of some bytes, no memory. Throws DeviceError.
void with_texture(const FloatRows& rows, cudaStream_t stream,
                  const std::function<void(cudaTextureObject_t)>& launch);

}  // namespace knn::gpu
