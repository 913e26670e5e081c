#pragma once
/// The training set on its way to the device.

#include "data/core/searcher.h"
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

/// The upload of the training set while an engine is opened, and its transform.
class Upload {
  public:
    /// Queues the copies, and the launches of the transform, on `stream`. The host memory must outlive this.
    explicit Upload(const Training& training);
    /// Waits, and adds the stages so far to `timeline`.
    void finish(Timeline& timeline);

    Stream stream;
    StageTimer timer;
    Rows images;           ///< in host memory
    ImageShape shape;      ///< of an image
    std::int64_t n, dim;   ///< of the features
    ImageBuffer features;  ///< what is searched; without a transform the pixels
    DeviceBuffer<std::uint8_t> labels;
    DeviceTransform transform;  ///< for queries

  private:
    ImageBuffer pixels_;  ///< that the transform reads
};

}  // namespace knn::gpu
