#pragma once
/// Rejects a picture that is no digit, by thresholds from the training set.
///
/// A sample of 2,000 training images, evenly spread, is classified by all the others (leave one out), which
/// shows how near and how unanimous the neighbors of true digits are. A picture is rejected if its
/// neighbors are farther away than those of nearly all true digits, weighted by how little they agree, or if
/// they agree less than those of nearly all true digits. docs/rejection.md has the
/// figures.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "classifier/leave_one_out.h"
#include "data/core/metric.h"
#include "data/core/voting.h"

namespace knn {

/// The limits for one voting rule and one metric.
class Rejection {
  public:
    /// Rejects nothing if the sample is empty.
    Rejection(const LeaveOneOut& sample, std::span<const std::uint8_t> labels, const VotingRule& rule,
              const Measure& measure = {});

    /// Why the answer is rejected, for people; empty if it is accepted. `neighbors`: k of them, in order.
    std::string reason(std::span<const Neighbor> neighbors, const Vote& vote) const;

    double strange() const { return strange_; }
    double divided() const { return divided_; }

  private:
    Measure measure_;
    double strange_;      ///< maximum accepted strangeness(), a distance
    double divided_ = 0;  ///< minimum accepted share of the votes
};

/// The mean distance (not squared) of the nearest neighbors, at most five, times 1 for a unanimous vote to
/// 1.3 for an evenly divided one.
double strangeness(std::span<const Neighbor> neighbors, const Vote& vote, const Measure& measure = {});

}  // namespace knn
