#pragma once
/// The fused search of a training set with itself: the k nearest of each image among all the others. d(i, j) = d(j, i), so
/// after the first tiles each product is computed once and compared with the thresholds of both images.
///
///   positions ─ sample ─ search the first tiles ─ fold ─ pairs of the next tiles ─ columns ─ fold ─ scan ─ reorder
///
/// The queries are the training images in tile order; their neighbors are copied to the order of the images at the end.
/// The first tiles are searched for all queries, as in search.h. The pass over pairs (triangle.h) then keeps for a row
/// the columns that reach its threshold, as every pass does, and for a column the rows that reach the column's. Those
/// are recorded by the thread that finds them and distributed to lists of the columns afterwards. Nothing else changes: any threshold is
/// allowed, and a query that the last fold does not decide is compared with every training image.

#include "gpu/fused/search.h"

namespace knn::gpu {

/// The workspace and the launches of the search of one training set, which must outlive this. Use one stream at a time.
class FusedSelfSearch {
  public:
    FusedSelfSearch(const TensorKernel& kernel, const FusedTraining& training);

    /// Allocates memory for a search; nothing may be running. False if it does not suit: the kernel has no such pass, the
    /// set has too few tiles, k is above 10, or the lists would need more than 4 GiB or half of the free memory.
    bool reserve(int k);

    /// The steps of the search that `reserve` prepared. out: a row for each training image, by index.
    std::vector<FusedSearch::Step> steps(const NeighborRows& out);

    /// Queries that the last search had to scan. Waits for the device.
    std::int64_t undecided() const;

    /// For tests, before `reserve`: makes the lists so short that some overflow.
    void limit_capacity(int capacity);

  private:
    struct Layout;
    bool prepare(int k);
    void allocate(const Layout& layout);
    void release();
    TensorPass pass() const;

    const TensorKernel& kernel_;
    const FusedTraining& training_;
    int multiprocessors_, max_capacity_ = 0;
    int asked_ = 0, k_ = 0;  ///< of the last call of `reserve`; k_ is 0 if it did not suit
    std::int64_t positions_ = 0;
    Sampling sampling_;
    Schedule sample_, first_;
    int slots_ = 0, capacity_ = 0, record_lists_ = 0, record_capacity_ = 0, column_capacity_ = 0;
    DeviceBuffer<Piece> pieces_;
    DeviceBuffer<std::int32_t> begin_;
    DeviceBuffer<std::uint32_t> norms_, indices_;
    DeviceBuffer<std::int32_t> thresholds_, negated_, maxima_, counts_, record_counts_, column_counts_;
    DeviceBuffer<int4> products_, record_products_;
    DeviceBuffer<std::uint32_t> survivor_positions_;
    DeviceBuffer<uint2> record_places_;
    DeviceBuffer<int2> entries_;
    DeviceBuffer<Neighbor> out_;
    DeviceBuffer<std::int32_t> undecided_count_, undecided_, scan_finished_;
    DeviceBuffer<NeighborKey> scan_keys_;
};

}  // namespace knn::gpu
