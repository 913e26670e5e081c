#pragma once

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// Loads kernels onto the current device, which otherwise happens at their first launch and then takes longer
/// than many a search.
template <class... Kernels>
void load_kernels(Kernels... kernels) {
    cudaFuncAttributes attributes{};
    (check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels)), "loading kernels"),
     ...);
}

/// What a strategy needs that has nothing to load.
inline void load_nothing(const Problem&) {}

}  // namespace knn::gpu
