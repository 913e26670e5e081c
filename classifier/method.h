#pragma once

#include "data/core/metric.h"
#include "data/core/problem.h"
#include "data/core/rows.h"
#include "data/core/voting.h"

namespace knn {

/// What is computed: the same method gives the same answers on every engine and device.
struct Method {
    Measure measure;
    VotingRule vote;

    Problem problem(const Rows& train, std::int64_t n_query) const {
        return {train.count, n_query, train.dim, vote.k, measure};
    }
    friend bool operator==(const Method&, const Method&) = default;
};

}  // namespace knn
