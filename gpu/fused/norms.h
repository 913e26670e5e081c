#pragma once
/// What the fused search computes of single images and queries before and between its passes.

#include <cuda_runtime.h>

#include "gpu/fused/survivors.cuh"
#include "gpu/views.h"

namespace knn::gpu {

/// ‖r‖² of each training image into d_norms (train.n), and −⌊‖r‖² / 2⌋ in the order of the tiles into
/// d_score_bias (tile_stride · tile_train; padding_score beyond the last image).
void enqueue_train_norms(const ByteRows& train, int tile_stride, std::uint32_t* d_norms,
                         std::int32_t* d_score_bias, cudaStream_t stream);

/// ‖q‖² of each query into d_norms (query.n), and clears the rows of the pass that belong to the query tiles:
/// counts to 0, maxima to padding_score, and no query is undecided.
void enqueue_query_norms(const ByteRows& query, const TensorPass& pass, std::uint32_t* d_norms,
                         cudaStream_t stream);

/// The rank-th largest of each query's maxima (1 <= rank <= buckets) becomes its threshold; rank 0 closes all
/// queries. Rows beyond n_query are closed.
void enqueue_thresholds(const TensorPass& pass, std::int64_t n_query, int rank, std::int32_t* d_thresholds,
                        cudaStream_t stream);

}  // namespace knn::gpu
