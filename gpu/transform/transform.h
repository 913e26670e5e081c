#pragma once
/// Transforms on the device: the bytes that data/transform defines, as cpu/transform computes them.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/transform/fitted.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/views.h"
#include "gpu/transform/step.h"

namespace knn::gpu {

/// A fitted transform on the device: its tables, and the memory between its steps.
class DeviceTransform {
  public:
    DeviceTransform() = default;  ///< raw
    /// Uploads the tables to the current device, and loads the kernels. Throws DeviceError.
    explicit DeviceTransform(const FittedTransform& fitted);

    /// The same with the same tables and memory of its own, for launches on another stream.
    DeviceTransform beside() const;

    bool is_raw() const { return launches_.empty(); }
    std::int64_t dim_in() const { return dim_in_; }
    std::int64_t dim_out() const { return dim_out_; }

    /// Memory for launches of up to n images each; nothing may be running. Throws DeviceError.
    void reserve(std::int64_t n);

    /// Queues the launches: features.row(i) from images.row(i). Any number of images, in pieces of what was
    /// reserved; any pitch. A raw transform copies the pixels. Throws DeviceError (arrays of another shape, nothing
    /// reserved).
    void enqueue(const ByteRows& images, const ByteRows& features, cudaStream_t stream);

    /// The names of the kernels, in order.
    std::vector<const char*> kernels() const;

  private:
    struct Launch : StepLaunch {
        std::int64_t dim_out;  ///< of its last step
    };
    void enqueue_piece(const ByteRows& images, const ByteRows& features, cudaStream_t stream);

    std::int64_t dim_in_ = 0, dim_out_ = 0;
    std::vector<Launch> launches_;
    std::int64_t reserved_ = 0;
    ImageBuffer between_[2];
    DeviceBuffer<std::byte> workspace_;
};

}  // namespace knn::gpu
