#pragma once
/// Divides a search of a set with itself into pairs of blocks.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

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

}  // namespace knn::cpu
