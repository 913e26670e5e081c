#pragma once
/// The kernels that compute a part of the distances of pairs, and the one that orders them.

#include <cuda_runtime.h>

#include "gpu/rerank/form.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// One part of the distance of each query to each of its candidates.
struct PairTask {
    const std::uint8_t* d_query = nullptr;  ///< descriptors of candidates.n_query images
    const std::uint8_t* d_train = nullptr;  ///< descriptors of all images that candidates name
    NeighborRows candidates;                ///< only their indices are read
    std::uint32_t* d_scores = nullptr;      ///< n_query × candidates.k
    bool add = false;                       ///< scores += distance, else scores = distance
};

/// Of images of 28 × 28 pixels, in the form for them.
void enqueue_distortion28(const PairTask& task, cudaStream_t stream);
void enqueue_cells28(const PairTask& task, cudaStream_t stream);

/// Of any images, in plain loops over any form.
void enqueue_plain_distortion(const PairTask& task, const GradientForm& form, cudaStream_t stream);
void enqueue_plain_cells(const PairTask& task, const CellForm& form, cudaStream_t stream);

/// The out.k first of each query's candidates by (score, index), 1 <= out.k <= candidates.k <= max_k. d_density: a
/// factor for each training image (data/rerank/density.h), or null.
void enqueue_order(const NeighborRows& candidates, const std::uint32_t* d_scores,
                   const std::uint32_t* d_density, const NeighborRows& out, cudaStream_t stream);

/// Load the kernels onto the current device.
void load_distortion28();
void load_cells28();
void load_plain_pairs();
void load_order();

}  // namespace knn::gpu
