#include "cpu/block_pairs.h"

namespace knn::cpu {

BlockPairs::BlockPairs(std::int64_t blocks)
    : blocks_(blocks),
      ended_(std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(blocks))) {}

std::optional<BlockPair> BlockPairs::next() {
    const std::lock_guard lock(mutex_);
    if (next_.row == blocks_) return std::nullopt;
    const BlockPair pair = next_;
    if (++next_.column == blocks_) next_.column = ++next_.row;
    return pair;
}

bool BlockPairs::reached(std::int64_t row, std::int64_t column) const {
    return ended_[static_cast<std::size_t>(column)].load(std::memory_order_acquire) >= row;
}

void BlockPairs::end(BlockPair pair) {
    ended_[static_cast<std::size_t>(pair.column)].store(pair.row + 1, std::memory_order_release);
}

}  // namespace knn::cpu
