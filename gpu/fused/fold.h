#pragma once

#include <cuda_runtime.h>

#include "gpu/fused/survivors.cuh"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Parameters of the fold after one pass of the search. `out` keeps the best from pass to pass.
struct FoldStep {
    bool is_first = true;  ///< `out` holds nothing yet
    bool is_last = true;   ///< gives the answer; else raises each threshold to the rank-th best so far
    int rank = 0;          ///< 1 <= rank <= k
    KnownRows known = {};  ///< compete with the survivors
};

/// Folds the survivors of a pass into the k best of each query, and empties their lists. After the last pass,
/// queries that the survivors do not decide go into `pass.undecided`: a list overflowed, there were more than
/// a team can sort, or fewer than k reach the last threshold.
///
/// d_images: in tile order; d_thresholds: one per query.
void enqueue_fold(const TensorPass& pass, const FoldStep& step, const TrainImage* d_images,
                  const std::uint32_t* d_query_norms, std::int32_t* d_thresholds, const NeighborRows& out,
                  const Excluded& excluded, cudaStream_t stream);

/// load.h, for this k.
void load_fold(int k);

}  // namespace knn::gpu
