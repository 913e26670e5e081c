#pragma once
/// Re-ranking on a GPU: the bytes and the order that data/rerank defines.

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "gpu/rerank/kernels.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// The descriptors of images on the device, in the form that the kernels read.
class DeviceDescriptors {
  public:
    DeviceDescriptors() = default;
    explicit DeviceDescriptors(const DescriptorForm& form) : form_(form) {}

    const DescriptorForm& form() const { return form_; }
    std::int64_t count() const { return count_; }
    DescriptorView view() const { return {gradients_.d_data(), cells_.d_data(), count_}; }

    /// Memory for n images, cleared on the stream where it is new. Waits for the device then. Throws DeviceError.
    void reserve(std::int64_t n, cudaStream_t stream);
    /// The number of images that are there, at most those reserved.
    void resize(std::int64_t n) { count_ = n; }

  private:
    DescriptorForm form_;
    DeviceBuffer<std::uint8_t> gradients_, cells_;
    std::int64_t count_ = 0;
};

/// Re-ranks on the device that is current when it is made. Work is queued on streams; one stream at a time, or ordered
/// by events. Throws DeviceError.
class DeviceReranker {
  public:
    /// rerank.kind is not none. `plain`: without the kernels for 28 × 28 pixels, for tests and measurements.
    DeviceReranker(const Rerank& rerank, ImageShape shape, bool plain = false);

    /// Descriptors of the training images, made on the device from pixels: count × dim bytes in device memory. Allocates,
    /// so it waits for the device.
    void describe_training(const ByteRows& images, cudaStream_t stream);
    /// A factor for each training image (data/rerank/density.h), in host or device memory, which is read before this
    /// returns; none: distances are not divided. Waits for the stream.
    void set_density(std::span<const std::uint32_t> factors, cudaStream_t stream = nullptr);

    /// Memory for at most so many queries at once, with so many candidates each.
    void reserve(std::int64_t n_query, int candidates);
    /// Descriptors of the queries that follow, at most as many as reserved. Kernels alone.
    void describe_queries(const ByteRows& images, cudaStream_t stream);
    /// out: the out.k nearest by (distance, index) of each query's candidates, of which only the indices are read.
    /// candidates.n_query: as many as were described. 1 <= out.k <= candidates.k. Kernels alone.
    void enqueue(const NeighborRows& candidates, const NeighborRows& out, cudaStream_t stream);

    const DeviceDescriptors& training() const { return training_; }
    const DeviceDescriptors& queries() const { return queries_; }
    /// Of the last enqueue(), n_query × candidates, before they are divided by density.
    const std::uint32_t* d_scores() const { return scores_.d_data(); }

  private:
    void describe(const ByteRows& images, DeviceDescriptors& to, cudaStream_t stream);
    void enqueue_distortion(const NeighborRows& candidates, cudaStream_t stream);
    void enqueue_cells(const NeighborRows& candidates, cudaStream_t stream);

    Rerank rerank_;
    ImageShape shape_;
    bool special_;
    DeviceDescriptors training_, queries_;
    DeviceBuffer<std::uint32_t> scores_, density_;
    bool has_density_ = false;
    DeviceBuffer<std::uint8_t> workspace_;
    std::int64_t reserved_ = 0;
};

}  // namespace knn::gpu
