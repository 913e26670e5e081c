#pragma once
/// The small kernels around the pass over pairs of a search of a training set with itself (self_search.h).

#include <cuda_runtime.h>

#include "gpu/fused/survivors.cuh"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// The images at n positions as queries: d_norms: ‖q‖², d_indices: of the image, or no_image.
void enqueue_positions(const TrainImage* d_images, std::int64_t n, std::uint32_t* d_norms,
                       std::uint32_t* d_indices, cudaStream_t stream);

/// d_negated[i] = −d_thresholds[i].
void enqueue_negated(const std::int32_t* d_thresholds, std::int64_t n, std::int32_t* d_negated,
                     cudaStream_t stream);

/// Distributes the records of the pass (`records` lists, which it empties) to the lists of their columns.
void enqueue_columns(const TensorPass& pass, int records, cudaStream_t stream);

/// load.h
void load_columns();

/// Copies the neighbors of each position to the row of its image.
void enqueue_reorder(const NeighborRows& by_position, const std::uint32_t* d_indices, const NeighborRows& out,
                     cudaStream_t stream);

}  // namespace knn::gpu
