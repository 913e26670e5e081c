#pragma once
/// Kernels that follow each other closely. On compute capability 9.0 the next kernel is launched while the one
/// before still runs ("programmatic dependent launch"), which hides about 2 µs; it begins its work after
/// wait_for_kernel_before.

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// Every kernel that launch_in_turn launches calls this before it reads or writes global memory.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the next kernel's blocks take the places of this one's as they end. It still waits for all of them.
__device__ inline void let_next_kernel_in() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...), checked; `what` as for check_launch.
template <class... Parameters, class... Arguments>
void launch_in_turn(const char* what, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                    std::size_t shared_bytes, cudaStream_t stream, Arguments&&... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...), what);
}

}  // namespace knn::gpu
