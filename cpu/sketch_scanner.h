#pragma once
/// Exact neighbors by the bounds of sketches: l2, cosine or pearson. A panel of sketches is compared with the queries' sketches by the same kernel as
/// images are; its hits are the pairs whose bound does not exceed the query's limit. They are collected in a list for each query, and
/// now and then refined: sorted by their bounds, and compared exactly until the next bound exceeds the k-th distance, which
/// falls meanwhile.
///
/// The first panels have no limit: all of their images are in the list, and what is refined of them gives the first one. The lists
/// are refined again whenever four times as many panels have been read, when one is full, and at the end. Panels are read in an
/// order that is spread over the training set, lest its order matter.

#include <cstdint>
#include <vector>

#include "cpu/sketches.h"

namespace knn::cpu {

class SketchScanner {
  public:
    /// may_give_up: whether a block of queries may be left to direct products.
    SketchScanner(const Sketched& sketched, const Resident& exact, int k, std::int64_t max_block,
                  bool may_give_up);
    static std::int64_t bytes(const Kernel& kernel, std::int64_t columns, int k, std::int64_t max_block);
    static std::int64_t max_block(const Resident& sketches, int k);

    void begin(Rows queries, Tally& tally);
    void scan(std::int64_t unit, BestLists& best, Tally& tally);
    std::int64_t n_lists() const { return panels_.n_lists(); }
    /// After the last panel: whether `best` has the answers. If not, so few pairs were pruned that direct products are faster.
    bool finish(BestLists& best, Tally& tally);

  private:
    void refine(BestLists& best, bool all, Tally& tally);
    void refine(std::int64_t query, BestLists& best, bool all);
    void set_reach(std::int64_t query, BestLists& best);
    void fetch(std::span<const std::uint64_t> candidates) const;
    bool costs_too_much() const;

    const Sketched& sketched_;
    const Resident& exact_;
    int k_;
    PanelScanner panels_;
    std::size_t capacity_;
    bool may_give_up_, gives_up_ = false;
    Rows queries_;
    SketchRows sketches_;                  ///< of the queries
    Uninitialized<std::uint32_t> limits_;  ///< of squared distances of sketches, for one panel
    std::vector<std::uint64_t> reaches_;   ///< of the queries, with their errors
    Uninitialized<std::uint64_t> lists_;  ///< max_block × capacity keys: squared distance of sketches, image
    std::vector<std::uint32_t> counts_;
    std::int64_t n_read_ = 0, refine_at_ = 0;  ///< panels
    std::int64_t n_listed_ = 0, n_refined_ = 0;
    Clock::time_point begun_;  ///< the block of queries
    double refine_ms_ = 0;     ///< since then
};

}  // namespace knn::cpu
