#pragma once
/// When an answer is none: thresholds that the training set itself gives.
///
/// A sample of 2,000 training images, evenly spread, is classified by all the others (leave one out), which
/// shows how near and how unanimous the neighbors of true digits are. A picture is rejected where its
/// neighbors are stranger than those of nearly all true digits: farther away, the more so the less they
/// agree; or where they agree less than those of true digits nearly ever do. docs/rejection.md has the
/// figures.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/core/metric.h"
#include "data/core/searcher.h"
#include "data/set/training.h"

namespace knn {

/// The neighbors of the sample among all other training images, in order.
struct LeaveOneOut {
    std::int64_t count = 0;         ///< images in the sample
    int k = 0;                      ///< neighbors of each
    std::vector<Neighbor> nearest;  ///< count × k

    std::span<const Neighbor> row(std::int64_t i) const {
        return {nearest.data() + i * k, static_cast<std::size_t>(k)};
    }
};

/// From the cache where it holds them for this training set, else by a search on the CPU, and then kept.
/// `train`: the images that the pictures are searched among, the first ones of `set`.
LeaveOneOut leave_one_out(const TrainingSet& set, const Rows& train, const Measure& measure,
                          bool use_cache, int threads, const Watch& watch);

/// The limits for one k, one way to vote and one metric.
class Rejection {
  public:
    /// Without a sample of at least 200 images there is nothing to judge by: rejects nothing.
    Rejection(const LeaveOneOut& sample, std::span<const std::uint8_t> labels, int k, Weights weights,
              Tie tie, const Measure& measure = {});

    /// Why this is no answer, for people; empty where it is one. `neighbors`: k of them, in order.
    std::string reason(std::span<const Neighbor> neighbors, const Vote& vote) const;

    double strange() const { return strange_; }
    double divided() const { return divided_; }

  private:
    Measure measure_;
    double strange_;      ///< the most that is accepted; a distance, see strangeness()
    double divided_ = 0;  ///< the least share of the votes that is accepted
};

/// The mean distance (not squared) of the nearest neighbors, five at most, times 1 for a unanimous vote up to
/// 1.3 for a hopelessly divided one.
double strangeness(std::span<const Neighbor> neighbors, const Vote& vote, const Measure& measure = {});

}  // namespace knn
