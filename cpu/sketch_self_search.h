#pragma once
/// The neighbors of a training set in itself by the bounds of sketches: each pair of sketches is compared once, for both images.
///
/// The images are divided into groups of near ones. Each group is searched by direct products, so that all images have a limit before
/// the first sketch is compared. Pairs of blocks of different groups follow, those of similar groups first. A pair that the bound
/// of either image does not prune is compared exactly at once. Lists are sorted by (distance, index) at all times, so the order of
/// images, blocks and threads affects the time only.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "cpu/self_search.h"
#include "cpu/sketches.h"

namespace knn::cpu {

class SketchSelfSearch {
  public:
    /// exact: the training set, of which `queries` are all images; may_give_up: whether run() may leave the search to direct
    /// products. Throws std::bad_alloc, Interrupted.
    SketchSelfSearch(const Resident& exact, const Sketched& sketched, const Queries& queries, int k,
                     bool may_give_up, std::span<Neighbor> found, Timeline& timeline,
                     const ProgressToken& token);

    /// Returns how many images make a block; nothing if so few pairs were pruned that direct products are faster.
    std::optional<std::int64_t> run();

  private:
    struct Pair {
        std::int64_t a, b;  ///< places in the order
        std::uint32_t distance;
    };
    struct Thread;

    std::int64_t size_of(std::int64_t block) const { return std::min(block_, n_ - block * block_); }
    std::span<Neighbor> best_of(std::int64_t place) const {
        const auto k = static_cast<std::size_t>(k_);
        return found_.subspan(order_[static_cast<std::size_t>(place)] * k, k);
    }
    std::uint64_t reach(std::int64_t place) const {
        return reaches_[static_cast<std::size_t>(place)].load(std::memory_order_relaxed);
    }
    void set_reach(std::int64_t place);
    void take(std::int64_t place, std::int64_t other, std::uint32_t distance);
    void search_group(std::int64_t group);
    void pack();
    std::optional<BlockPair> next();
    void compare_pairs(int thread, Tally& tally);
    void compare(int thread, BlockPair pair, Thread& own, Tally& tally);
    void refine(std::span<const Hit> hits, std::int64_t first_query, std::int64_t first_image,
                std::vector<Pair>& refined) const;
    bool costs_too_much() const;

    const Resident& exact_;
    const std::int64_t n_;
    const int k_;
    const bool leaves_out_, may_give_up_;
    const std::int64_t group_, block_, blocks_;  ///< images of a group, images of a block, number of blocks
    std::span<Neighbor> found_;                  ///< by image: sorted, the best so far
    Timeline& timeline_;
    const ProgressToken& token_;
    Team team_;
    std::vector<std::uint32_t> order_;                 ///< by place: the image; ascending in each group
    Sketched sketched_;                                ///< in that order
    std::vector<std::uint32_t> limits_;                ///< by place: the k-th distance so far
    std::vector<std::atomic<std::uint32_t>> reaches_;  ///< by place, with the error
    std::vector<std::uint32_t> errors_;                ///< by block: the largest
    std::vector<QueryBlock> packed_;                   ///< by block
    std::vector<std::mutex> mutexes_;                  ///< by block: of the lists of its images
    std::mutex mutex_;                                 ///< of the next pair:
    std::int64_t row_ = 0, difference_;                ///< its row, and its row XOR its column
    std::atomic<std::int64_t> n_compared_{0}, n_refined_{0};  ///< pairs
    std::atomic<bool> gives_up_{false};
};

}  // namespace knn::cpu
