#pragma once
/// The fused search: exact k nearest neighbors without a matrix of distances.
///
///   prepare ─ sample ─ search the first tiles ─ fold ─ search the others ─ fold ─ scan
///
/// A sample of the training set gives each query a score that its k nearest very likely reach; a pass of the
/// search keeps what reaches it, and a fold makes the k best so far of that. After the first tiles the fold
/// raises the score. Where the last fold does not decide a query (fewer than k reach the score, or a list ran
/// over) the query is compared with every training image. So the answers are exact for any data, and the
/// sample decides the speed alone.

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "gpu/fused/fused.h"
#include "gpu/fused/prepare.h"
#include "gpu/fused/sampling.h"
#include "gpu/fused/scan.h"
#include "gpu/runtime/device_buffer.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// 8-bit rows as the tensor kernels want them: the pitch is a multiple of 32 bytes. Uninitialized.
class TensorRows {
  public:
    TensorRows() = default;
    TensorRows(std::int64_t n, std::int64_t dim);
    ByteRows first(std::int64_t n) const {
        ByteRows view = rows_;
        view.n = n;
        return view;
    }

  private:
    DeviceBuffer<std::uint8_t> bytes_;
    ByteRows rows_;
};

/// Buffers and launches of the fused search for one training set. Not for several streams at once.
class FusedSearch {
  public:
    /// For at most max_queries queries at once. train: n_train × dim bytes of any pitch, which are not needed
    /// afterwards. Waits for the device. Throws DeviceError where memory is short.
    FusedSearch(const TensorKernel& kernel, const ByteRows& train, int k, std::int64_t max_queries,
                cudaStream_t stream);

    /// How many of n_query queries to search at once: as many as have room for their survivors in 208 MiB, in
    /// batches of nearly equal size.
    static std::int64_t batch_size(std::int64_t n_query, std::int64_t n_train, int k, int dim);

    /// The steps of a search, in order; each queues launches on `stream`.
    struct Step {
        const char* name;
        std::function<void(cudaStream_t)> enqueue;
    };
    /// query: at most max_queries × dim bytes of any pitch; out: its k nearest.
    std::vector<Step> steps(const ByteRows& query, const NeighborRows& out);

    /// Queries that the last search had to scan. Waits for the device.
    std::int64_t undecided() const;

    /// For tests: makes the lists so short that some overflow.
    void limit_capacity(int capacity);

  private:
    struct Layout;
    Layout layout_for(std::int64_t query_tiles) const;
    /// The passes over the sample, the first tiles and the others, for that many queries.
    struct Passes {
        TensorPass sample, first, rest;
    };
    Passes passes_for(std::int64_t n_query) const;
    ByteRows training() const { return train_.first(std::int64_t{train_tiles_} * tile_train); }

    const TensorKernel& kernel_;
    int train_tiles_, multiprocessors_, most_capacity_ = 0;
    UsedPixels used_;
    Sampling sampling_;
    TensorRows train_, query_;
    DeviceBuffer<TrainImage> images_;
    DeviceBuffer<std::uint32_t> query_norms_;
    DeviceBuffer<std::int32_t> score_bias_, thresholds_, maxima_, counts_, undecided_count_, undecided_;
    DeviceBuffer<int4> products_;
    DeviceBuffer<std::uint32_t> places_;
    DeviceBuffer<NeighborKey> scan_keys_;
    DeviceBuffer<std::int32_t> scan_finished_;
};

}  // namespace knn::gpu
