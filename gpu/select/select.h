#pragma once
/// What a selector is, and the table of them.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "data/core/problem.h"
#include "data/core/round_up.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// One way to find each row's k smallest distances, ordered by (distance, index). Members with defaults may
/// be omitted.
struct Selector {
    const char* name;
    const char* summary;
    /// Why it cannot, beside the limits of all engines; empty if it can.
    UnsupportedReason (*refuse)(const Problem& problem) = [](const Problem&) { return UnsupportedReason(); };
    std::size_t (*workspace_bytes)(const Problem& problem) = [](const Problem&) -> std::size_t { return 0; };
    /// Queues the launches on `stream`; allocates nothing and waits for nothing.
    /// in: problem.n_query × problem.n_train; out: problem.n_query × problem.k. `enqueue` has checked the arrays.
    void (*launch)(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
                   cudaStream_t stream) = nullptr;
    /// Loads its kernels onto the current device (load_kernels); for selectors that `classic` uses by default.
    void (*load)(const Problem& problem) = [](const Problem&) {};
    int max_k = max_device_k;
    /// Positions in a row are counted, some loops ahead, in 32 bits: it takes at most 2³⁰ distances.
    bool limits_rows = false;

    /// Why it cannot; empty if it can. `problem.n_query` is the batch size.
    UnsupportedReason supports(const Problem& problem) const;
    /// Launches; asserts that it supports the problem. Throws DeviceError if an array does not have the problem's shape.
    void enqueue(const Problem& problem, const DistanceRows& in, const NeighborRows& out, void* d_workspace,
                 cudaStream_t stream) const;
};

/// How many of `rows` rows of `row_bytes` are selected from at once: as many as fit in a workspace of `goal`, at least one.
inline std::int64_t rows_at_once(std::int64_t rows, std::int64_t row_bytes, std::int64_t goal) {
    return std::clamp<std::int64_t>(goal / row_bytes, 1, std::max<std::int64_t>(rows, 1));
}

/// All of them; the first that supports a problem is what `classic` uses.
std::span<const Selector* const> selector_table();

}  // namespace knn::gpu
