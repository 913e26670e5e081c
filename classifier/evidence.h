#pragma once
/// Features of a query's neighbors from which classifier/confidence.h computes the probability that the answer is
/// right.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/voting.h"

namespace knn {

/// Of the neighbors that vote. Distances are those that users see (distance_of), at least 1 where they are integers and
/// 1e-9 elsewhere, so that logarithms are finite. j is 1 for `majority`, k for `class-mean`.
struct Evidence {
    double share = 0;     ///< of the winner, as the vote says it
    double distance = 0;  ///< log of the mean distance of the nearest k
    double margin =
        0;  ///< log of the distance of the nearest other class over that of the winner, each the mean of
            ///< its nearest j; a class that lacks neighbors lies as far as the last of all
    double alone = 0;  ///< 1 if all neighbors have the winner's label, else 0
};

/// `neighbors`: all that voted, in order. `measure`: of their distances.
Evidence evidence(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const Vote& vote,
                  const VotingRule& rule, const Measure& measure);

/// Of some queries with `k` neighbors and a vote each, on `threads` threads.
void evidence_of_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
                      std::span<const Vote> votes, const VotingRule& rule, const Measure& measure,
                      int threads, std::span<Evidence> all);

}  // namespace knn
