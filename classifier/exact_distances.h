#pragma once
/// Distances of found neighbors, as exact as their rows allow, and the order of neighbors that were found by several searches.

#include <cmath>
#include <limits>

#include "data/core/exact_distance.h"
#include "data/core/neighbors.h"
#include "data/core/progress_token.h"

namespace knn {

/// The distances of neighbors as users see them, n_query × k: of real rows by exact_distance, in double precision; of bytes by
/// distance_of, which is exact for l2 and l1. Where a row of neighbors ends with no_neighbor, infinity. Not `shown`: those of real
/// rows by which neighbors are ordered, without the root of lp. Throws Interrupted.
Uninitialized<double> exact_distances(const Rows& train, const Rows& queries, const Neighbors& neighbors,
                                      const Measure& measure, int threads, const ProgressToken& token = {},
                                      bool shown = true);

/// The same of one neighbor of one query, not `shown`.
double exact_distance_to(const Rows& train, const Neighbor& one, const Rows& query, const Measure& measure);

/// A neighbor of a query in several comparisons, the first of which that needs its exact distance computes it.
struct ComparedNeighbor : Neighbor {
    mutable double exact = std::numeric_limits<double>::quiet_NaN();

    ComparedNeighbor() = default;
    ComparedNeighbor(const Neighbor& neighbor) : Neighbor(neighbor) {}
};

/// Whether neighbor a of a query comes before b. Where scores of real rows are equal, their exact distances decide. row_of(index):
/// the bytes of a training row, of the query's dim and type.
template <class RowOf>
bool is_before(const Measure& measure, const Rows& query, const RowOf& row_of, const ComparedNeighbor& a,
               const ComparedNeighbor& b) {
    if (!measure.real || a.distance != b.distance || a.index == b.index) return a < b;
    const auto exact = [&](const ComparedNeighbor& one) {
        if (std::isnan(one.exact))
            one.exact = exact_distance(measure, query.pixels, row_of(one.index), query.dim, query.type);
        return one.exact;
    };
    const double of_a = exact(a), of_b = exact(b);
    return of_a != of_b ? of_a < of_b : a.index < b.index;
}

/// The order of the neighbors of a set's own rows.
struct NeighborOrder {
    Measure measure = {};
    Rows rows = {};  ///< as they are compared; only of a real measure

    /// Whether neighbor a of this row comes before b.
    bool operator()(std::int64_t row, const ComparedNeighbor& a, const ComparedNeighbor& b) const {
        if (!measure.real) return a < b;
        const auto row_of = [&](std::uint32_t index) { return rows.row(index); };
        return is_before(measure, rows.slice(row, 1), row_of, a, b);
    }
};

}  // namespace knn
