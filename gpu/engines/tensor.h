#pragma once

namespace knn::gpu {

/// Loads what the engine `tensor` will launch on this device whatever the images are (gpu/runtime/load.h);
/// nothing where it cannot run.
void load_tensor_kernels(int device);

}  // namespace knn::gpu
