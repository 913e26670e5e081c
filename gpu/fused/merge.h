#pragma once

#include <cuda_runtime.h>

#include "gpu/fused/survivors.cuh"
#include "gpu/views.h"

namespace knn::gpu {

/// Raises each query's threshold to the rank-th best of its survivors so far, those in the first `slots`
/// slots; leaves it where there are fewer, or too many to sort.
void enqueue_raise(const TensorPass& pass, int slots, std::int64_t n_query, int rank,
                   std::int32_t* d_thresholds, cudaStream_t stream);

/// The k nearest among each query's survivors, in order, into `out`; or the query's number into
/// `pass.undecided` where a list ran over, or where fewer than k reach the last threshold or more than a team
/// can sort. train_tiles: of the whole training set.
void enqueue_merge(const TensorPass& pass, const std::uint32_t* d_train_norms,
                   const std::uint32_t* d_query_norms, int train_tiles, const NeighborRows& out,
                   cudaStream_t stream);

}  // namespace knn::gpu
