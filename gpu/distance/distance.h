#pragma once
/// What a distance kernel is, and the table of them.

#include <cuda_runtime.h>

#include <cstddef>
#include <span>

#include "data/problem.h"
#include "gpu/views.h"

namespace knn::gpu {

/// One way to fill the matrix of squared distances.
struct DistanceKernel {
    const char* name;
    const char* summary;
    /// Why it cannot; empty where it can. `problem.n_query` is the size of a batch.
    Refusal (*supports)(const Problem& problem);
    std::size_t (*workspace_bytes)(const Problem& problem);
    /// Queues the launches on `stream`; allocates nothing and waits for nothing. out: problem.n_query ×
    /// problem.n_train.
    void (*enqueue)(const Problem& problem, const FloatRows& train, const FloatRows& query,
                    const DistanceRows& out, void* d_workspace, cudaStream_t stream);
};

/// All of them; the first is what `classic` uses.
std::span<const DistanceKernel* const> distance_table();

}  // namespace knn::gpu
