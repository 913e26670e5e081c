#pragma once

#include <utility>

#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// n × cols elements in device memory by cudaMallocPitch: every row begins at an address that suits wide
/// loads. Uninitialized. Owns them; moved, not copied. Throws DeviceError.
template <class T>
class PitchedBuffer {
  public:
    PitchedBuffer() = default;
    PitchedBuffer(std::int64_t n, std::int64_t cols) {
        void* d_data = nullptr;
        const std::size_t row_bytes = static_cast<std::size_t>(cols) * sizeof(T);
        check_allocation(cudaMallocPitch(&d_data, &rows_.pitch_bytes, row_bytes, static_cast<std::size_t>(n)),
                         row_bytes * static_cast<std::size_t>(n));
        rows_.d_data = static_cast<T*>(d_data);
        rows_.n = n;
        rows_.cols = cols;
    }
    PitchedBuffer(PitchedBuffer&& other) noexcept : rows_(std::exchange(other.rows_, {})) {}
    PitchedBuffer& operator=(PitchedBuffer&& other) noexcept {
        std::swap(rows_, other.rows_);
        return *this;
    }
    ~PitchedBuffer() { cudaFree(rows_.d_data); }

    const PitchedRows<T>& rows() const { return rows_; }
    /// The first n rows, with all columns or without the last ones, which pad them.
    PitchedRows<T> first(std::int64_t n) const { return first(n, rows_.cols); }
    PitchedRows<T> first(std::int64_t n, std::int64_t cols) const {
        return {rows_.d_data, n, cols, rows_.pitch_bytes};
    }

  private:
    PitchedRows<T> rows_;
};

}  // namespace knn::gpu
