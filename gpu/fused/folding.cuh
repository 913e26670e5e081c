#pragma once
/// What the fold of survivors and the refinement of sketches share: where the best of a query go after a pass, and what
/// becomes of its threshold.

#include "gpu/fused/fused.h"

namespace knn::gpu {

struct Folding {
    TensorPass pass;
    FoldStep step;
    NeighborRows out;
    LeftOut left_out;
    KnownRows known;

    __device__ NeighborKey key_before(std::int64_t query, int i) const {
        const Neighbor* before = step.is_first ? known.d_data : out.d_data;
        if (before == nullptr) return no_key;
        const Neighbor neighbor = before[query * out.k + i];
        return NeighborKey{neighbor.distance} << 32 | neighbor.index;  // of an image, or no_key
    }
    __device__ void leave_undecided(std::int64_t query) const {
        if (step.is_last)
            pass.undecided.d_queries[atomicAdd(pass.undecided.d_count, 1)] = static_cast<std::int32_t>(query);
        else
            pass.d_thresholds[query] =
                closed_threshold;  // no survivors in the next pass: the last fold notices
    }
    /// Index of the neighbor that `conclude` takes: the k-th, or before the last pass the rank-th.
    __device__ int deciding() const { return (step.is_last ? out.k : step.rank) - 1; }
    /// By one thread, when the best are known: raises the threshold for the next pass, or after the last one
    /// checks that the best are final.
    __device__ void conclude(std::int64_t query, NeighborKey best, std::uint32_t query_norm,
                             std::int32_t threshold) const {
        const std::int64_t score = score_at(static_cast<std::uint32_t>(best >> 32), query_norm);
        if (!step.is_last) {
            if (best != no_key) pass.d_thresholds[query] = max(threshold, static_cast<std::int32_t>(score));
        } else if (best == no_key || score < threshold) {
            leave_undecided(query);
        }
    }
};

}  // namespace knn::gpu
