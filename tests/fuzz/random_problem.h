#pragma once
/// A random search problem (data with ties and duplicates, any measure, transform, re-ranker and vote), what an engine finds
/// in it, and how two of them differ.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classifier/method.h"
#include "data/core/plan.h"
#include "tests/support/points.h"

namespace knn::test {

struct RandomProblem {
    ImageShape shape;
    std::vector<std::uint8_t> train, labels, query;
    Method method;
    Exclude exclude;  ///< then the queries are training images
    std::int64_t batch = 0;

    knn::Rows train_rows() const { return {train.data(), std::ssize(labels), shape.dim()}; }
    /// The training rows themselves if each is a query: engines compute each distance once then.
    knn::Rows query_rows() const {
        if (exclude.first == 0 && query.size() == train.size()) return train_rows();
        return {query.data(), std::ssize(query) / shape.dim(), shape.dim()};
    }
    Training training() const { return {.rows = train_rows(), .labels = labels, .shape = shape}; }
    /// For people: what it takes to see it again.
    std::string text() const;
};

/// The problem of a seed; the same on every machine with the same standard library. `work`: about the most differences of
/// pixels that a search takes; 10⁹ take less than a second on the host.
RandomProblem random_problem(std::uint64_t seed, std::int64_t work = 1'000'000'000);

struct Found {
    Neighbors neighbors;
    std::vector<Vote> votes;
};

/// What the plan's engine finds; none if it does not take the problem.
std::optional<Found> found(const RandomProblem& problem, Plan plan);

/// The first difference in words, or empty.
std::string difference(const Found& expected, const Found& here);

}  // namespace knn::test
