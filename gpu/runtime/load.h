#pragma once

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// Loads kernels onto the current device. Otherwise their first launch loads them, which takes longer than a
/// small search.
template <class... Kernels>
void load_kernels(Kernels... kernels) {
    cudaFuncAttributes attributes{};
    (check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels)), "loading kernels"),
     ...);
}

/// For strategies that have nothing to load.
inline void load_nothing(const Problem&) {}

}  // namespace knn::gpu
