#pragma once

#include <cstddef>

#include "gpu/runtime/check.h"

namespace knn::gpu {

/// `size` elements of page-locked host memory, which the GPU's copy engines reach at full speed. Owns them.
template <class T>
class PinnedBuffer {
  public:
    explicit PinnedBuffer(std::size_t size) : size_(size) {
        if (size > 0) check(cudaMallocHost(&data_, size * sizeof(T)), "allocating pinned host memory");
    }
    ~PinnedBuffer() { cudaFreeHost(data_); }
    PinnedBuffer(const PinnedBuffer&) = delete;
    PinnedBuffer& operator=(const PinnedBuffer&) = delete;

    T* data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace knn::gpu
