#pragma once
/// The order of candidates by new distances, on several threads.

#include <cstdint>
#include <functional>
#include <span>

#include "data/core/neighbors.h"
#include "data/core/searcher.h"

namespace knn::cpu {

/// Replaces the distances of one query's candidates. `thread`: 0 .. team_size - 1, for memory of its own.
using Rescore = std::function<void(int thread, std::int64_t query, std::span<Neighbor> candidates)>;

constexpr std::int64_t queries_at_once = 8;  ///< by one thread

/// The k nearest of each query's candidates by (new distance, index), 1 <= k <= candidates.k. threads: 0: all. Throws
/// DataError (not enough memory), Interrupted, and what `rescore` throws.
Neighbors ordered_again(const Neighbors& candidates, int k, int threads, const Watch& watch,
                        const Rescore& rescore);

/// What is thrown where `images` images are too many for the memory.
[[noreturn]] void throw_out_of_memory(std::int64_t images);

}  // namespace knn::cpu
