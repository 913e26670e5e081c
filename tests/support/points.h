#pragma once
/// Points and labels as the program takes them, and the right neighbors by the oracle.

#include <algorithm>
#include <span>
#include <vector>

#include "data/core/voting.h"
#include "tests/support/leave_out.h"

namespace knn::test {

inline knn::Rows view(const Rows& rows) {
    return {rows.pixels.data(), rows.n, rows.dim};
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

/// The k nearest of each query among all points but the one that it is.
inline Neighbors right(const Rows& points, const Rows& queries, int k, const Exclude& exclude = {},
                       const Measure& measure = {}) {
    const auto nearest_too = nearest(points, queries, k + (exclude.any() ? 1 : 0), measure);
    Neighbors found(queries.n, k);
    for (std::int64_t q = 0; q < queries.n; ++q) {
        auto out = found.row(q).begin();
        for (const auto& [distance, index] : nearest_too[static_cast<std::size_t>(q)])
            if (index != exclude.index_of(q) && out != found.row(q).end())
                *out++ = {static_cast<std::uint32_t>(distance), static_cast<std::uint32_t>(index)};
    }
    return found;
}

/// Of every `step`-th query, how many have other neighbors than the right ones.
inline std::int64_t wrong_queries(std::span<const Neighbor> found, const Rows& points, const Rows& queries,
                                  int k, const Exclude& exclude = {}, const Measure& measure = {},
                                  std::int64_t step = 1) {
    if (std::ssize(found) != queries.n * k) return queries.n + 1;
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < queries.n; q += step) {
        const Rows one = taken(queries, {.first = q}, 1);
        const Neighbors expected = right(points, one, k, {.first = exclude.index_of(q)}, measure);
        wrong += !std::equal(expected.rows.begin(), expected.rows.end(), found.begin() + q * k);
    }
    return wrong;
}

}  // namespace knn::test
