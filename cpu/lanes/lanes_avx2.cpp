#include <immintrin.h>

namespace {

constexpr int lane_bytes = 32;  // of a register

}  // namespace

#include "cpu/lanes/rerank_lanes.h"
#include "cpu/lanes/transform_lanes.h"

namespace knn::cpu {

namespace {

struct Avx2 {
    static constexpr int lanes = 16;
    using Lanes [[gnu::vector_size(32)]] = std::uint16_t;
    using Words [[gnu::vector_size(32)]] = std::uint32_t;

    static __m256i raw(Lanes a) { return reinterpret_cast<__m256i>(a); }
    static Lanes squares(Lanes a, Lanes b) {
        const __m256i size = _mm256_abs_epi8(_mm256_sub_epi8(raw(a), raw(b)));
        return reinterpret_cast<Lanes>(_mm256_maddubs_epi16(size, size));
    }
    static Lanes dot(Lanes h, Lanes g) {
        return reinterpret_cast<Lanes>(_mm256_maddubs_epi16(raw(h), raw(g)));
    }
    static Lanes min(Lanes a, Lanes b) { return reinterpret_cast<Lanes>(_mm256_min_epu16(raw(a), raw(b))); }
    static Lanes signed_min(Lanes a, Lanes b) {
        return reinterpret_cast<Lanes>(_mm256_min_epi16(raw(a), raw(b)));
    }
    static Lanes load_eight(const std::uint8_t* const* rows, std::int64_t offset) {
        const auto eight = [&](int row) {
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[row] + offset));
        };
        return reinterpret_cast<Lanes>(_mm256_set_m128i(eight(8), eight(0)));
    }
    static Lanes interleave_low(Lanes a, Lanes b) {
        return reinterpret_cast<Lanes>(_mm256_unpacklo_epi16(raw(a), raw(b)));
    }
    static Lanes interleave_high(Lanes a, Lanes b) {
        return reinterpret_cast<Lanes>(_mm256_unpackhi_epi16(raw(a), raw(b)));
    }
};

}  // namespace

constinit const LaneKernels lanes_avx2 = {.transform = {shear_rows, sum_histograms},
                                          .rerank = rerank_kernel<Avx2>()};

}  // namespace knn::cpu
