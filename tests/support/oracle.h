#pragma once
/// Oracle of every engine: all pairs in plain loops and std::sort. Shares no code with the engines.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/core/metric.h"
#include "data/core/voting.h"

namespace knn::test {

/// Rows of 8-bit pixels, n × dim.
struct Rows {
    std::vector<std::uint8_t> pixels;
    std::int64_t n = 0, dim = 0;
};

/// The scores of all pairs, query.n × train.n: squared distances in 64-bit integers, other metrics as data/core/metric.h
/// defines them.
std::vector<std::uint32_t> scores(const Rows& train, const Rows& query, const Measure& measure = {});

/// The k nearest (score, index) of each query, in order.
std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> nearest(const Rows& train, const Rows& query,
                                                                        int k, const Measure& measure = {});

/// The label with the most votes of these neighbors (score, index), and its share, bit for bit as defined in
/// classifier/vote.h.
std::pair<int, double> vote(const std::vector<std::pair<std::int64_t, std::int64_t>>& neighbors,
                            std::span<const std::uint8_t> labels, Weights weights, Tie tie,
                            const Measure& measure);

/// The class that is nearest on average and its confidence, as classifier/vote.h defines them. `sizes`: the images of
/// each label; without it, as many as `labels` has.
std::pair<int, double> class_mean_vote(const std::vector<std::pair<std::int64_t, std::int64_t>>& neighbors,
                                       std::span<const std::uint8_t> labels, int wanted, Tie tie,
                                       std::span<const std::int64_t> sizes = {});

/// Random bytes; `levels` different values (2: many ties; 1: all equal; 256: few ties).
Rows random_rows(std::int64_t n, std::int64_t dim, std::uint64_t seed, int levels = 256);

}  // namespace knn::test
