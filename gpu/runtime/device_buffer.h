#pragma once

#include <cstddef>
#include <utility>

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// `size` elements in device memory, uninitialized. Owns them; moved, not copied. Throws DeviceError.
template <class T>
class DeviceBuffer {
  public:
    DeviceBuffer() = default;
    explicit DeviceBuffer(std::size_t size) : size_(size) {
        if (size > 0) check_allocation(cudaMalloc(&d_data_, size * sizeof(T)), size * sizeof(T));
    }
    DeviceBuffer(DeviceBuffer&& other) noexcept
        : d_data_(std::exchange(other.d_data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        std::swap(d_data_, other.d_data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~DeviceBuffer() { cudaFree(d_data_); }

    /// Ensures at least `size` elements. Returns whether the memory is new; then the contents are lost, and nothing
    /// queued may use the old memory.
    bool reserve(std::size_t size) {
        if (size <= size_) return false;
        *this = DeviceBuffer();  // frees the old memory first
        *this = DeviceBuffer(size);
        return true;
    }

    T* d_data() const { return d_data_; }
    std::size_t size() const { return size_; }

  private:
    T* d_data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace knn::gpu
