#pragma once
/// One problem to measure: its images and, once known, its answers.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "classifier/classifier.h"
#include "data/core/metric.h"

namespace knn {

class Workload {
  public:
    /// Does not copy the images, which must outlive this.
    Workload(const Rows& train, const Rows& query, std::span<const std::uint8_t> labels, int max_k);

    /// Uniformly random bytes, reproducible by the seed.
    Workload(std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int max_k, std::uint64_t seed);

    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;

    const Rows& train() const { return train_; }
    const Rows& query() const { return query_; }
    Problem problem(int k) const { return {train_.count, query_.count, train_.dim, k, measure}; }
    /// The largest k that will be asked for.
    int max_k() const { return max_k_; }
    Training training() const { return {train_, labels_}; }

    /// The distance.
    Measure measure;

    /// Set if the queries are training images; `expected` leaves each query itself out too, and its distance to itself
    /// is `excluded_distance`.
    Exclude exclude;

    /// The reference: the `max_k` nearest of the queries in `checked`, or, if that is empty, of all queries
    /// or the first ones. Both are set together.
    Neighbors expected;
    std::vector<std::int64_t> checked;  ///< ascending

    /// The query of this row of `expected`.
    std::int64_t query_of(std::int64_t row) const {
        return checked.empty() ? row : checked[static_cast<std::size_t>(row)];
    }

    /// Empty if these are the k nearest of the first queries, as far as known; else the first difference.
    std::string mismatch(const Neighbors& found) const;
    /// The same for one row of scores.
    std::string mismatch(std::int64_t query, std::span<const std::uint32_t> row) const;

  private:
    std::vector<std::uint32_t> right_row(std::int64_t query) const;

    std::vector<std::uint8_t> pixels_, own_labels_;
    Rows train_, query_;
    std::span<const std::uint8_t> labels_;
    int max_k_;
};

/// A pseudorandom number that depends only on seed and index (splitmix64).
std::uint64_t random_value(std::uint64_t seed, std::uint64_t index);

/// At most `max_count` of 0 .. n - 1, evenly spaced, including the first and the last.
std::vector<std::int64_t> sample(std::int64_t n, std::int64_t max_count);

}  // namespace knn
