#pragma once
/// When an answer is none: thresholds that the training set itself gives.
///
/// A sample of 1,000 training images, evenly spread, is classified by all the others (leave one out), which
/// shows how near and how unanimous the neighbors of true digits are. A picture is rejected where its
/// neighbors are farther away than those of true digits nearly ever are, or vote in a way that true digits
/// nearly never cause, or are both far and divided. docs/rejection.md has the figures.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/search.h"
#include "data/training.h"

namespace knn {

/// The neighbors of the sample among all other training images, in order.
struct LeaveOneOut {
    std::int64_t count = 0;        ///< images in the sample
    int k = 0;                     ///< neighbors of each
    std::vector<Neighbor> nearest;  ///< count × k

    std::span<const Neighbor> row(std::int64_t i) const {
        return {nearest.data() + i * k, static_cast<std::size_t>(k)};
    }
};

/// From the cache where it holds them for this training set, else by a search on the CPU, and then kept.
/// `train`: the images that the pictures are searched among, the first ones of `set`.
LeaveOneOut leave_one_out(const TrainingSet& set, const ImageRows& train, bool use_cache, int threads,
                          const Watch& watch);

/// The limits for one k and one way to vote.
class Rejection {
  public:
    /// Without a sample of at least 200 images there is nothing to judge by: rejects nothing.
    Rejection(const LeaveOneOut& sample, std::span<const std::uint8_t> labels, int k, Weights weights,
              Tie tie);

    /// Why this is no answer, for people; empty where it is one. `neighbors`: k of them, in order.
    std::string reason(std::span<const Neighbor> neighbors, const Vote& vote) const;

    double far() const { return far_; }
    double rather_far() const { return rather_far_; }
    double divided() const { return divided_; }

  private:
    /// The mean distance (not squared) of the nearest ones, at most five.
    static double distance(std::span<const Neighbor> neighbors);

    double far_, rather_far_;  ///< distances
    double divided_ = 0;       ///< a winner's share of the votes
};

}  // namespace knn
