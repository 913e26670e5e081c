#pragma once
/// Re-ranking on a GPU: the bytes and the order that data/rerank defines.

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "gpu/rerank/kernels.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Re-ranks on the device that is current when it is made. Work is queued on streams; one stream at a time, or ordered
/// by events. Throws DeviceError.
class DeviceReranker {
  public:
    /// rerank.kind is not none. `density`: a factor for each training image (data/rerank/density.h); none: distances are
    /// not divided. `plain`: without the kernels for 28 × 28 pixels, for tests and measurements.
    DeviceReranker(const RerankSpec& rerank, ImageShape shape, std::span<const std::uint32_t> density = {},
                   bool plain = false);

    /// How many neighbors of each query are ordered again.
    int candidates() const { return candidates_; }

    /// Descriptors of the training images, made on the device from pixels: count × dim bytes in device memory. Allocates,
    /// so it waits for the device.
    void describe_training(const ByteRows& images, cudaStream_t stream);

    /// Memory for at most so many queries at once, with so many candidates each.
    void reserve(std::int64_t n_query, int candidates);
    /// Descriptors of the queries that follow, at most as many as reserved. Kernels alone.
    void describe_queries(const ByteRows& images, cudaStream_t stream);
    /// out: the out.k nearest by (distance, index) of each query's candidates, of which only the indices are read.
    /// candidates.n_query: as many as were described. 1 <= out.k <= candidates.k. Kernels alone.
    void enqueue(const NeighborRows& candidates, const NeighborRows& out, cudaStream_t stream);

    const DescriptorForm& form() const { return form_; }
    DescriptorView training() const { return training_.view(); }
    DescriptorView queries() const { return queries_.view(); }
    /// Of the last enqueue(), n_query × candidates, before they are divided by density.
    const std::uint32_t* d_scores() const { return scores_.d_data(); }

  private:
    struct Descriptors {
        DeviceBuffer<std::uint8_t> gradients, cells;
        std::int64_t count = 0;  ///< images that are there, at most those reserved

        DescriptorView view() const { return {gradients.d_data(), cells.d_data()}; }
    };
    void reserve(Descriptors& descriptors, std::int64_t n, cudaStream_t stream);
    void describe(const ByteRows& images, Descriptors& to, cudaStream_t stream);

    int candidates_;
    ImageShape shape_;
    DescriptorForm form_;
    PairLaunch distortion_, cells_;  ///< empty: the distance has no such part
    Descriptors training_, queries_;
    DeviceBuffer<std::uint32_t> density_, scores_;
    DeviceBuffer<std::uint8_t> workspace_;
    std::int64_t reserved_ = 0;
};

}  // namespace knn::gpu
