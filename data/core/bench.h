#pragma once
/// What `bench` times: parts of a search on the arrays of one problem. gpu/bench/bench.h makes such arrays on a
/// GPU.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "data/core/device_index.h"
#include "data/core/neighbors.h"
#include "data/core/problem.h"
#include "data/core/timeline.h"

namespace knn {

/// Limits of a measurement. If `repeat` runs would exceed `budget_ms`, there are fewer, but at least `min_runs`; if
/// even these exceed it, fewer queries.
struct TrialOptions {
    static constexpr int min_runs = 3;

    int repeat = 10;
    double budget_ms = 5000;
    bool linear = false;       ///< of a distance kernel: training rows contiguous, not pitched
    bool all_queries = false;  ///< even if there is no time for them
    std::int64_t first = 256;  ///< queries that are tried first

    /// The number of runs if one takes this long.
    int runs(double ms) const {
        return static_cast<int>(
            std::clamp<double>(budget_ms / std::max(ms, 1e-3), std::min(min_runs, repeat), repeat));
    }

    /// How many of `all` queries can be run `min_runs` times within the time: tries `first`, then four times as many
    /// each time. `run(n)` returns its milliseconds and has run the number returned last.
    template <class Run>
    std::int64_t affordable(std::int64_t all, Run&& run) const {
        constexpr std::int64_t growth = 4;
        for (std::int64_t n = all_queries ? all : std::min(all, first);;) {
            const double ms = run(n);
            const std::int64_t next = std::min(growth * n, all);
            const double next_ms = ms * static_cast<double>(next) / static_cast<double>(n);
            if (n == all || next_ms * min_runs >= budget_ms) return n;
            n = next;
        }
    }
};

/// What a selector leaves in its k places of a row.
enum class Finds {
    nearest,    ///< the k nearest in order
    kth_value,  ///< the distance of the k-th in its place, with the index of no_neighbor; nothing elsewhere
    wrong       ///< what its steps give, which are wrong by design: cpu::find_wrong_sort has the same steps
};

/// The result of a trial.
struct Trial {
    std::vector<double> ms = {};     ///< of each run, without warm-up runs
    std::int64_t n_query = 0;        ///< queries per run
    double operations = 3;           ///< of a distance kernel, per pair and pixel: subtract, multiply, add
    double pixel_bytes = 4;          ///< that a distance kernel reads: floats, or bytes
    UnsupportedReason refusal = {};  ///< why there was no run
    std::int64_t peak_bytes = 0;     ///< of the device: matrix, neighbors, scratch; no images
    Finds finds = Finds::nearest;    ///< of a selector
    Neighbors found = {};            ///< of these queries, in the last run
    Timeline stages = {};            ///< of a program, in the last run
    std::vector<std::uint8_t> features = {};  ///< of a transform
};

/// A program of seed 003 as a whole: one test image after another, distances, `bitonic_step`, the host waits for each.
struct Program {
    const char* name;
    const char* distance;         ///< a rung of the ladder
    bool pinned = false;          ///< §3.1: images in page-locked host memory
    bool pitched = false;         ///< §3.3: training rows by cudaMallocPitch
    bool allocates_once = false;  ///< §3.3: not for each image
};
inline constexpr Program programs[] = {
    {"previous", "ladder_scalar"},                            // §4.1, the version before the improvements
    {"allocated_once", "ladder_scalar", false, false, true},  // §3.3
    {"final", "ladder_unroll8", true, true, true},            // §4.1, the final version
};

/// A trial on as many of `all` queries as there is time for: `run(n)` returns its milliseconds, and has run the trial's
/// number last.
template <class Run>
Trial timed_trial(const TrialOptions& options, std::int64_t all, Run&& run) {
    double ms = 0;
    Trial trial;
    trial.n_query = options.affordable(all, [&](std::int64_t n) { return ms = run(n); });
    for (int left = options.runs(ms); left > 0; --left)
        trial.ms.push_back(run(trial.n_query));
    return trial;
}

/// What the device achieved in this run; 0: not measured.
struct Limits {
    double copy_gb_per_s = 0;             ///< copying its own memory, bytes read and bytes written
    std::int64_t cache_bytes = 0;         ///< of its last-level cache
    double multiply_add_gflop_per_s = 0;  ///< float32 multiply-adds, each counted as two
    double pinned_upload_gb_per_s = 0;    ///< from page-locked host memory
    double pageable_upload_gb_per_s = 0;  ///< from ordinary host memory
};

/// The arrays of one problem on a GPU, and the strategies that work on them. Every call throws DeviceError, and
/// Interrupted if its token says so.
class BenchArrays {
  public:
    virtual ~BenchArrays() = default;

    /// Queries that have a row of the matrix; fewer than requested if memory is short.
    virtual std::int64_t n_query() const = 0;

    /// Fills the matrix with this kernel, for every query, without timing it. Returns why it cannot.
    virtual UnsupportedReason fill(const std::string& distance) = 0;

    /// Times a kernel of the table, or one that only `bench` has. It overwrites the first rows of a poisoned
    /// matrix, one per query of the trial.
    virtual Trial time_distance(const std::string& name, const TrialOptions& options) = 0;

    /// Times a selector of the table, or one that only `bench` has, on the first rows of the matrix. It overwrites
    /// poisoned neighbors.
    virtual Trial time_select(const std::string& name, int k, const TrialOptions& options) = 0;

    /// One row of the matrix, n_train values.
    virtual std::vector<std::uint32_t> matrix_row(std::int64_t query) = 0;

    /// Times the copy of all images to the device as floats (as in seed 003), from pinned or pageable memory.
    /// Its `n_query` is all of them.
    virtual Trial time_upload(bool pinned, const TrialOptions& options) = 0;
};

}  // namespace knn
