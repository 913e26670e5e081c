#pragma once
/// Kernels that compute distances and select in one pass.

#include <cuda_runtime.h>

#include <cstddef>
#include <span>

#include "data/core/problem.h"
#include "gpu/fused/survivors.cuh"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// One way to compute tiles of scores on tensor cores. Each pass queues one launch on `stream`, allocate
/// nothing and wait for nothing. train: rows in tile order, train_tiles · tile_train of them.
/// Pitches are multiples of 32 bytes; bytes beyond `cols` are zero.
struct TensorKernel {
    const char* name;
    const char* summary;
    /// Why it cannot, on a card of this compute capability (10 · major + minor); empty if it can.
    Refusal (*supports)(const Problem& problem, int compute_capability);
    void (*sample)(const ByteRows& train, const ByteRows& query, const TensorPass& pass, cudaStream_t stream);
    void (*search)(const ByteRows& train, const ByteRows& query, const TensorPass& pass, cudaStream_t stream);
    void (*load)(int dim);  ///< load_kernels; dim: pixels that are multiplied
};

/// All of them, the fastest first.
std::span<const TensorKernel* const> tensor_table();

}  // namespace knn::gpu
