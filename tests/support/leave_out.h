#pragma once
/// Queries that are images of the training set, as tests name them, and searches in one call.

#include <vector>

#include "classifier/index.h"
#include "tests/support/oracle.h"

namespace knn {

/// Query i is training image first + ⌊i · n / m⌋, and not its own neighbor. first: -1: no query is one.
struct Exclude {
    std::int64_t first = -1, n = 1, m = 1;

    bool any() const { return first >= 0; }
    std::int64_t index_of(std::int64_t i) const { return any() ? first + i * n / m : -1; }
};

namespace test {

/// Queries with these rows. They are the training set if they are the same memory.
inline Queries queries_of(const knn::Rows& rows, const Exclude& exclude, const knn::Rows& train) {
    Queries queries = rows;
    queries.is_training_set = rows.pixels == train.pixels && rows.count == train.count && exclude.first <= 0;
    if (!exclude.any()) return queries;
    const auto images = std::make_shared<std::vector<std::uint32_t>>();
    for (std::int64_t i = 0; i < rows.count; ++i)
        images->push_back(static_cast<std::uint32_t>(exclude.index_of(i)));
    queries.images = *images;
    queries.owner = images;
    return queries;
}

/// The rows of the first `count` queries that `exclude` names.
inline Rows taken(const Rows& train, const Exclude& exclude, std::int64_t count) {
    Rows rows{{}, count, train.dim};
    for (std::int64_t q = 0; q < count; ++q) {
        const auto begin = train.pixels.begin() + exclude.index_of(q) * train.dim;
        rows.pixels.insert(rows.pixels.end(), begin, begin + train.dim);
    }
    return rows;
}

/// The first k of each row of (distance, index), without the image that the query is.
inline std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> first_others(
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> rows, int k, const Exclude& exclude) {
    for (std::size_t q = 0; q < rows.size(); ++q) {
        const std::int64_t itself = exclude.index_of(static_cast<std::int64_t>(q));
        std::erase_if(rows[q], [&](const auto& neighbor) { return neighbor.second == itself; });
        rows[q].resize(static_cast<std::size_t>(k));
    }
    return rows;
}

struct Voted {
    Neighbors neighbors;
    Uninitialized<Vote> votes;
};

/// A search with a vote by the rule.
inline Voted voted(DeviceIndex& index, const Queries& queries, const VotingRule& rule, Timeline& timeline,
                   const ProgressToken& token = {}) {
    Voted answers{Neighbors(queries.count(), rule.k), {}};
    answers.votes.resize(static_cast<std::size_t>(queries.count()));
    index.top_k({.queries = queries, .k = rule.k, .vote = &rule}, {answers.neighbors.rows, answers.votes},
                timeline, token);
    return answers;
}

}  // namespace test
}  // namespace knn
