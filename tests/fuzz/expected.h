#pragma once
/// What the oracles of tests/support answer to a random problem: features, all pairs, re-ranking and votes in plain loops.

#include <optional>

#include "data/transform/fitted.h"
#include "tests/fuzz/found.h"
#include "tests/support/oracle.h"

namespace knn::test {

/// The rows that are compared: features, or the pixels without a transform (`fitted` is null).
Rows compared_rows(const knn::Rows& images, const FittedTransform* fitted);

/// `train`, `query`: compared_rows. None by `spread`, or if the loops of re-ranking would take long.
std::optional<Found> expected(const RandomProblem& problem, const Rows& train, const Rows& query);

}  // namespace knn::test
