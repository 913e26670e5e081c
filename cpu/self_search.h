#pragma once
/// The search of a training set with itself: each distance is computed once, for both images.
///
/// A pair of blocks I < J (BlockPair) is one pass of the kernel for each panel of J, which tests each distance
/// against the limits of both images. Images of J have their lists in `all_`, which belong to the thread that has the
/// pair. The lists of the block I are needed by all threads at once, so each has its own; they begin as those of `all_`
/// were before row I, and are added to them when the thread leaves the row.
///
/// Ties: a list of `all_` meets the images of blocks before its own in ascending order, and so does a thread's list
/// those of later blocks; sets of both are joined by (distance, index).

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "cpu/scanner.h"

namespace knn::cpu {

/// Blocks row <= column of consecutive images. The images of `row` are the queries of a kernel's pass.
struct BlockPair {
    std::int64_t row = 0, column = 0;
};

/// Distributes each pair of blocks once to threads, row by row, and lets it run after the pairs of earlier rows with
/// the same column. So no two threads compare with a column at the same time, and each image of it meets those of
/// earlier blocks in ascending order. A thread waits only if the others have dealt with almost a whole row since.
class BlockPairs {
  public:
    explicit BlockPairs(std::int64_t blocks);

    /// Nothing when all pairs are taken; the diagonal pair is the first of its row. Thread-safe.
    std::optional<BlockPair> next();

    /// Whether the pairs of all rows before `row` with that column have ended: what their threads wrote is visible.
    bool reached(std::int64_t row, std::int64_t column) const;

    /// The pair has ended.
    void end(BlockPair pair);

  private:
    const std::int64_t blocks_;
    std::mutex mutex_;
    BlockPair next_;
    std::unique_ptr<std::atomic<std::int64_t>[]> ended_;  ///< rows, by column
};

class SelfSearch {
  public:
    /// Whether these queries are the training set, and it pays for the metric, and memory suffices for the lists of all
    /// images at once.
    static bool suits(Resident& resident, const Queries& queries, int k);

    SelfSearch(Resident& resident, const Queries& queries, int k, std::span<Neighbor> found,
               Timeline& timeline, const ProgressToken& token);

    /// Returns how many images make a block.
    std::int64_t run();

  private:
    Rows block(std::int64_t index) const;
    void pack();
    void compare_pairs(int thread, Tally& tally);
    bool compare(int thread, BlockPair pair, PanelScanner& scanner, BestLists& rows, Tally& tally);
    bool wait_for(std::int64_t row, std::int64_t column) const;
    void begin_row(std::int64_t row, PanelScanner& scanner, BestLists& rows);
    void end_row(std::int64_t row, const BestLists& rows);
    void finish();

    Resident& resident_;
    int k_;
    bool leaves_out_;  ///< no image is its own neighbor
    std::span<Neighbor> found_;
    Timeline& timeline_;
    std::int64_t block_, blocks_;  ///< images per block, number of blocks
    Team team_;
    BlockPairs pairs_;
    std::vector<QueryBlock> packed_;     ///< by block
    BestLists all_;                      ///< one for each image
    std::shared_mutex mutex_;            ///< of all_ for the images of a row that has begun
    std::vector<std::uint32_t> limits_;  ///< of all_ before the row of an image
    std::vector<std::once_flag> begun_;  ///< by row: `limits_` has them
};

}  // namespace knn::cpu
