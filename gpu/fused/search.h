#pragma once
/// The fused search: exact k nearest neighbors without a matrix of distances.
///
///   norms ─ sample ─ thresholds ─ search ─ merge ─ scan (of what is undecided, mostly nothing)
///
/// A sample of the training set gives each query a score that its k nearest very likely reach; the search
/// pass keeps what reaches it; the merge sorts that. Where it does not decide a query (fewer than k reached
/// the score, or a list ran over) the query is compared with every training image. So the answers are exact
/// for any data, and the sample decides the speed alone.

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "gpu/fused/fused.h"
#include "gpu/runtime/device_buffer.h"
#include "gpu/views.h"

namespace knn::gpu {

/// How thresholds are found: `tiles` tiles of the training set are the sample, and the rank-th best of the
/// maxima of its 64 parts is the threshold. tiles 0: there is no useful sample, all queries are scanned.
struct Sampling {
    int tiles = 0, rank = 0;
    double survivors = 0;  ///< expected, of a query
    double spread = 0;     ///< its standard deviation over its mean
};
Sampling choose_sampling(int train_tiles, int k);

/// 8-bit rows as the tensor kernels want them: pitch a multiple of 32 bytes, zero beyond dim.
class TensorRows {
  public:
    TensorRows() = default;
    /// n rows of dim bytes, and `spare` rows behind them. All zero.
    TensorRows(std::int64_t n, std::int64_t dim, std::int64_t spare = 0);
    const ByteRows& rows() const { return rows_; }
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
    /// For at most max_queries queries at once. Throws DeviceError where memory is short.
    FusedSearch(const TensorKernel& kernel, std::int64_t n_train, std::int64_t dim, int k,
                std::int64_t max_queries);

    /// Rows that the buffer of the training set must have.
    static std::int64_t allocated_rows(std::int64_t n_train);
    /// Most queries for which the lists stay below 192 MiB.
    static std::int64_t most_queries(std::int64_t n_train, int k);

    /// Queues what is computed once for each training set.
    void enqueue_training(const ByteRows& train, cudaStream_t stream);

    /// The steps of a search, in order; each queues launches on `stream`.
    struct Step {
        const char* name;
        std::function<void(cudaStream_t)> enqueue;
    };
    /// train: what enqueue_training got. query: at most max_queries.
    std::vector<Step> steps(const ByteRows& train, const ByteRows& query, const NeighborRows& out);

    /// Queries that the last search had to scan. Waits for the device.
    std::int64_t undecided() const;

    /// For tests: makes the lists so short that some overflow.
    void limit_capacity(int capacity);

  private:
    TensorPass pass_for(const ByteRows& query, int train_tiles, int windows) const;

    const TensorKernel& kernel_;
    std::int64_t n_train_, dim_, max_queries_;
    int k_, train_tiles_, windows_, multiprocessors_, capacity_ = 0;
    Sampling sampling_;
    DeviceBuffer<std::uint32_t> train_norms_, query_norms_;
    DeviceBuffer<std::int32_t> score_bias_, thresholds_, maxima_, counts_, undecided_count_, undecided_;
    DeviceBuffer<Survivor> survivors_;
};

}  // namespace knn::gpu
