#pragma once
/// Searches of one training set on several devices, checked against one.

#include <doctest/doctest.h>

#include "classifier/index.h"
#include "classifier/sharded.h"
#include "tests/support/points.h"

namespace knn::test {

inline constexpr Placement both_placements[] = {Placement::replicate, Placement::shard};

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

/// CHECKs the first k neighbors, and that each query is called back once, with what is returned.
inline void check_found(const Engine& engine, const Searched& searched, const Neighbors& expected, int k,
                        const Plan& plan) {
    INFO(std::string(engine.name), ": ",
         Problem{searched.points.n, searched.queries.n, searched.points.dim, k, searched.measure},
         ", left out from ", searched.exclude.first, ", devices ", plan.devices.size(), ", spread ",
         std::string(name(plan.placement)), ", memory ", plan.memory, ", batch ", plan.batch);
    Timeline timeline;
    Sharded sharded(engine, {view(searched.points), {}}, searched.measure, plan, nullptr, timeline);
    Neighbors heard(searched.queries.n, k), found(searched.queries.n, k);
    std::vector<int> times(static_cast<std::size_t>(searched.queries.n));
    const TopKRequest wanted{
        .queries = searched.as_queries(), .k = k, .on_batch = [&](const ResultBatch& batch) {
            CHECK(batch.neighbors.data() == found.row(batch.first).data());
            std::copy(batch.neighbors.begin(), batch.neighbors.end(), heard.row(batch.first).begin());
            for (std::size_t i = 0; i < batch.neighbors.size() / static_cast<std::size_t>(k); ++i)
                ++times[static_cast<std::size_t>(batch.first) + i];
        }};
    sharded.top_k(wanted, {found.rows}, searched.queries.n, timeline, {});
    CHECK(times == std::vector<int>(times.size(), 1));
    CHECK(heard.rows == found.rows);
    CHECK(found.rows == expected.first(k).rows);
}

/// CHECKs neighbors, votes and confidence features.
inline void check_same(const Results& found, const Results& expected) {
    CHECK(found.neighbors.rows == expected.neighbors.rows);
    CHECK(found.votes == expected.votes);
    CHECK(found.confidence_features == expected.confidence_features);
}

}  // namespace knn::test
