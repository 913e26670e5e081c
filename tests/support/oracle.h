#pragma once
/// Oracle of every engine: all pairs in plain loops and std::sort. Shares no code with the engines.

#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/problem.h"
#include "data/core/rows.h"
#include "data/core/voting.h"

namespace knn {

/// For messages of tests.
inline std::ostream& operator<<(std::ostream& out, const Problem& problem) {
    return out << problem.n_train << " images, " << problem.n_query << " queries of " << problem.dim << ", k "
               << problem.k << ", " << name(problem.measure.metric) << " " << problem.measure.p;
}

namespace test {

/// Rows of 8-bit pixels, n × dim, which it owns.
struct Rows {
    std::vector<std::uint8_t> pixels;
    std::int64_t n = 0, dim = 0;

    /*implicit*/ operator knn::Rows() const { return {pixels.data(), n, dim}; }
};

/// The scores of all pairs, query.n × train.n: squared distances in 64-bit integers, other metrics as data/core/metric.h
/// defines them.
std::vector<std::uint32_t> scores(const knn::Rows& train, const knn::Rows& query,
                                  const Measure& measure = {});

/// The k nearest of each query, in order; k is at most the training images.
Neighbors nearest(const knn::Rows& train, const knn::Rows& query, int k, const Measure& measure = {});

/// The vote of these neighbors, bit for bit as defined in classifier/vote.h.
Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, Weights weights, Tie tie,
          const Measure& measure);

/// The class that is nearest on average and its share, as classifier/vote.h defines them. `sizes`: the images of
/// each label; without it, as many as `labels` has.
Vote class_mean_vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, int wanted,
                     Tie tie, std::span<const std::int64_t> sizes = {});

/// Random bytes; `levels` different values (2: many ties; 1: all equal; 256: few ties).
Rows random_rows(std::int64_t n, std::int64_t dim, std::uint64_t seed, int levels = 256);

}  // namespace test
}  // namespace knn
