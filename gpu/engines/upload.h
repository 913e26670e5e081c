#pragma once
/// The training set on its way to the device.

#include <memory>

#include "data/core/device_index.h"
#include "data/rerank/reranking.h"
#include "gpu/rerank/rerank.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "gpu/transform/transform.h"

namespace knn::gpu {

/// The memory between the steps of a transform is for this many images.
inline constexpr std::int64_t images_per_transform = 16'384;

/// Of n rows, as stages count them.
inline double byte_count(std::int64_t n, std::int64_t dim) {
    return static_cast<double>(n) * static_cast<double>(dim);
}

/// The upload of the training set while an engine is opened, its transform, and what re-ranks neighbors.
class Upload {
  public:
    /// Queues the copies and launches on `stream`. The host memory must outlive this.
    explicit Upload(const Training& training);
    /// Waits, and adds the stages so far to `timeline`.
    void finish(Timeline& timeline);

    Stream stream;
    StageTimer timer;
    std::int64_t n, dim;   ///< of the features
    ImageBuffer features;  ///< what is searched; without a transform the pixels
    DeviceBuffer<std::uint8_t> labels;
    DeviceTransform transform;                 ///< for queries
    std::unique_ptr<DeviceReranker> reranker;  ///< with the training set's descriptors; null: there is none
    Rerank rerank;                             ///< its parameters

  private:
    void add_reranker(const Reranking& reranking, const ByteRows& pixels, ImageShape shape);

    ImageBuffer pixels_;  ///< that the transform reads
};

}  // namespace knn::gpu
