#pragma once
/// Small arrays that the host makes, on the device when the call returns.
///
/// cudaMemcpy from pageable memory and cudaMemset may return earlier, and our streams do not wait for the default stream
/// (stream.h): a kernel could read what was there before (CUDA Runtime API, "API synchronization behavior").

#include <cstdint>
#include <span>
#include <type_traits>

#include "gpu/runtime/check.h"
#include "gpu/runtime/device_buffer.h"

namespace knn::gpu {

/// `what` completes "GPU: <what> failed: ".
template <class T>
DeviceBuffer<std::remove_const_t<T>> copied_to_device(std::span<T> values, const char* what) {
    DeviceBuffer<std::remove_const_t<T>> copy(values.size());
    if (values.empty()) return copy;
    check(cudaMemcpyAsync(copy.d_data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice,
                          cudaStreamLegacy),
          what);
    check(cudaStreamSynchronize(cudaStreamLegacy), what);
    return copy;
}

template <class T>
void fill(const DeviceBuffer<T>& buffer, std::uint8_t byte, const char* what) {
    check(cudaMemsetAsync(buffer.d_data(), byte, buffer.size() * sizeof(T), cudaStreamLegacy), what);
    check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

}  // namespace knn::gpu
