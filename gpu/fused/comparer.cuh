#pragma once
/// First step of the selection, on accumulators in registers: keeps scores that reach the query's threshold.

#include <cassert>

#include "gpu/fused/survivors.cuh"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

/// A thread compares two queries, 8 rows apart, with the columns 8 · j + 2 · (lane % 4) + {0, 1} of each
/// tile, j = 0..31. sums[4 · j + e] belongs to the upper query (e = 0, 1) or the lower (e = 2, 3), and to
/// column 8 · j + 2 · (lane % 4) + e % 2: the accumulator layout of the mma and wgmma instructions.
template <PassKind kind>
class Comparer {
  public:
    __device__ Comparer(const TensorPass& pass, const Piece& piece, int row)
        : pass_(pass),
          lane_(static_cast<int>(threadIdx.x) % 32),
          slot_(piece.slot),
          query_(std::int64_t{piece.query_tile} * tile_queries + row),
          upper_(pass, query_, piece.slot, lane_),
          lower_(pass, query_ + 8, piece.slot, lane_) {
        assert(piece.slot >= 0 && piece.slot < (sampling ? pass.sample_slots : pass.slots));
        assert(row >= 0 && row + 8 < tile_queries && piece.query_tile < pass.schedule.query_tiles);
        if constexpr (sampling) {
            for (int g = 0; g < groups; ++g)
                upper_max_[g] = lower_max_[g] = padding_score;
        } else {
            upper_limit_ = pass.d_thresholds[query_];
            lower_limit_ = pass.d_thresholds[query_ + 8];
        }
    }

    /// The sums of one half of the tile's columns.
    template <int half>
    __device__ void compare(const int (&sums)[128], int tile, const std::int32_t* bias) {
        const int2* pairs = reinterpret_cast<const int2*>(bias) + lane_ % quad;
        [[maybe_unused]] unsigned hits = 0;
        [[maybe_unused]] int upper[groups / 2], lower[groups / 2];
#pragma unroll
        for (int i = 0; i < groups / 2; ++i) {
            const int g = half * groups / 2 + i;
            const int2 a = pairs[8 * g], b = pairs[8 * g + 4];
            const int* s = &sums[8 * g];
            if constexpr (sampling) {
                upper_max_[g] = highest(upper_max_[g], s[0], s[1], s[4], s[5], a, b);
                lower_max_[g] = highest(lower_max_[g], s[2], s[3], s[6], s[7], a, b);
            } else {
                upper[i] = highest(padding_score, s[0], s[1], s[4], s[5], a, b);
                lower[i] = highest(padding_score, s[2], s[3], s[6], s[7], a, b);
                if (upper[i] >= upper_limit_ || lower[i] >= lower_limit_) hits |= 1u << i;
            }
        }
        if constexpr (!sampling) {
            hits = warp_or(hits);
            if (hits != 0) keep<half>(sums, upper, lower, tile, hits);
        }
    }

    __device__ void close() const {
        if constexpr (sampling) {
            store_maxima(query_, upper_max_);
            store_maxima(query_ + 8, lower_max_);
        } else {
            upper_.close(pass_);
            lower_.close(pass_);
        }
    }

  private:
    static constexpr bool sampling = kind == PassKind::sample;

    /// Each lane stores 16 consecutive buckets.
    __device__ void store_maxima(std::int64_t query, const int (&maxima)[sampling ? groups : 1]) const {
        auto* d_buckets = reinterpret_cast<int4*>(
            pass_.d_maxima + (query * pass_.sample_slots + slot_) * buckets + lane_ % quad * groups);
        if constexpr (sampling)
            for (int g = 0; g < groups; g += 4)
                d_buckets[g / 4] = make_int4(maxima[g], maxima[g + 1], maxima[g + 2], maxima[g + 3]);
    }
    __device__ static int highest(int start, int s0, int s1, int s2, int s3, int2 a, int2 b) {
        return __viaddmax_s32(
            s3, b.y, __viaddmax_s32(s2, b.x, __viaddmax_s32(s1, a.y, __viaddmax_s32(s0, a.x, start))));
    }

    /// Iterates over the groups in which any lane of the warp has a hit.
    template <int half>
    __device__ void keep(const int (&sums)[128], const int (&upper)[groups / 2],
                         const int (&lower)[groups / 2], int tile, unsigned hits) {
        const auto first = static_cast<std::uint32_t>(tile * tile_train + 2 * (lane_ % quad));
        const int capacity = pass_.lists.capacity;
#pragma unroll
        for (int i = 0; i < groups / 2; ++i) {
            if ((hits >> i & 1) == 0) continue;
            const int g = half * groups / 2 + i;
            const int* s = &sums[8 * g];
            upper_.add_if_reaches(upper_limit_, upper[i], make_int4(s[0], s[1], s[4], s[5]), first + 16 * g,
                                  capacity);
            lower_.add_if_reaches(lower_limit_, lower[i], make_int4(s[2], s[3], s[6], s[7]), first + 16 * g,
                                  capacity);
        }
    }

    const TensorPass& pass_;
    int lane_, slot_;
    std::int64_t query_;
    SurvivorList upper_, lower_;
    int upper_limit_ = 0, lower_limit_ = 0;
    int upper_max_[sampling ? groups : 1], lower_max_[sampling ? groups : 1];
};

}  // namespace knn::gpu
