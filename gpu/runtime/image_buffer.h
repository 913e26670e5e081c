#pragma once

#include "data/core/round_up.h"
#include "data/core/rows.h"
#include "gpu/runtime/device_buffer.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// 8-bit images on the device. Rows are aligned to 4 bytes, so images whose size is a multiple of 4 are contiguous
/// and uploaded with one copy.
class ImageBuffer {
  public:
    static std::int64_t pitch_of(std::int64_t dim) { return round_up(dim, 4); }

    /// Uninitialized memory for n images; keeps the present memory if it is large enough.
    void reserve(std::int64_t n, std::int64_t dim) {
        bytes_.reserve(static_cast<std::size_t>(n * pitch_of(dim)));
    }
    /// The first n images.
    ByteRows rows(std::int64_t n, std::int64_t dim) const {
        return {bytes_.d_data(), n, dim, static_cast<std::size_t>(pitch_of(dim))};
    }

  private:
    DeviceBuffer<std::uint8_t> bytes_;
};

/// Queues the copy of images to `to`, which has the same number of rows.
inline void enqueue_upload(const Rows& from, const ByteRows& to, cudaStream_t stream) {
    const auto dim = static_cast<std::size_t>(from.dim), n = static_cast<std::size_t>(from.count);
    if (to.pitch_bytes == dim)
        return check(cudaMemcpyAsync(to.d_data, from.pixels, n * dim, cudaMemcpyHostToDevice, stream),
                     "uploading images");
    check(cudaMemcpy2DAsync(to.d_data, to.pitch_bytes, from.pixels, dim, dim, n, cudaMemcpyHostToDevice,
                            stream),
          "uploading images");
}

}  // namespace knn::gpu
