#pragma once
/// Leave-one-out: a sample of the training set, and the neighbors of each of its images among all the others.

#include <cstdint>
#include <span>
#include <vector>

#include "classifier/method.h"
#include "data/core/searcher.h"
#include "data/set/training.h"

namespace knn {

/// The neighbors of 2,000 evenly spaced training images among all other training images.
struct LeaveOneOut {
    std::int64_t count = 0;         ///< images in the sample
    int k = 0;                      ///< neighbors of each
    std::vector<Neighbor> nearest;  ///< count × k, each row in order

    std::span<const Neighbor> row(std::int64_t i) const {
        return {nearest.data() + i * k, static_cast<std::size_t>(k)};
    }
};

/// With fewer training images the sample is empty: its count is 0.
inline constexpr std::int64_t min_sampled_images = 200;

/// Reads the neighbors from the cache if it has them for this training set, else searches on the CPU and caches
/// them. `train`: what pictures are compared with, the first images of `set` or the features that the method makes of
/// them.
LeaveOneOut leave_one_out(const TrainingSet& set, const Rows& train, const Method& method, bool use_cache,
                          int threads, const Watch& watch);

}  // namespace knn
