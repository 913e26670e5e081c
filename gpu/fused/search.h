#pragma once
/// The fused search: exact k nearest neighbors without a matrix of distances.
///
///   prepare ─ sample ─ search the first tiles ─ fold ─ search the next tiles ─ fold ─ ... ─ fallback
///
/// A sample of the training set gives each query a threshold that the scores of its k nearest very likely reach; a
/// pass of the search keeps the training images that reach it, and a fold selects the k best so far, which raise the
/// threshold. 60,000 images take two passes; more take one for each 100 MB, so that the lists fit. A query that the
/// last fold does not decide (fewer than k reach the threshold, or a list overflowed) is compared with every training
/// image by brute force. So the answers are exact for any data, and the sample affects only the speed. A search that
/// improves known neighbors begins with the distance of the k-th as a threshold, where that is better than the
/// sample's.
///
/// With a sketch, the sample and the passes multiply sketches (sketches.h) instead of images. Exact distances of the nearest of the
/// sample give the first threshold, and each pass ends with a refinement of what it leaves instead of a fold.

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "gpu/fused/fused.h"
#include "gpu/fused/sampling.h"
#include "gpu/fused/sketch_search.h"
#include "gpu/runtime/stream.h"

namespace knn::gpu {

/// Rows as the tensor kernels read them: at multiples of a sector of the L2 cache.
using TensorRows = RowBuffer<32>;

/// A training set as the fused search reads it: the used pixels, in tile order.
struct FusedTraining {
    std::int64_t n = 0;
    int tiles = 0, dim = 0;
    std::vector<std::int32_t> used_pixels = {};  ///< empty: all
    DeviceBuffer<std::int32_t> used = {};        ///< the same; null: all
    TensorRows pixels = {};
    DeviceBuffer<TrainImage> images = {};
    DeviceBuffer<std::int32_t> score_bias = {};

    ByteRows rows() const { return pixels.rows(std::int64_t{tiles} * tile_train, dim); }
};

/// The workspace and the launches of searches in a training set. Use one stream at a time.
class FusedSearch {
  public:
    /// train: bytes of any pitch, not needed afterwards. sketch: fitted to images like these; null: searches multiply all
    /// pixels. Waits for the device. Throws DeviceError if memory is short.
    FusedSearch(const TensorKernel& kernel, const ByteRows& train, cudaStream_t stream,
                const Sketch* sketch = nullptr);
    /// In the training set of another, which may be searching; without its sketches.
    explicit FusedSearch(const FusedSearch& other);

    /// Makes sketches of the training set, and keeps them if a search of the first half of `sample` is faster by them: rows of the
    /// training set, which they are fitted to; d_images: the indices of these; k: at most 32. While nothing is running; waits for the device. Without
    /// memory for them it keeps none. uses_cache: as for cached_fit. Returns whether it does.
    bool try_sketches(const ByteRows& sample, const std::uint32_t* d_images, int k, bool uses_cache,
                      cudaStream_t stream);

    int dim() const { return training_->dim; }  ///< pixels that are multiplied

    /// Allocates memory for a search, keeping the present memory if it suffices; nothing may be running.
    /// Returns the batch size: at most `limit` unless it is 0, with at most 208 MiB of survivors, and such that
    /// batches have nearly equal size.
    std::int64_t reserve(const SearchShape& shape, std::int64_t limit = 0);

    /// Queues a batch of the search that `reserve` prepared. batch.query: bytes of any pitch; batch.out: the k nearest,
    /// among the known ones (not in the same memory) and the training images. timer: may be null.
    void enqueue(const Batch& batch, cudaStream_t stream, StageTimer* timer = nullptr);

    /// Queries that the last search compared with all training images. Waits for the device.
    std::int64_t undecided() const;

    /// For tests: makes the lists so short that some overflow.
    void limit_capacity(int capacity) {
        max_capacity_ = capacity;
        if (sketches_) sketches_->limit_capacity(capacity);
    }
    /// Whether the search that `reserve` prepared is by sketches, in batches of n_query queries.
    bool uses_sketches(std::int64_t n_query) const {
        return sketches_ && sketches_->supports(k_) && !only_brute_force(n_query);
    }

  private:
    struct Layout;
    FusedSearch(const TensorKernel& kernel, std::shared_ptr<const FusedTraining> training);
    Layout layout_for(std::int64_t n_query) const;
    void make_sketches(const Sketch& sketch, cudaStream_t stream);
    double time_search(const Batch& batch, cudaStream_t stream);
    void reserve_batch(std::int64_t n_query, int k);
    std::int64_t choose_batch(std::int64_t n_query, std::int64_t limit) const;
    /// Whether each query is compared with the whole training set, without passes.
    bool only_brute_force(std::int64_t n_query) const;

    const TensorKernel& kernel_;
    std::shared_ptr<const FusedTraining> training_;
    std::unique_ptr<SketchSearch> sketches_;

    int multiprocessors_, max_capacity_ = 0;
    SearchShape asked_;  ///< the arguments of the last call of `reserve`
    std::int64_t limit_ = 0, batch_ = 0;
    int k_ = 0;
    Sampling sampling_;
    SearchShape sampled_for_;  ///< n_query: 0
    TensorRows query_;
    DeviceBuffer<std::uint32_t> query_norms_;
    DeviceBuffer<std::int32_t> thresholds_, maxima_, counts_, undecided_count_, undecided_;
    DeviceBuffer<int4> products_;
    DeviceBuffer<std::uint32_t> positions_;
    DeviceBuffer<NeighborKey> fallback_keys_;
    DeviceBuffer<std::int32_t> fallback_finished_;
};

}  // namespace knn::gpu
