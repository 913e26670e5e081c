#pragma once
/// The search among real rows that compares every pair in double precision.

#include "cpu/vectors/real_rows.h"
#include "data/core/device_index.h"

namespace knn::cpu {

/// A search of real rows: what its ways share.
struct RealSearch {
    const RealRows& train;
    const RealMeasure& measure;
    const RealRows& query_rows;
    const Queries& queries;
    int k;
    std::span<Neighbor> found;  ///< n_query × k
    int threads;
    StageKind kind;  ///< of the stages here
    Timeline& timeline;
    const ProgressToken& token;

    /// The training row that is no neighbor of the query.
    std::int64_t excluded(std::int64_t query) const {
        return queries.leaves_out() ? queries.images[at(query)] : -1;
    }
    std::span<Neighbor> row(std::int64_t query) const { return found.subspan(at(query * k), at(k)); }
};

/// Answers these queries, ascending. Blocks of queries against slices of the training set: a pair takes a subtraction and a
/// fused multiply-add for 8 elements, and is given up when the sum so far exceeds the k-th distance. Stage `distance`.
void search_exhaustively(const RealSearch& search, std::span<const std::int64_t> queries);

}  // namespace knn::cpu
