#pragma once
/// The schedules of the passes of a fused search, and the sizes of their lists.

#include <cstdint>

#include "gpu/fused/schedule.h"

namespace knn::gpu {

inline constexpr std::int64_t window_bytes = 25 * 1000 * 1000;  ///< training images that stay in the L2 cache

/// A pass over the tiles first_tile .. first_tile + n_tiles − 1; dim: pixels that are multiplied.
Schedule schedule_for(std::int64_t query_tiles, int first_tile, int n_tiles, std::int64_t dim,
                      int multiprocessors);

/// Entries per list: the expected number plus three standard deviations and the spread within a list. share: of the
/// tiles of a pass, the longest piece.
int capacity_for(double survivors, double spread, double share);

}  // namespace knn::gpu
