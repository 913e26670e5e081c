#pragma once

#include <cuda_runtime.h>

#include "gpu/fused/survivors.cuh"
#include "gpu/runtime/views.h"
#include "gpu/select/topk.cuh"

namespace knn::gpu {

/// Blocks of a scan, and their shared workspace.
int scan_blocks();
struct ScanWorkspace {
    NeighborKey* d_keys = nullptr;       ///< scan_blocks() × k
    std::int32_t* d_finished = nullptr;  ///< scan_blocks(); 0 before and after a scan
};

/// The k nearest of the undecided queries among `known` and the training images, by comparing each with every one.
/// train and d_images: in tile order.
void enqueue_scan(const ByteRows& train, const TrainImage* d_images, const ByteRows& query,
                  const std::uint32_t* d_query_norms, const NeighborRows& out, const Undecided& undecided,
                  const Excluded& excluded, const KnownRows& known, const ScanWorkspace& workspace,
                  cudaStream_t stream);

/// load.h
void load_scan();

}  // namespace knn::gpu
