#pragma once
/// The votes on the host. gpu/engines/vote.cu does the majority vote on the device, bit for bit.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/voting.h"

namespace knn {

/// The majority vote of one query. `neighbors`: k >= 1, in order; `labels`: of the training set.
///
/// The order of operations, all in IEEE double precision, rounded to nearest, without fused multiply-add; an
/// implementation that follows it gives the same bits:
/// 1. sum[c] = 0 for every label c = 0..255.
/// 2. For rank r = 0 .. k-1, in this order, with c = labels[neighbors[r].index] and
///    D = neighbors[r].distance (a score, see data/core/metric.h): sum[c] = sum[c] + w, where w is
///    - Weights::uniform: 1.0;
///    - Weights::distance and neighbors[0].distance > 0: 1/d², by `inverse_square`. For l2 that is
///      1.0 / double(D), one division; for l1 d = double(D), for cosine and pearson d = double(the float
///      whose bits D is), for lp d is `distance_of`, and 1.0 / (d * d), one multiplication and one division.
///      Of rows that are not bytes d, for l2 d², is `distance_of`, divided by the power of two in that of the first
///      neighbor, so that no unit is too small or too large, and w at least 1e-300;
///    - Weights::distance and neighbors[0].distance == 0: 1.0 where D == 0, and no vote where D > 0
///      (only images at distance 0 vote, as in scikit-learn).
/// 3. The winner has the largest sum. Among sums that are equal as doubles: Tie::smallest takes the smallest
///    label, Tie::nearest the label of the first neighbor (lowest rank) whose sum is that largest one.
/// 4. total = 0.0 + sum[0] + sum[1] + ... + sum[255], in this order (adding the zeros changes nothing, they
///    may be left out). vote_share = sum[winner] / total, one division.
Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const VotingRule& rule,
          const Measure& measure = {});

/// w of step 2 for a neighbor at `distance`; `nearest`: the first neighbor's.
double vote_weight(std::uint32_t distance, std::uint32_t nearest, Weights weights, const Measure& measure);

// The vote `class-mean`: the class whose nearest j neighbors are nearest on average.

/// The default j, chosen by leave-one-out on MNIST's training set (docs/rerank.md).
inline constexpr int class_mean_neighbors = 4;

/// Training images by label.
using ClassSizes = std::array<std::int64_t, 256>;
ClassSizes class_sizes(std::span<const std::uint8_t> labels);

/// The neighbors of one query after another, by class, and their vote for any j. A class is small if it has at most j
/// images; it needs its images but one (in leave-one-out the query is that one), at least one and at most j'.
///
/// 1. j' = min(j, the largest number of neighbors that one class has).
/// 2. Class c has the mean of m[c] distances: its nearest j' neighbors, or as many as it has, if these are at least j', or
///    those that a small class needs. If a small class has fewer, but one, the missing ones are as far as the last of all
///    neighbors. Any other class with fewer is out. S[c], the sum, is an exact integer.
/// 3. The smallest mean S[c] / m[c] wins. Among equal ones: Tie::smallest takes the smallest label, Tie::nearest the class
///    that has the first neighbor.
/// 4. vote_share = 1 / Σ w[c] over the classes that are not out, in order of labels, in double precision without fused
///    multiply-add, where w[c] is 1 if the mean of c is the winner's, else S[winner] · m[c] / (S[c] · m[winner]), one
///    division of exact integers.
class ClassMeans {
  public:
    /// `sizes`: of the training set.
    explicit ClassMeans(const ClassSizes& sizes) : sizes_(sizes) {}

    /// For the next query.
    void clear();
    /// The next neighbor; integer distances.
    void add(std::uint8_t label, std::uint32_t distance);
    /// After at least one neighbor.
    Vote vote(int j, Tie tie) const;
    /// Of the vote.
    std::uint8_t label(int j, Tie tie) const;

  private:
    /// Sums of 1,024 distances, times 1,024, are exact as doubles.
    struct Mean {
        std::uint8_t label = 0;
        std::uint64_t sum = 0;
        int count = 0;  ///< 0: none

        bool is_less(const Mean& other) const;
    };
    /// 0: the class is out.
    Mean mean(std::uint8_t label, int j) const;
    Mean least(int j, Tie tie) const;

    ClassSizes sizes_;
    std::array<std::vector<std::uint64_t>, 256> sums_;  ///< by label: of the nearest 1, 2, 3 ... distances
    std::vector<std::uint8_t> labels_;                  ///< that neighbors have, ascending
    std::array<std::size_t, 256> first_;                ///< how many of these were there before
    int most_ = 0;                                      ///< neighbors of one class
    std::uint32_t last_ = 0;                            ///< distance
};

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
