#pragma once

#include <cuda_runtime.h>

#include "gpu/fused/survivors.cuh"
#include "gpu/views.h"

namespace knn::gpu {

/// The k nearest among each query's survivors, in order, into `out`; or the query's number into
/// `pass.undecided` where a list ran over, where there were fewer than k, or more than a team can sort.
void enqueue_merge(const TensorPass& pass, const std::uint32_t* d_train_norms,
                   const std::uint32_t* d_query_norms, const NeighborRows& out, cudaStream_t stream);

/// The k nearest of the undecided queries by comparing each with every training image.
void enqueue_scan(const ByteRows& train, const ByteRows& query, const NeighborRows& out,
                  const Undecided& undecided, cudaStream_t stream);

}  // namespace knn::gpu
