#pragma once

namespace knn::gpu {

/// Loads the kernels of the engine `tensor` that do not depend on the images onto this device
/// (gpu/runtime/load.h); does nothing if the engine cannot run there.
void load_tensor_kernels(int device);

}  // namespace knn::gpu
