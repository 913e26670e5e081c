#pragma once
/// The majority vote on the host. gpu/engines/vote.cu does the same on the device, bit for bit.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/voting.h"

namespace knn {

/// The vote of one query. `neighbors`: k >= 1, in order; `labels`: of the training set.
///
/// The order of operations, all in IEEE double precision, rounded to nearest, without fused multiply-add; an
/// implementation that follows it gives the same bits:
/// 1. sum[c] = 0 for every label c = 0..255.
/// 2. For rank r = 0 .. k-1, in this order, with c = labels[neighbors[r].index] and
///    D = neighbors[r].distance (a score, see data/core/metric.h): sum[c] = sum[c] + w, where w is
///    - Weights::uniform: 1.0;
///    - Weights::distance and neighbors[0].distance > 0: 1/d², by `inverse_square`. For l2 that is
///      1.0 / double(D), one division; for l1 d = double(D), for cosine and pearson d = double(the float
///      whose bits D is), and 1.0 / (d * d), one multiplication and one division;
///    - Weights::distance and neighbors[0].distance == 0: 1.0 where D == 0, and no vote where D > 0
///      (only images at distance 0 vote, as in scikit-learn).
/// 3. The winner has the largest sum. Among sums that are equal as doubles: Tie::smallest takes the smallest
///    label, Tie::nearest the label of the first neighbor (lowest rank) whose sum is that largest one.
/// 4. total = 0.0 + sum[0] + sum[1] + ... + sum[255], in this order (adding the zeros changes nothing, they
///    may be left out). confidence = sum[winner] / total, one division.
Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const VotingRule& rule,
          const Measure& measure = {});

/// w of step 2 for a neighbor at `distance`; `zeros_alone`: the first neighbor's is 0.
double vote_weight(std::uint32_t distance, bool zeros_alone, Weights weights, const Measure& measure);

/// The votes of some queries with `k` neighbors each, on `threads` threads.
void vote_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
               const VotingRule& rule, const Measure& measure, int threads, std::span<Vote> votes);

/// The vote of every query, on `threads` threads.
std::vector<Vote> votes(const Neighbors& neighbors, std::span<const std::uint8_t> labels,
                        const VotingRule& rule, const Measure& measure, int threads = 1);

// Computes the features from which classifier/confidence.h computes a probability.

/// `neighbors`: all that voted, in order. `measure`: of their distances.
ConfidenceFeatures confidence_features(std::span<const Neighbor> neighbors,
                                       std::span<const std::uint8_t> labels, const Vote& vote,
                                       const VotingRule& rule, const Measure& measure);

/// Of some queries with `k` neighbors and a vote each, on `threads` threads.
void confidence_features_of(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
                            std::span<const Vote> votes, const VotingRule& rule, const Measure& measure,
                            int threads, std::span<ConfidenceFeatures> all);

/// The mean over at most the nearest five neighbors: for l2 of Euclidean distances, for other metrics of the
/// distances that users see.
inline double mean_distance(std::span<const Neighbor> neighbors, const Measure& measure) {
    const auto nearest = neighbors.first(std::min<std::size_t>(neighbors.size(), 5));
    double sum = 0;
    for (const Neighbor& neighbor : nearest) {
        const double distance = distance_of(measure, neighbor.distance);
        sum += measure.metric == Metric::l2 ? std::sqrt(distance) : distance;
    }
    return sum / static_cast<double>(nearest.size());
}

}  // namespace knn
