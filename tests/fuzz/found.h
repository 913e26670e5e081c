#pragma once
/// What an engine finds in a random problem, and how two of them differ.

#include <optional>
#include <string>
#include <vector>

#include "data/core/plan.h"
#include "tests/fuzz/random_problem.h"

namespace knn::test {

struct Found {
    Neighbors neighbors;
    std::vector<Vote> votes;
};

/// What the plan's engine finds; none if it does not take the problem.
std::optional<Found> found(const RandomProblem& problem, Plan plan);

/// The first difference in words, or empty.
std::string difference(const Found& expected, const Found& here);

}  // namespace knn::test
