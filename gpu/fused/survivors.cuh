#pragma once
/// What the tensor kernels share: the arrays of a pass, and how a candidate that may be among the k nearest
/// is kept.
///
/// d² = ‖q‖² + ‖r‖² − 2 q·r. For one query, score = q·r − ⌊‖r‖² / 2⌋ orders the training images but for the
/// lowest bit of ‖r‖², so a candidate below a score that k others reach cannot be among the k nearest.

#include <cassert>
#include <cstdint>

#include "gpu/fused/schedule.h"

namespace knn::gpu {

/// A training image that passed a query's threshold, by its place in the order of the tiles.
struct alignas(8) Survivor {
    std::int32_t score;
    std::uint32_t place;
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
    const std::int32_t* d_score_bias = nullptr;  ///< −⌊‖r‖² / 2⌋ or padding_score, in the order of the tiles
    const std::int32_t* d_thresholds = nullptr;  ///< n
    std::int32_t* d_maxima = nullptr;            ///< n × sample_slots × buckets, from the sampling pass
    int sample_slots = 0;
    Survivor* d_survivors = nullptr;  ///< n × slots × quad × capacity
    std::int32_t* d_counts =
        nullptr;                  ///< n × slots × quad; more than capacity: survivors were lost. 0 before
    int slots = 0, capacity = 0;  ///< capacity >= most_at_once
    Undecided undecided;
};

/// A thread's own list for one query and piece. No other thread writes to it, so nothing is atomic.
class SurvivorList {
  public:
    /// Survivors that may be added between two calls of make_room.
    static constexpr int most_at_once = 4;

    __device__ SurvivorList(const TensorPass& pass, std::int64_t query, int slot, int lane)
        : list_((query * pass.slots + slot) * quad + lane % quad),
          d_next_(pass.d_survivors + list_ * pass.capacity),
          d_last_(d_next_ + pass.capacity - most_at_once) {}

    __device__ void make_room() {
        if (d_next_ > d_last_) {
            d_next_ = d_last_;
            lost_ = true;
        }
    }
    /// Adds what reaches the limit. Written out, because the compiler branches and reloads around it.
    __device__ void add_if_reaches(std::int32_t limit, std::int32_t score, std::uint32_t place) {
        assert(d_next_ < d_last_ + most_at_once);
        asm volatile(
            "{\n"
            ".reg .pred reaches;\n"
            "setp.ge.s32 reaches, %1, %2;\n"
            "@reaches st.global.v2.b32 [%0], {%1, %3};\n"
            "@reaches add.u64 %0, %0, %4;\n"
            "}\n"
            : "+l"(d_next_)
            : "r"(score), "r"(limit), "r"(place), "n"(sizeof(Survivor))
            : "memory");
    }
    __device__ void close(const TensorPass& pass) const {
        assert(pass.capacity >= most_at_once && list_ < most_lists(pass));
        const auto count = static_cast<int>(d_next_ - (pass.d_survivors + list_ * pass.capacity));
        pass.d_counts[list_] = lost_ ? pass.capacity + 1 : count;
    }

  private:
    __device__ static std::int64_t most_lists(const TensorPass& pass) {
        return std::int64_t{pass.schedule.query_tiles} * tile_queries * pass.slots * quad;
    }

    std::int64_t list_;
    Survivor *d_next_, *d_last_;
    bool lost_ = false;
};

}  // namespace knn::gpu
