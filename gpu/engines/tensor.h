#pragma once

namespace knn::gpu {

/// Loads the kernels of the engine `tensor` onto this device (gpu/runtime/load.h); does nothing if it cannot run
/// there.
void load_tensor_kernels(int device);

}  // namespace knn::gpu
