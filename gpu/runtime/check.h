#pragma once
/// Every CUDA call and every launch is checked: a failure becomes a DeviceError that says what was being
/// done.

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "data/core/errors.h"
#include "data/core/problem.h"

namespace knn::gpu {

/// `status`, but an error for the call that the variable MNIST_KNN_GPU_FAULT_AT counts to, from 1. Only in a build with
/// MNIST_KNN_GPU_FAULTS, which is for tests (tools/check_gpu.sh --faults).
inline cudaError_t with_fault(cudaError_t status) {
#ifdef MNIST_KNN_GPU_FAULTS
    static const char* const wanted = std::getenv("MNIST_KNN_GPU_FAULT_AT");
    static const std::int64_t at = wanted != nullptr ? std::atoll(wanted) : 0;
    static std::atomic<std::int64_t> calls = 0;
    if (++calls == at) return cudaErrorUnknown;
#endif
    return status;
}

/// `what` completes "GPU: <what> failed: <CUDA's own words>".
inline void check(cudaError_t call, const char* what) {
    const cudaError_t status = with_fault(call);
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a failed launch or allocation must not show up again at the next check
    throw DeviceError(std::string("GPU: ") + what + " failed: " + cudaGetErrorString(status));
}

/// After a launch: catches a bad configuration at once; errors inside the kernel come with the next
/// synchronization.
inline void check_launch(const char* kernel) {
    check(cudaGetLastError(), kernel);
}

/// Checks on the host what the kernel asserts in a debug build. `what` completes "GPU: invalid launch; expected
/// <what>".
inline void require(bool holds, const char* what) {
    if (!holds) throw DeviceError(std::string("GPU: invalid launch; expected ") + what);
}

/// The most blocks in the second dimension of a grid.
inline constexpr std::int64_t max_grid_y = 65'535;

/// The first dimension of a grid: a number of blocks below 2³¹.
inline unsigned grid_size(std::int64_t blocks) {
    require(blocks >= 1 && blocks < std::int64_t{1} << 31, "1 to 2,147,483,647 blocks");
    return static_cast<unsigned>(blocks);
}

/// After an allocation of `bytes`: says how much was wanted and what a user can do about it.
inline void check_allocation(cudaError_t call, std::size_t bytes) {
    const cudaError_t status = with_fault(call);
    if (status == cudaSuccess) return;
    cudaGetLastError();
    throw DeviceError("GPU: allocating " + std::to_string(bytes >> 20) +
                      " MiB of device memory failed: " + cudaGetErrorString(status) +
                      "; expected fewer training images, or a search on the CPU");
}

/// Before a launch with `bytes` of dynamic shared memory: more than 48 KiB must be asked for.
template <class Kernel>
void allow_shared(Kernel kernel, int bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
          "asking for shared memory");
}

/// 0 where there is no driver.
inline int device_count() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
    cudaGetLastError();
    return count;
}

inline int current_device() {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    return device;
}

inline int device_attribute(cudaDeviceAttr attribute, int device) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device), "reading a device attribute");
    return value;
}

/// Of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
    return device_attribute(attribute, current_device());
}

/// Free bytes of the current device.
inline std::size_t free_memory() {
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
    return free_bytes;
}

/// Loads kernels onto the current device. Otherwise their first launch loads them, which takes longer than a
/// small search.
template <class... Kernels>
void load_kernels(Kernels... kernels) {
    cudaFuncAttributes attributes{};
    (check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels)), "loading kernels"),
     ...);
}

}  // namespace knn::gpu
