#pragma once
/// The kernels of re-ranking: descriptors of images, the two parts of the distances of pairs, and the order of
/// candidates.

#include <cuda_runtime.h>

#include "gpu/rerank/form.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Memory that enqueue_describe uses for n images of the form.
std::size_t describe_workspace_bytes(ImageShape shape, const DescriptorForm& form, std::int64_t n);

/// The descriptors of images of this shape, as data/rerank/descriptor.h defines them. What no point or cell has is not
/// written. `out` has room for all of them.
void enqueue_describe(const ByteRows& images, ImageShape shape, const DescriptorForm& form,
                      const DescriptorView& out, void* d_workspace, cudaStream_t stream);

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

/// Load the kernels onto the current device (load_kernels).
void load_describe();
void load_distortion28();
void load_cells28();
void load_plain_pairs();
void load_order();

}  // namespace knn::gpu
