#pragma once

#include "data/core/device_index.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Real rows on the device: rows.cols bytes each.
struct RealQueries {
    ByteRows rows;
    const RealNorm* d_norms = nullptr;  ///< of each row; null unless by cosine or pearson
};

/// Training rows beside an index of their bytes. Use one stream at a time.
class DeviceReals {
  public:
    /// Uploads the rows, and waits.
    explicit DeviceReals(const QuantizedRows& rows);

    /// Whether the queries are rows of the same kind, with norms and candidates as DeviceIndex::keep wants them.
    bool take(const TopKRequest& wanted) const;
    /// For batches of so many queries, while nothing is running.
    void reserve(std::int64_t n_query) { lost_.reserve(static_cast<std::size_t>(n_query)); }

    /// Queues the quantization of queries: n_query × dim bytes, and what each row loses, for `enqueue_exact`.
    void enqueue_bytes(const RealQueries& queries, const ByteRows& bytes, cudaStream_t stream);
    /// Queues the exact distances of the candidates of the same queries, of which `out` gets the k nearest, with scores of real distances.
    /// candidates: the nearest by bytes, in order; not in the memory of `out`.
    void enqueue_exact(const RealQueries& queries, const NeighborRows& candidates, const NeighborRows& out,
                       cudaStream_t stream);

  private:
    ElementType type_;
    std::int64_t n_, dim_;
    ByteBound bound_;
    double largest_lost_;
    ImageBuffer rows_;
    DeviceBuffer<RealNorm> norms_;
    DeviceBuffer<double> offsets_, lost_;
};

}  // namespace knn::gpu
