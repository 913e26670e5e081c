#pragma once
/// One problem to measure: its images and, once known, its answers.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "classifier/engines.h"
#include "classifier/index.h"
#include "data/core/dataset.h"
#include "data/core/metric.h"

namespace knn {

class BenchRun;

struct Workload {
    /// Uniformly random bytes, reproducible by the seed.
    Workload(std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int max_k, std::uint64_t seed);

    /// Else its distances are random, and only selections can be measured.
    bool has_images() const { return train.pixels != nullptr; }
    Problem problem(int k) const { return {train.count, query.count, train.dim, k, measure, train.type}; }
    Training training() const { return {train, labels}; }

    /// The first n queries.
    Queries queries(std::int64_t n) const {
        return leave_one_out ? Queries::some_of(query, 0, n) : Queries(query.first(n));
    }

    /// The query of this row of `expected`.
    std::int64_t query_of(std::int64_t row) const {
        return checked.empty() ? row : checked[static_cast<std::size_t>(row)];
    }

    /// Empty if these are the k nearest of the first queries, as far as known; else the first difference.
    std::string mismatch(const Neighbors& found) const;
    /// The same for one row of scores.
    std::string mismatch(std::int64_t of_query, std::span<const std::uint32_t> row) const;

    /// The scores of a query, by plain loops; metrics that these do not support, by the CPU engine with k = the size of each
    /// piece of the training set.
    std::vector<std::uint32_t> right_row(std::int64_t of_query) const;

    /// How many test images of the data set, from the first on, these label right by their majority; 0 without one.
    std::int64_t count_right(const Neighbors& found) const;

    std::unique_ptr<HostMemory> memory;  ///< of the data set: pinned if there is a GPU
    Dataset dataset;                     ///< empty if the images are random
    std::string text;                    ///< description
    Bytes pixels;                        ///< random training images and queries
    Rows train, query;
    std::vector<std::uint8_t> no_labels;  ///< of random images: all 0
    std::span<const std::uint8_t> labels;
    int max_k;  ///< the largest k that will be asked for
    Measure measure;

    /// Set if the queries are training images; `expected` leaves each query itself out too, and its distance to itself
    /// is `excluded_distance`.
    bool leave_one_out = false;

    /// The reference: the `max_k` nearest of the queries in `checked`, or, if that is empty, of all queries
    /// or the first ones. Both are set together.
    Neighbors expected;
    std::vector<std::int64_t> checked;  ///< ascending

    /// On the GPU, if BenchRun::upload made them.
    std::unique_ptr<BenchArrays> arrays;
};

/// The data set, or random bytes with --dim, with the metric of the options. Throws DataError, UsageError (more images
/// wanted than there are; k larger than their number).
Workload load_workload(BenchRun& run, int largest_k);

/// The metric in a title: ", metric cosine", ", metric lp with p = 3"; empty for l2.
std::string metric_words(const Measure& measure);

/// The size of its rows: "784 pixels", "4 float64 columns".
std::string size_words(const Workload& work);

/// "MNIST: 60,000 training images of 784 pixels".
std::string training_words(const Workload& work);

/// A pseudorandom number that depends only on seed and index (splitmix64).
std::uint64_t random_value(std::uint64_t seed, std::uint64_t index);

/// At most `max_count` of 0 .. n - 1, evenly spaced, including the first and the last.
std::vector<std::int64_t> sample(std::int64_t n, std::int64_t max_count);

}  // namespace knn
