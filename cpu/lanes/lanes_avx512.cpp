#include <immintrin.h>

namespace {

constexpr int lane_bytes = 64;  // of a register

}  // namespace

#include "cpu/lanes/rerank_lanes.h"
#include "cpu/lanes/transform_lanes.h"

namespace knn::cpu {

namespace {

struct Avx512 {
    static constexpr int lanes = 32;
    using Lanes [[gnu::vector_size(64)]] = std::uint16_t;
    using Words [[gnu::vector_size(64)]] = std::uint32_t;

    static __m512i raw(Lanes a) { return reinterpret_cast<__m512i>(a); }
    static Lanes squares(Lanes a, Lanes b) {
        const __m512i size = _mm512_abs_epi8(_mm512_sub_epi8(raw(a), raw(b)));
        return reinterpret_cast<Lanes>(_mm512_maddubs_epi16(size, size));
    }
    static Lanes dot(Lanes h, Lanes g) {
        return reinterpret_cast<Lanes>(_mm512_maddubs_epi16(raw(h), raw(g)));
    }
    static Lanes min(Lanes a, Lanes b) { return reinterpret_cast<Lanes>(_mm512_min_epu16(raw(a), raw(b))); }
    static Lanes signed_min(Lanes a, Lanes b) {
        return reinterpret_cast<Lanes>(_mm512_min_epi16(raw(a), raw(b)));
    }
    static Lanes load_eight(const std::uint8_t* const* rows, std::int64_t offset) {
        const auto eight = [&](int row) {
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[row] + offset));
        };
        __m512i all = _mm512_castsi128_si512(eight(0));
        all = _mm512_inserti32x4(all, eight(8), 1);
        all = _mm512_inserti32x4(all, eight(16), 2);
        return reinterpret_cast<Lanes>(_mm512_inserti32x4(all, eight(24), 3));
    }
    static Lanes interleave_low(Lanes a, Lanes b) {
        return reinterpret_cast<Lanes>(_mm512_unpacklo_epi16(raw(a), raw(b)));
    }
    static Lanes interleave_high(Lanes a, Lanes b) {
        return reinterpret_cast<Lanes>(_mm512_unpackhi_epi16(raw(a), raw(b)));
    }
};

}  // namespace

constinit const LaneKernels lanes_avx512 = {.transform = {shear_rows, sum_histograms},
                                            .rerank = rerank_kernel<Avx512>()};

}  // namespace knn::cpu
