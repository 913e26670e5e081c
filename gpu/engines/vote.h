#pragma once

#include <cuda_runtime.h>

#include "data/core/problem.h"
#include "data/core/searcher.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Queues the majority vote of each query. d_labels: one of each training image; d_votes: neighbors.n_query.
/// `metric` says what the neighbors' scores mean to Weights::distance, which lp has on the CPU alone.
/// Throws DeviceError for lp with it, and where k is out of range.
void enqueue_vote(const NeighborRows& neighbors, const std::uint8_t* d_labels, Weights weights, Tie tie,
                  Vote* d_votes, cudaStream_t stream, Metric metric = Metric::l2);

}  // namespace knn::gpu
