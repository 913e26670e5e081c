#pragma once
/// Searches of one training set on several devices, checked against one.

#include <doctest/doctest.h>

#include "classifier/index.h"
#include "classifier/sharded.h"
#include "tests/support/points.h"

namespace knn::test {

inline constexpr Placement both_spreads[] = {Placement::replicate, Placement::shard};

/// What is searched for.
struct Searched {
    Rows points, queries;
    std::vector<int> ks = {};
    Exclude exclude = {};
    Measure measure = {};

    Queries as_queries() const {
        // A set that is searched with itself is the same memory.
        const bool itself = exclude.first == 0 && queries.n == points.n;
        return queries_of(view(itself ? points : queries), exclude, view(points));
    }
    /// The right neighbors, for the largest k.
    Neighbors expected() const {
        return right(points, queries, *std::max_element(ks.begin(), ks.end()), exclude, measure);
    }
};

/// CHECKs that each query is called back once, with what is returned.
inline Uninitialized<Neighbor> found_by(const Engine& engine, const Searched& searched, int k,
                                        const Plan& plan) {
    Timeline timeline;
    Sharded sharded(engine, {view(searched.points), {}}, searched.measure, plan, nullptr, timeline);
    Neighbors heard(searched.queries.n, k), found(searched.queries.n, k);
    std::vector<int> times(static_cast<std::size_t>(searched.queries.n));
    const TopK wanted{
        .queries = searched.as_queries(), .k = k, .on_batch = [&](const ResultBatch& batch) {
            CHECK(batch.neighbors.data() == found.row(batch.first).data());
            std::copy(batch.neighbors.begin(), batch.neighbors.end(), heard.row(batch.first).begin());
            for (std::size_t i = 0; i < batch.neighbors.size() / static_cast<std::size_t>(k); ++i)
                ++times[static_cast<std::size_t>(batch.first) + i];
        }};
    sharded.top_k(wanted, {found.rows}, searched.queries.n, timeline, {});
    CHECK(times == std::vector<int>(times.size(), 1));
    CHECK(heard.rows == found.rows);
    return found.rows;
}

/// CHECKs neighbors, votes and confidence features.
inline void check_same(const Results& found, const Results& expected) {
    CHECK(found.neighbors.rows == expected.neighbors.rows);
    CHECK(found.votes == expected.votes);
    REQUIRE(found.confidence_features.size() == expected.confidence_features.size());
    for (std::size_t q = 0; q < expected.confidence_features.size(); ++q) {
        CHECK(found.confidence_features[q].share == expected.confidence_features[q].share);
        CHECK(found.confidence_features[q].distance == expected.confidence_features[q].distance);
        CHECK(found.confidence_features[q].margin == expected.confidence_features[q].margin);
    }
}

}  // namespace knn::test
