#pragma once
/// Computes the features from which classifier/confidence.h computes a probability.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/voting.h"

namespace knn {

/// `neighbors`: all that voted, in order. `measure`: of their distances.
Evidence evidence(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const Vote& vote,
                  const VotingRule& rule, const Measure& measure);

/// Of some queries with `k` neighbors and a vote each, on `threads` threads.
void evidence_of_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
                      std::span<const Vote> votes, const VotingRule& rule, const Measure& measure,
                      int threads, std::span<Evidence> all);

}  // namespace knn
