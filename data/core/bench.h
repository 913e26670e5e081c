#pragma once
/// What `bench` times: one part of a search on the arrays of one problem. gpu/bench/bench.h makes such arrays
/// on a GPU.

#include <cstdint>
#include <string>
#include <vector>

#include "data/core/neighbors.h"
#include "data/core/problem.h"
#include "data/core/searcher.h"

namespace knn {

/// How often something is run. Where `repeat` runs would take longer than `budget_ms`, it gets fewer of them,
/// but at least `min_runs`, and where even these take longer, fewer queries.
struct TrialOptions {
    static constexpr int min_runs = 3;

    int repeat = 10;
    double budget_ms = 5000;
    bool linear = false;  ///< of a distance kernel: training rows one behind the other, not pitched
};

/// What came of it.
struct Trial {
    std::vector<double> ms;    ///< of each run; runs to warm up are not among them
    std::int64_t n_query = 0;  ///< how many queries each run answered
    double operations = 3;     ///< of a distance kernel, for each pair and pixel: subtract, multiply, add
    Refusal refusal;           ///< why there was no run
};

/// What a device reached in this run; 0: not measured.
struct Limits {
    double copy_gb_per_s = 0;             ///< copying its own memory, bytes read and bytes written
    std::int64_t cache_bytes = 0;         ///< of the last cache before that memory
    double multiply_add_gflop_per_s = 0;  ///< float32 multiply-adds, each counted as two
    double pinned_upload_gb_per_s = 0;    ///< from page-locked host memory
    double pageable_upload_gb_per_s = 0;  ///< from ordinary host memory
};

/// The arrays of one problem on a GPU, and the strategies that work on them. Every call throws DeviceError,
/// and Interrupted where its watch says so.
class BenchArrays {
  public:
    virtual ~BenchArrays() = default;

    /// How many queries have a row of the matrix; fewer than asked for where memory is short.
    virtual std::int64_t n_query() const = 0;

    /// Fills the matrix by this kernel, for every query, without timing it. Returns why it cannot.
    virtual Refusal fill(const std::string& distance) = 0;

    /// Times a kernel: one of the table, or one that only `bench` has. It overwrites the first rows of a
    /// poisoned matrix, as many as the trial has queries.
    virtual Trial time_distance(const std::string& name, const TrialOptions& options) = 0;

    /// Times a selector on the first rows of the matrix. It overwrites poisoned neighbors.
    virtual Trial time_select(const std::string& name, int k, const TrialOptions& options) = 0;

    /// One row of the matrix, n_train values.
    virtual std::vector<std::uint32_t> matrix_row(std::int64_t query) = 0;

    /// What the last selector found for the first n queries.
    virtual Neighbors neighbors(std::int64_t n) = 0;

    /// Times the copy of all images to the device as floats (the 8-bit pixels of seed 003 are floats), from
    /// page-locked or from ordinary memory. Its `n_query` is all of them.
    virtual Trial time_upload(bool pinned, const TrialOptions& options) = 0;
};

}  // namespace knn
