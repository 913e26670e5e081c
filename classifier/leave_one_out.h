#pragma once
/// A sample of the training set, each of its images classified by all the others.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/searcher.h"
#include "data/set/training.h"

namespace knn {

/// The neighbors of 2,000 training images, evenly spread, among all other training images.
struct LeaveOneOut {
    std::int64_t count = 0;         ///< images in the sample
    int k = 0;                      ///< neighbors of each
    std::vector<Neighbor> nearest;  ///< count × k, each row in order

    std::span<const Neighbor> row(std::int64_t i) const {
        return {nearest.data() + i * k, static_cast<std::size_t>(k)};
    }
};

/// Fewer training images than these have no sample: its count is 0.
inline constexpr std::int64_t min_sampled_images = 200;

/// From the cache where it holds them for this training set, else by a search on the CPU, and then kept.
/// `train`: the images that the pictures are searched among, the first ones of `set`.
LeaveOneOut leave_one_out(const TrainingSet& set, const Rows& train, const Measure& measure, bool use_cache,
                          int threads, const Watch& watch);

}  // namespace knn
