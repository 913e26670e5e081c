#pragma once
/// What a selector is, and the table of them.

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <span>

#include "data/core/bench.h"
#include "data/core/round_up.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

inline constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
/// Of selectors that count positions in a row, some loops ahead, in 32 bits.
inline constexpr std::int64_t max_positions = std::int64_t{1} << 30;

/// Where arrays of a workspace begin: at multiples of so many bytes.
inline constexpr std::int64_t workspace_alignment = 256;

/// Rows of which the neighbors are selected.
struct Selection {
    const Problem& problem;  ///< of these queries
    DistanceRows in;         ///< n_query × n_train unsigned 32-bit distances, pitched rows, device memory
    NeighborRows out;        ///< n_query × k neighbors
    void* d_workspace;       ///< for these rows
    cudaStream_t stream;

    template <class T>
    T* workspace() const {
        return static_cast<T*>(d_workspace);
    }
};

struct SelectorOptions {
    /// Of the workspace: what each row of a launch needs, and what the launch needs behind all of them.
    std::int64_t (*row_bytes)(const Problem& problem) = [](const Problem&) { return std::int64_t{0}; };
    std::size_t (*scratch_bytes)(const Problem& problem) = [](const Problem&) -> std::size_t { return 0; };
    std::int64_t workspace_goal = std::int64_t{256} << 20;  ///< bytes of rows
    int row_multiple = 1;                  ///< there is memory for a multiple of so many rows
    bool one_by_one = false;               ///< a launch is of one row
    std::int64_t max_train = unlimited;    ///< distances of a row
    std::int64_t max_k_train = unlimited;  ///< k times these: more would take minutes
    Finds finds = Finds::nearest;
    /// Loads its kernels onto the current device (load_kernels); for selectors that `classic` uses by default.
    void (*load)(const Problem& problem) = [](const Problem&) {};
    int max_k = max_device_k;
};

/// One way to find each row's k smallest distances, ordered by (distance, index). A launch is of as many rows as fit in
/// `workspace_goal`, at least one. The summary is for those that a user can name.
struct Selector : SelectorOptions {
    constexpr Selector(const char* name_, const char* summary_, void (*launch_)(const Selection&),
                       const SelectorOptions& options = {})
        : SelectorOptions(options), name(name_), summary(summary_), launch(launch_) {}

    const char* name;
    const char* summary;
    /// Queues the launches; allocates nothing and waits for nothing. `enqueue` checks the arrays before and the launches after.
    void (*launch)(const Selection& of);

    /// Why it cannot; empty if it can. `problem.n_query` is the batch size.
    UnsupportedReason supports(const Problem& problem) const;
    std::size_t workspace_bytes(const Problem& problem) const;
    /// Launches; asserts that it supports the problem. Throws DeviceError if an array does not have the problem's shape.
    void enqueue(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
                 cudaStream_t stream) const;
};

/// All that a user can name; the first that supports a problem is what `classic` uses.
std::span<const Selector* const> selector_table();
/// Those that only `bench` runs, because each repeats a step of a paper.
std::span<const Selector* const> bench_selector_table();

}  // namespace knn::gpu
