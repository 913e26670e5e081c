#include <immintrin.h>

#include "cpu/rerank/lanes.h"

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
};

}  // namespace

constinit const RerankKernel rerank_avx512 = rerank_kernel<Avx512>("avx512");

}  // namespace knn::cpu
