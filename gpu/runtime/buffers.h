#pragma once
/// Memory for arrays, on the device or page-locked on the host. Each type owns its memory, uninitialized, and is moved,
/// not copied. Throws DeviceError.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "data/core/round_up.h"
#include "data/core/rows.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

struct DeviceMemory {
    static void* allocate(std::size_t bytes) {
        void* d_data = nullptr;
        check_allocation(cudaMalloc(&d_data, bytes), bytes);
        return d_data;
    }
    void operator()(void* d_data) const { cudaFree(d_data); }
};
/// Page-locked, which the copy engines of the GPU reach at full speed.
struct PinnedMemory {
    static void* allocate(std::size_t bytes) {
        void* data = nullptr;
        check(cudaMallocHost(&data, bytes), "allocating pinned host memory");
        return data;
    }
    void operator()(void* data) const { cudaFreeHost(data); }
};

/// `size` elements.
template <class T, class Memory>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size) {
        if (size > 0) data_.reset(static_cast<T*>(Memory::allocate(size * sizeof(T))));
    }

    /// Ensures at least `size` elements. Returns whether the memory is new; then the contents are lost, and nothing
    /// queued may use the old memory.
    bool reserve(std::size_t size) {
        if (size <= this->size()) return false;
        data_.reset();  // frees the old memory first
        *this = Buffer(size);
        return true;
    }
    std::size_t size() const { return data_ ? size_ : 0; }

  protected:
    T* get() const { return data_.get(); }

  private:
    std::unique_ptr<T[], Memory> data_;
    std::size_t size_ = 0;
};

template <class T>
class DeviceBuffer : public Buffer<T, DeviceMemory> {
  public:
    using Buffer<T, DeviceMemory>::Buffer;
    T* d_data() const { return this->get(); }
};

template <class T>
class PinnedBuffer : public Buffer<T, PinnedMemory> {
  public:
    using Buffer<T, PinnedMemory>::Buffer;
    T* data() const { return this->get(); }
};

/// n × cols elements in device memory by cudaMallocPitch: every row begins at an address that suits wide
/// loads.
template <class T>
class PitchedBuffer {
  public:
    PitchedBuffer() = default;
    PitchedBuffer(std::int64_t n, std::int64_t cols) {
        void* d_data = nullptr;
        std::size_t pitch_bytes = 0;
        const std::size_t row_bytes = static_cast<std::size_t>(cols) * sizeof(T);
        check_allocation(cudaMallocPitch(&d_data, &pitch_bytes, row_bytes, static_cast<std::size_t>(n)),
                         row_bytes * static_cast<std::size_t>(n));
        data_.reset(static_cast<T*>(d_data));
        rows_ = {data_.get(), n, cols, pitch_bytes};
    }

    const PitchedRows<T>& rows() const { return rows_; }
    /// The first n rows, with all columns or without the last ones, which pad them.
    PitchedRows<T> first(std::int64_t n) const { return first(n, rows_.cols); }
    PitchedRows<T> first(std::int64_t n, std::int64_t cols) const {
        return {rows_.d_data, n, cols, rows_.pitch_bytes};
    }

  private:
    std::unique_ptr<T[], DeviceMemory> data_;
    PitchedRows<T> rows_;
};

/// Queues the copy of images to `to`, which has the same number of rows.
inline void enqueue_upload(const Rows& from, const ByteRows& to, cudaStream_t stream) {
    const auto width = static_cast<std::size_t>(from.row_bytes()), n = static_cast<std::size_t>(from.count);
    if (to.pitch_bytes == width)
        return check(cudaMemcpyAsync(to.d_data, from.pixels, n * width, cudaMemcpyHostToDevice, stream),
                     "uploading images");
    check(cudaMemcpy2DAsync(to.d_data, to.pitch_bytes, from.pixels, width, width, n, cudaMemcpyHostToDevice,
                            stream),
          "uploading images");
}

/// 8-bit images on the device, whose rows begin at multiples of `alignment` bytes.
template <int alignment>
class RowBuffer {
  public:
    static std::int64_t pitch_of(std::int64_t dim) { return round_up(dim, alignment); }

    /// Uninitialized memory for n images; keeps the present memory if it is large enough.
    void reserve(std::int64_t n, std::int64_t dim) {
        bytes_.reserve(static_cast<std::size_t>(n * pitch_of(dim)));
    }
    /// The first n images.
    ByteRows rows(std::int64_t n, std::int64_t dim) const {
        return {bytes_.d_data(), n, dim, static_cast<std::size_t>(pitch_of(dim))};
    }
    /// Reserves memory for images and queues their upload.
    ByteRows upload(const Rows& images, cudaStream_t stream) {
        reserve(images.count, images.row_bytes());
        enqueue_upload(images, rows(images.count, images.row_bytes()), stream);
        return rows(images.count, images.row_bytes());
    }

  private:
    DeviceBuffer<std::uint8_t> bytes_;
};
/// Images whose size is a multiple of 4 are contiguous and uploaded with one copy.
using ImageBuffer = RowBuffer<4>;

/// Queues the copy of an array, which may be empty. `what` completes "GPU: <what> failed: ".
template <class T>
void enqueue_copy(std::span<const T> from, T* d_to, cudaStream_t stream, const char* what) {
    if (from.empty()) return;
    check(cudaMemcpyAsync(d_to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream), what);
}

// Small arrays that the host makes, on the device when the call returns. cudaMemcpy from pageable memory and cudaMemset
// may return earlier, and our streams do not wait for the default stream (stream.h): a kernel could read what was there
// before (CUDA Runtime API, "API synchronization behavior").

template <class T>
DeviceBuffer<std::remove_const_t<T>> copied_to_device(std::span<T> values, const char* what) {
    DeviceBuffer<std::remove_const_t<T>> copy(values.size());
    enqueue_copy(std::span<const std::remove_const_t<T>>(values), copy.d_data(), cudaStreamLegacy, what);
    check(cudaStreamSynchronize(cudaStreamLegacy), what);
    return copy;
}

template <class T>
void fill(const DeviceBuffer<T>& buffer, std::uint8_t byte, const char* what) {
    check(cudaMemsetAsync(buffer.d_data(), byte, buffer.size() * sizeof(T), cudaStreamLegacy), what);
    check(cudaStreamSynchronize(cudaStreamLegacy), what);
}

}  // namespace knn::gpu
