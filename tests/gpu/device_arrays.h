#pragma once
/// Small arrays on the device, for tests of single kernels.

#include <cstdint>
#include <vector>

#include "gpu/runtime/buffers.h"

namespace knn::test {

/// rows × cols values to the rows; they are there when this returns (gpu/runtime/buffers.h).
template <class T>
void upload(const std::vector<T>& values, const gpu::PitchedRows<T>& rows) {
    const std::size_t row_bytes = static_cast<std::size_t>(rows.cols) * sizeof(T);
    gpu::check(cudaMemcpy2DAsync(rows.d_data, rows.pitch_bytes, values.data(), row_bytes, row_bytes,
                                 static_cast<std::size_t>(rows.n), cudaMemcpyHostToDevice, cudaStreamLegacy),
               "copying to the device");
    gpu::check(cudaStreamSynchronize(cudaStreamLegacy), "copying to the device");
}

/// n × cols values from host memory to pitched device memory; the gaps between rows are filled with `gap`
/// bytes.
template <class T>
gpu::PitchedBuffer<T> to_device(const std::vector<T>& values, std::int64_t n, std::int64_t cols,
                                int gap = 0xa5) {
    gpu::PitchedBuffer<T> buffer(n, cols);
    const gpu::PitchedRows<T> rows = buffer.rows();
    gpu::check(
        cudaMemsetAsync(rows.d_data, gap, static_cast<std::size_t>(n) * rows.pitch_bytes, cudaStreamLegacy),
        "filling");
    upload(values, rows);
    return buffer;
}

template <class T>
std::vector<T> to_host(const gpu::PitchedRows<T>& rows) {
    std::vector<T> values(static_cast<std::size_t>(rows.n * rows.cols));
    const std::size_t row_bytes = static_cast<std::size_t>(rows.cols) * sizeof(T);
    gpu::check(cudaMemcpy2D(values.data(), row_bytes, rows.d_data, rows.pitch_bytes, row_bytes,
                            static_cast<std::size_t>(rows.n), cudaMemcpyDeviceToHost),
               "copying to the host");
    return values;
}

template <class T>
std::vector<T> to_host(const gpu::DeviceBuffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    gpu::check(cudaMemcpy(values.data(), buffer.d_data(), buffer.size() * sizeof(T), cudaMemcpyDeviceToHost),
               "copying to the host");
    return values;
}

}  // namespace knn::test
