#pragma once
/// A training set's sketches, and the passes of the fused search by them (sketches.h).

#include <cuda_runtime.h>

#include <vector>

#include "gpu/fused/sampling.h"
#include "gpu/fused/sketches.h"

namespace knn::gpu {

/// cached_fit for rows on the device. Waits for it; takes a tenth of a second on the host unless the cache has the sketch.
Sketch fit_sketch_to(const ByteRows& rows, bool uses_cache, cudaStream_t stream);

class SketchSearch {
  public:
    /// train: used pixels in tile order, d_images: which images they are; used: the indices of the pixels, null: all. Waits for the device.
    SketchSearch(const TensorKernel& kernel, const Sketch& sketch, const std::vector<std::int32_t>* used,
                 const ByteRows& train, const TrainImage* d_images, cudaStream_t stream);

    /// Whether this search can be by sketches: for k <= 32, if no training image lies so far outside what the sketch was fitted to
    /// that it would survive every pass.
    bool supports(int k) const { return fits_ && k <= most_refined_k; }

    /// Allocates memory for batches of n_query queries, keeping what suffices; nothing may be running.
    void reserve(std::int64_t n_query, int k, const Sampling& sampling, int multiprocessors);

    /// query: used pixels.
    void enqueue_queries(const ByteRows& query, cudaStream_t stream);
    /// The sample of `sampling`, which `reserve` got, and the first thresholds from it. pass: norms, images.
    void enqueue_sample(const ByteRows& query, const TensorPass& pass, const Batch& batch,
                        cudaStream_t stream);
    /// Its pass i: lists survivors. pass: norms and thresholds.
    void enqueue_search(std::size_t i, const TensorPass& pass, std::int64_t n_query, cudaStream_t stream);
    /// Refines those.
    void enqueue_refine(std::size_t i, const ByteRows& query, const TensorPass& pass, const FoldStep& step,
                        const Batch& batch, cudaStream_t stream);

    /// For tests: makes the lists so short that some overflow.
    void limit_capacity(int capacity) { max_capacity_ = capacity; }

  private:
    SketchLists lists_for(std::int64_t n_query) const;
    SketchPass pass_of(const Schedule& schedule, const SketchLists& lists, const TensorPass& pass,
                       std::int64_t n_query) const;
    SketchPass search_pass(std::size_t i, const TensorPass& pass, std::int64_t n_query) const;
    Schedule schedule_of(int first_tile, int n_tiles, std::int64_t n_query) const;
    Schedule sample_schedule(std::int64_t n_query) const;

    const TensorKernel& kernel_;
    ByteRows train_;
    SketchBound bound_;
    bool fits_ = false;
    std::int64_t scale_;
    DeviceBuffer<std::uint32_t> weights_;
    DeviceBuffer<Survivors> survivors_;
    DeviceBuffer<std::int32_t> centers_, counts_, maxima_;
    DeviceBuffer<NeighborKey> best_;
    DeviceBuffer<std::uint8_t> train_sketches_, query_sketches_;
    DeviceBuffer<SketchTerms> query_terms_;

    int multiprocessors_ = 0, max_capacity_ = 0;
    Sampling sampling_;
};

}  // namespace knn::gpu
