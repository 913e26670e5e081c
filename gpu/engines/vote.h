#pragma once

#include <cuda_runtime.h>

#include "data/core/problem.h"
#include "data/core/voting.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Loads the kernel onto the current device (load_kernels).
void load_vote();

/// Queues the majority vote of each query. d_labels: one of each training image; d_votes: neighbors.n_query.
/// `metric` says what the neighbors' scores mean to Weights::distance. Throws DeviceError where the
/// weights of lp are not uniform, and where k is out of range.
void enqueue_vote(const NeighborRows& neighbors, const std::uint8_t* d_labels, Weights weights, Tie tie,
                  Vote* d_votes, cudaStream_t stream, Metric metric = Metric::l2);

/// Queues the copy of neighbors to arrays of the caller, each n_query × k or null. Scores that are not integral are floats.
void enqueue_answers(const NeighborRows& found, bool is_integral, std::uint32_t* d_indices,
                     double* d_distances, cudaStream_t stream);

}  // namespace knn::gpu
