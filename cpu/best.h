#pragma once
/// The running k nearest of each query of a block; selection and sorting of keys of neighbors (neighbor_key), by digits where there
/// are many.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/kernels/kernel.h"
#include "data/core/neighbors.h"

namespace knn::cpu {

/// Each query has a list with a capacity above k. Images nearer than the query's limit are appended; when the
/// list is full, the k best are kept and the limit falls to the distance of the worst of them. Training
/// images must come in ascending order of index: one at exactly the limit then loses the tie against every
/// neighbor in the list, so the test is a plain "less than".
class BestLists {
  public:
    /// For up to `queries` queries at once; throws std::bad_alloc.
    BestLists(std::int64_t queries, int k);

    static std::int64_t bytes(std::int64_t queries, int k);

    /// Empties the lists of the first `queries` of `n_lists` queries; the others accept nothing.
    void clear(std::int64_t queries, std::int64_t n_lists);

    /// Excludes this training image from the query's neighbors until the next `clear`.
    void exclude(std::int64_t query, std::int64_t image) {
        excluded_[static_cast<std::size_t>(query)] = static_cast<std::uint32_t>(image);
    }

    /// The same, with limits from the start: one for each of the first limits.size() of `n_lists` queries.
    void clear(std::span<const std::uint32_t> limits, std::int64_t n_lists);

    /// `n_lists` limits for Pass::limits.
    const std::uint32_t* limits() const { return limits_.data(); }

    /// Adds the hits in the panel that starts at image `first`; images from `n_train` on are padding.
    void take(std::span<const Hit> hits, std::int64_t first, std::int64_t n_train);

    /// The other side of these hits: adds the block's queries, which are images first_query .., to the lists of the panel's
    /// images, which are lists first .. of `n_train`.
    void add_reverse(std::span<const Hit> hits, std::int64_t first, std::int64_t n_train,
                     std::int64_t first_query);

    /// Keeps only the k best of a query, which lowers its limit as far as possible.
    void tighten(std::int64_t query) { prune(static_cast<std::size_t>(query)); }

    /// Lowers the limit of a query, of which k images below it are in other lists. Not before `add` or the `take` of one image.
    void lower(std::int64_t query, std::uint32_t limit) {
        std::uint32_t& own = limits_[static_cast<std::size_t>(query)];
        own = std::min(own, limit);
    }

    /// Begins an empty list with the images before `end` of a list of `some`, which has the same k.
    void start(std::int64_t query, const BestLists& some, std::int64_t list, std::int64_t end);

    /// Adds the images from `begin` on of a list of `some`, whatever their order.
    void add(std::int64_t query, const BestLists& some, std::int64_t list, std::int64_t begin);

    /// Adds the distances to n images from `first` on.
    void take(std::int64_t query, std::span<const std::uint32_t> distances, std::int64_t first);

    /// Adds one image, whatever the order in which images come.
    void take(std::int64_t query, std::uint32_t distance, std::uint32_t image);

    /// That of a query: `no_limit` until it has k images.
    std::uint32_t limit(std::int64_t query) const { return limits_[static_cast<std::size_t>(query)]; }

    /// The best of a query, in order; if fewer than k, padded with a sentinel that sorts last.
    void finish(std::int64_t query, std::span<Neighbor> best);

  private:
    std::span<const std::uint64_t> keys(std::int64_t query) const {
        const auto q = static_cast<std::size_t>(query);
        return {keys_.data() + q * capacity_, counts_[q]};
    }
    void put(std::size_t query, std::uint32_t distance, std::uint32_t index);
    /// The same, whatever the order in which images come, and without a look at what is excluded.
    void put(std::size_t query, std::uint64_t key);
    void prune(std::size_t query);

    std::size_t k_, capacity_;
    Uninitialized<std::uint64_t> keys_;    ///< queries × capacity
    Uninitialized<std::uint32_t> limits_;  ///< one per list
    Uninitialized<std::uint32_t> counts_;
    Uninitialized<std::uint32_t> excluded_;  ///< an index that no training image has where none is excluded
};

/// Moves the k least keys to the front, in any order, with the largest of them last; 1 <= k <= keys.size().
void keep_least(std::span<std::uint64_t> keys, std::size_t k);

/// Sorts them; `scratch` has as many places.
void sort_keys(std::span<std::uint64_t> keys, std::uint64_t* scratch);

}  // namespace knn::cpu
