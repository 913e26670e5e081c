#pragma once
/// What a selector is, and the table of them.

#include <cuda_runtime.h>

#include <cstddef>
#include <span>

#include "data/core/problem.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// One way to find each row's k smallest distances, ordered by (distance, index). Members with defaults may
/// be omitted.
struct Selector {
    const char* name;
    const char* summary;
    /// Why it cannot; empty if it can. `problem.n_query` is the batch size.
    Refusal (*supports)(const Problem& problem) = refuse_problem;
    std::size_t (*workspace_bytes)(const Problem& problem) = [](const Problem&) -> std::size_t { return 0; };
    /// Queues the launches on `stream`; allocates nothing and waits for nothing.
    /// in: problem.n_query × problem.n_train; out: problem.n_query × problem.k.
    void (*enqueue)(const Problem& problem, const DistanceRows& in, const NeighborRows& out,
                    void* d_workspace, cudaStream_t stream) = nullptr;
    /// Loads its kernels onto the current device (load_kernels); for selectors that `classic` uses by default.
    void (*load)(const Problem& problem) = [](const Problem&) {};
};

/// `supports` of selectors that count positions in a row, some loops ahead, in 32 bits: refuse_problem, and at most 2³⁰
/// distances.
Refusal refuse_long_rows(const char* name, const Problem& problem);

/// Every `enqueue` asserts that `supports` accepts the problem, and calls this. Throws DeviceError if an array
/// does not have the problem's shape.
void check_arrays(const Problem& problem, const DistanceRows& in, const NeighborRows& out);

/// All of them; the first that supports a problem is what `classic` uses.
std::span<const Selector* const> selector_table();

}  // namespace knn::gpu
