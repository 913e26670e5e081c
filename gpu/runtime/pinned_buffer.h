#pragma once

#include <cstddef>
#include <utility>

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// `size` elements of page-locked host memory, which the GPU's copy engines reach at full speed. Owns them;
/// moved, not copied.
template <class T>
class PinnedBuffer {
  public:
    PinnedBuffer() = default;
    explicit PinnedBuffer(std::size_t size) : size_(size) {
        if (size > 0) check(cudaMallocHost(&data_, size * sizeof(T)), "allocating pinned host memory");
    }
    PinnedBuffer(PinnedBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~PinnedBuffer() { cudaFreeHost(data_); }

    /// Ensures at least `size` elements; new memory loses the contents.
    void reserve(std::size_t size) {
        if (size <= size_) return;
        *this = PinnedBuffer();
        *this = PinnedBuffer(size);
    }

    T* data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace knn::gpu
