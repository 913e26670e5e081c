#pragma once
/// Shared by the instruction sets with 512-bit registers. Included only by kernel_*.cpp, after <immintrin.h>;
/// in an unnamed namespace for the reason given in kernel.h.

#include <cstdint>

namespace knn::cpu {
namespace {

struct Zmm {
    static constexpr int lanes = 16;
    using Sum = __m512i;

    static Sum zero() { return _mm512_setzero_si512(); }
    static Sum load_sums(const std::uint32_t* from) { return _mm512_load_si512(from); }
    static void store_sums(std::uint32_t* to, Sum sums) { _mm512_storeu_si512(to, sums); }
    static Sum distance(Sum sum, Sum image_terms, std::uint32_t query_term) {
        const Sum terms = _mm512_add_epi32(image_terms, _mm512_set1_epi32(static_cast<int>(query_term)));
        return _mm512_sub_epi32(terms, _mm512_add_epi32(sum, sum));
    }
    static Sum every(std::uint32_t limit) { return _mm512_set1_epi32(static_cast<int>(limit)); }
    static std::uint32_t below(Sum distance, Sum limits) { return _mm512_cmplt_epu32_mask(distance, limits); }
};

}  // namespace
}  // namespace knn::cpu
