#pragma once
/// Every CUDA call and every launch is checked: a failure becomes a DeviceError that says what was being
/// done.

#include <cuda_runtime.h>

#include <string>

#include "data/errors.h"

namespace knn::gpu {

/// `what` completes "GPU: <what> failed: <CUDA's own words>".
inline void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a failed launch or allocation must not show up again at the next check
    throw DeviceError(std::string("GPU: ") + what + " failed: " + cudaGetErrorString(status));
}

/// After a launch: catches a bad configuration at once; errors inside the kernel come with the next
/// synchronization.
inline void check_launch(const char* kernel) {
    check(cudaGetLastError(), kernel);
}

/// After an allocation of `bytes`: says how much was wanted and what a user can do about it.
inline void check_allocation(cudaError_t status, std::size_t bytes) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    throw DeviceError("GPU: allocating " + std::to_string(bytes >> 20) + " MiB of device memory failed: " +
                      cudaGetErrorString(status) + "; expected a smaller --limit-train, or --device cpu");
}

/// An attribute of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    check(cudaDeviceGetAttribute(&value, attribute, device), "reading a device attribute");
    return value;
}

}  // namespace knn::gpu
