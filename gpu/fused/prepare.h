#pragma once
/// Preparation of images for the passes of the fused search, and the first thresholds.

#include <cuda_runtime.h>

#include "gpu/fused/survivors.cuh"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// The pixels that the search multiplies: those that are not zero in all training images. The others
/// contribute nothing to q·r, so skipping them is exact; MNIST uses 717 of 784. Waits for the device.
class UsedPixels {
  public:
    explicit UsedPixels(const ByteRows& train, cudaStream_t stream);
    std::int64_t count() const { return count_; }  ///< at least 1
    /// Their indices, ascending; null if all are used.
    const std::int32_t* d_indices() const { return d_indices_.d_data(); }

  private:
    std::int64_t count_ = 0;
    DeviceBuffer<std::int32_t> d_indices_;
};

/// load.h
void load_prepare();

/// Copies the used pixels of training images (any pitch) in tile order, n_tiles · tile_train rows, to
/// `arranged`, zero beyond its `cols` and the last image; d_images: their norms and indices; d_score_bias:
/// −⌊‖r‖² / 2⌋, padding_score for rows without an image.
void enqueue_prepare_training(const ByteRows& train, const UsedPixels& used, int n_tiles,
                              const ByteRows& arranged, TrainImage* d_images, std::int32_t* d_score_bias,
                              cudaStream_t stream);

/// Copies the used pixels of queries (any pitch) to `arranged`; d_norms: ‖q‖² of all pixels. No query is
/// undecided yet, or all of them are, if the passes of a tensor kernel do not pay.
void enqueue_prepare_queries(const ByteRows& query, const UsedPixels& used, const Undecided& undecided,
                             bool all_undecided, const ByteRows& arranged, std::uint32_t* d_norms,
                             cudaStream_t stream);

/// `pass` is the sampling pass. The rank-th largest of each query's maxima (1 <= rank <= buckets) becomes its
/// threshold, or the score at the distance of its k-th known neighbor (null: none) if that is higher; rank 0 closes all
/// queries. Rows beyond n_query are closed.
void enqueue_thresholds(const TensorPass& pass, std::int64_t n_query, int rank, const Neighbor* d_known,
                        int k, const std::uint32_t* d_query_norms, std::int32_t* d_thresholds,
                        cudaStream_t stream);

}  // namespace knn::gpu
