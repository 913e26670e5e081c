#pragma once
/// Points, labels and queries as the program takes them, and the right neighbors by the oracle.

#include <algorithm>
#include <span>
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

inline bool operator==(const ConfidenceFeatures& a, const ConfidenceFeatures& b) {
    return a.share == b.share && a.distance == b.distance && a.margin == b.margin && a.alone == b.alone;
}

namespace test {

inline knn::Rows view(const Rows& rows) {
    return rows;
}

/// Labels 0 to `classes` - 1 in turns.
inline std::vector<std::uint8_t> labels_for(std::int64_t n, int classes = 10) {
    std::vector<std::uint8_t> labels(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint8_t>(i * 7 % static_cast<std::size_t>(classes));
    return labels;
}

/// Votes for these labels, each by all neighbors.
inline std::vector<Vote> votes_for(const std::vector<int>& labels) {
    std::vector<Vote> votes;
    for (const int label : labels)
        votes.push_back({static_cast<std::uint8_t>(label), 1.0});
    return votes;
}

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
inline Rows taken(const knn::Rows& train, const Exclude& exclude, std::int64_t count) {
    Rows rows{{}, count, train.dim};
    for (std::int64_t q = 0; q < count; ++q) {
        const std::uint8_t* row = train.row(exclude.index_of(q));
        rows.pixels.insert(rows.pixels.end(), row, row + train.dim);
    }
    return rows;
}

/// The first k of each row, without the image that the query is.
inline Neighbors first_others(const Neighbors& all, int k, const Exclude& exclude) {
    Neighbors some(all.n_query, k);
    for (std::int64_t q = 0; q < all.n_query; ++q) {
        auto out = some.row(q).begin();
        for (const Neighbor& one : all.row(q))
            if (one.index != exclude.index_of(q) && out != some.row(q).end()) *out++ = one;
    }
    return some;
}

/// The k nearest of each query among all points but the one that it is.
inline Neighbors right(const knn::Rows& points, const knn::Rows& queries, int k, const Exclude& exclude = {},
                       const Measure& measure = {}) {
    return first_others(nearest(points, queries, k + (exclude.any() ? 1 : 0), measure), k, exclude);
}

/// Of every `step`-th query, how many have other neighbors than the right ones.
inline std::int64_t wrong_queries(std::span<const Neighbor> found, const knn::Rows& points,
                                  const knn::Rows& queries, int k, const Exclude& exclude = {},
                                  const Measure& measure = {}, std::int64_t step = 1) {
    if (std::ssize(found) != queries.count * k) return queries.count + 1;
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < queries.count; q += step) {
        const Exclude itself{.first = exclude.index_of(q)};
        const Neighbors expected = right(points, queries.slice(q, 1), k, itself, measure);
        wrong += !std::equal(expected.rows.begin(), expected.rows.end(), found.begin() + q * k);
    }
    return wrong;
}

}  // namespace test
}  // namespace knn
