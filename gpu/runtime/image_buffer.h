#pragma once

#include "data/core/round_up.h"
#include "data/core/rows.h"
#include "gpu/runtime/device_buffer.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// 8-bit images on the device. Rows begin at multiples of 4 bytes, so images of such a size have no gaps and
/// are uploaded in one piece.
class ImageBuffer {
  public:
    static std::int64_t pitch_of(std::int64_t dim) { return round_up(dim, 4); }

    /// Uninitialized memory for n images, kept where there is enough.
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

/// Queues the copy of images to `to`, which has as many.
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
