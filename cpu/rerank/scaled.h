#pragma once
/// The re-ranker `spread` on the host (data/rerank/spread.h).

#include <cstdint>
#include <span>

#include "data/core/neighbors.h"
#include "data/rerank/rerank.h"

namespace knn::cpu {

/// The k nearest of each query's candidates by (scaled distance, index), 1 <= k <= candidates.k. `terms`: spread_terms of
/// the training images. threads: 0: all. Throws DataError (not enough memory).
Neighbors scaled(const Rerank& rerank, const Neighbors& candidates, std::span<const std::int64_t> terms,
                 int k, int threads = 0);

}  // namespace knn::cpu
