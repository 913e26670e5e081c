#include "gpu/fused/layout.h"

#include <algorithm>
#include <cmath>

#include "data/core/round_up.h"
#include "gpu/fused/survivors.cuh"

namespace knn::gpu {

int capacity_for(double survivors, double spread, double share) {
    const double mean = survivors * share / quad;
    return static_cast<int>(mean * (1 + 3 * spread) + 5.5 * std::sqrt(mean) + 8);
}

Schedule schedule_for(std::int64_t query_tiles, int first_tile, int n_tiles, std::int64_t dim,
                      int multiprocessors) {
    Schedule schedule;
    schedule.query_tiles = static_cast<int>(query_tiles);
    schedule.first_tile = first_tile;
    schedule.train_tiles = n_tiles;
    const std::int64_t bytes = std::int64_t{schedule.train_tiles} * tile_train * dim;
    schedule.windows =
        static_cast<int>(std::min<std::int64_t>(divide_up(bytes, window_bytes), schedule.train_tiles));
    schedule.blocks = static_cast<int>(
        std::min<std::int64_t>(multiprocessors, std::int64_t{schedule.query_tiles} * schedule.train_tiles));
    return schedule;
}

}  // namespace knn::gpu
