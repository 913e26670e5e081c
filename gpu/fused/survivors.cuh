#pragma once
/// Shared by the tensor kernels: the arrays of a pass, and the lists of candidates for the k nearest.
///
/// d² = ‖q‖² + ‖r‖² − 2 q·r. For one query, score = q·r − ⌊‖r‖² / 2⌋ orders the training images except for
/// the lowest bit of ‖r‖², so a candidate below a score that k others reach cannot be among the k nearest.

#include <cassert>
#include <cstdint>

#include "gpu/fused/schedule.h"

namespace knn::gpu {

/// Threads that share a query's row of a tile: the 4 lanes of a quad.
inline constexpr int quad = 4;
/// Maxima per query over the sample: each lane of a quad has 16 groups of columns.
inline constexpr int groups = 16, buckets = quad * groups;

/// Below every real score (‖r‖² / 2 <= 4096 · 255² / 2 < 2²⁸) and above the score of padding.
inline constexpr std::int32_t lowest_threshold = -(1 << 29), padding_score = -(1 << 30);
/// Above every score: for queries that only pad a tile.
inline constexpr std::int32_t closed_threshold = 0x7fffffff;

/// The score of a training image at this distance.
__device__ inline std::int64_t score_at(std::uint32_t distance, std::uint32_t query_norm) {
    // ‖q‖² − d² = 2 score − (‖r‖² is odd)
    return (std::int64_t{query_norm} - std::int64_t{distance} + 1) >> 1;
}

/// A training image in tile order.
struct alignas(8) TrainImage {
    std::uint32_t norm;   ///< ‖r‖²
    std::uint32_t index;  ///< in the training set, or no_image
};
inline constexpr std::uint32_t no_image = 0xffffffff;

/// Survivors: n × slots × quad lists, each of `capacity` groups of four training images of which at least one
/// reached its query's threshold. Their positions in tile order are position + {0, 1, 8, 9}, the columns that
/// one thread holds.
struct SurvivorLists {
    int4* d_products = nullptr;            ///< q·r of the four
    std::uint32_t* d_positions = nullptr;  ///< of the first
    std::int32_t* d_counts = nullptr;      ///< per list; above capacity: overflow. 0 between searches
    int capacity = 0;

    static constexpr std::size_t bytes_per_group = sizeof(int4) + sizeof(std::uint32_t);
};

/// Queries whose survivors do not decide the answer; enqueue_brute_force searches them again.
struct Undecided {
    std::int32_t* d_count = nullptr;
    std::int32_t* d_queries = nullptr;  ///< capacity: all queries
};

/// What a pass of a tensor kernel does with its products.
enum class PassKind {
    sample,  ///< keeps maxima, for thresholds
    search,  ///< keeps the training images that reach their query's threshold
};

/// The arrays of one pass of a tensor kernel; n = query_tiles · tile_queries, the padded number of queries.
struct TensorPass {
    Schedule schedule;
    int dim = 0;
    const TrainImage* d_images = nullptr;          ///< in tile order
    const std::int32_t* d_score_bias = nullptr;    ///< −⌊‖r‖² / 2⌋ or padding_score, in tile order
    const std::uint32_t* d_query_norms = nullptr;  ///< ‖q‖²
    std::int32_t* d_thresholds = nullptr;          ///< n
    std::int32_t* d_maxima = nullptr;              ///< n × sample_slots × buckets, from the sampling pass
    int sample_slots = 0;
    SurvivorLists lists;
    int slots = 0;
    Undecided undecided;
};

/// A thread's own list for one query and piece. No other thread writes to it, so no atomics are needed.
class SurvivorList {
  public:
    __device__ SurvivorList(const TensorPass& pass, std::int64_t query, int slot, int lane)
        : list_((query * pass.slots + slot) * quad + lane % quad),
          d_products_(pass.lists.d_products + list_ * pass.lists.capacity),
          d_positions_(pass.lists.d_positions + list_ * pass.lists.capacity) {}

    /// Adds a group if `best`, the highest of its scores, reaches the limit. Inline PTX, because the compiler
    /// would add branches and reload the pointers.
    __device__ void add_if_reaches(std::int32_t limit, std::int32_t best, const int4& products,
                                   std::uint32_t position, int capacity) {
        assert(count_ >= 0 && capacity >= 1);
        asm volatile(
            "{\n"
            ".reg .pred reaches, fits;\n"
            ".reg .b64 at;\n"
            "setp.ge.s32 reaches, %1, %2;\n"
            "setp.lt.and.s32 fits, %0, %3, reaches;\n"
            "mad.wide.s32 at, %0, 16, %4;\n"
            "@fits st.global.v4.b32 [at], {%6, %7, %8, %9};\n"
            "mad.wide.s32 at, %0, 4, %5;\n"
            "@fits st.global.b32 [at], %10;\n"
            "@reaches add.s32 %0, %0, 1;\n"
            "}\n"
            : "+r"(count_)
            : "r"(best), "r"(limit), "r"(capacity), "l"(d_products_), "l"(d_positions_), "r"(products.x),
              "r"(products.y), "r"(products.z), "r"(products.w), "r"(position)
            : "memory");
    }
    __device__ void close(const TensorPass& pass) const {
        assert(list_ < std::int64_t{pass.schedule.query_tiles} * tile_queries * pass.slots * quad);
        pass.lists.d_counts[list_] = count_;
    }

  private:
    std::int64_t list_;
    int4* d_products_;
    std::uint32_t* d_positions_;
    int count_ = 0;
};

}  // namespace knn::gpu
