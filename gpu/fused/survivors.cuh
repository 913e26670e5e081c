#pragma once
/// What the tensor kernels share: the arrays of a pass, and how a candidate that may be among the k nearest is
/// kept.
///
/// d² = ‖q‖² + ‖r‖² − 2 q·r. For one query, score = q·r − ⌊‖r‖² / 2⌋ orders the training images but for the
/// lowest bit of ‖r‖², so a candidate below a score that k others reach cannot be among the k nearest.

#include <cstdint>

#include "gpu/fused/schedule.h"

namespace knn::gpu {

/// A training image that passed a query's threshold.
struct Survivor {
    std::int32_t score;
    std::uint32_t index;
};

/// Threads that see a part of a query's tile row each: 4 lanes of a quad.
inline constexpr int quad = 4;
/// Maxima of one query over the sample: each lane of a quad has 16 groups of columns.
inline constexpr int groups = 16, buckets = quad * groups;

/// Below every true score (‖r‖² / 2 <= 4096 · 255² / 2 < 2²⁸) and above padding's.
inline constexpr std::int32_t lowest_threshold = -(1 << 29), padding_score = -(1 << 30);
/// Above every score: for queries that only fill up a tile.
inline constexpr std::int32_t closed_threshold = 0x7fffffff;

/// Queries whose survivors do not decide the answer, to be searched again by enqueue_scan.
struct Undecided {
    std::int32_t* d_count = nullptr;
    std::int32_t* d_queries = nullptr;  ///< room for all queries
};

/// The arrays of one pass of a tensor kernel; n = query_tiles · tile_queries rows where a query is meant.
struct TensorPass {
    Schedule schedule;
    int dim = 0;
    int tile_stride = 1;                        ///< tiles of the training set, of which a pass may see a part
    const std::int32_t* d_score_bias = nullptr;  ///< −⌊‖r‖² / 2⌋ or padding_score, in the order of the tiles
    const std::int32_t* d_thresholds = nullptr;  ///< n
    std::int32_t* d_maxima = nullptr;            ///< n × buckets; the sampling pass raises them
    Survivor* d_survivors = nullptr;             ///< n × slots × quad × capacity
    std::int32_t* d_counts = nullptr;  ///< n × slots × quad: how many there were, kept or not; 0 before
    int slots = 0, capacity = 0;
    Undecided undecided;
};

/// A thread's own list for one query and piece. No other thread writes to it, so nothing is atomic.
struct SurvivorList {
    Survivor* d_entries;
    std::int32_t* d_count;
    int count, last;

    __device__ SurvivorList(const TensorPass& pass, std::int64_t query, int slot, int lane)
        : count(0), last(pass.capacity - 1) {
        const std::int64_t list = (query * pass.slots + slot) * quad + lane % quad;
        d_entries = pass.d_survivors + list * pass.capacity;
        d_count = pass.d_counts + list;
    }
    /// A full list goes on counting; the merge then knows that it is not whole.
    __device__ void add(std::int32_t score, std::uint32_t index) {
        d_entries[min(count, last)] = {score, index};
        ++count;
    }
    __device__ void close() const { *d_count = count; }
};

}  // namespace knn::gpu
