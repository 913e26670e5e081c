#pragma once
/// What the instruction sets with 256-bit registers share. Included by kernel_*.cpp alone, after
/// <immintrin.h>; in an unnamed namespace for the reason given in kernel.h.

#include <cstdint>

namespace knn::cpu {
namespace {

struct Ymm {
    static constexpr int lanes = 8;
    using Sum = __m256i;

    static __m256i load(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }
    static Sum zero() { return _mm256_setzero_si256(); }
    static Sum load_sums(const std::uint32_t* from) { return load(from); }
    static void store_sums(std::uint32_t* to, Sum sums) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
    }
    static Sum distance(Sum sum, Sum image_terms, std::uint32_t query_term) {
        const Sum terms = _mm256_add_epi32(image_terms, _mm256_set1_epi32(static_cast<int>(query_term)));
        return _mm256_sub_epi32(terms, _mm256_add_epi32(sum, sum));
    }
    /// There is no unsigned comparison: the larger of both is the distance where it is not below.
    static std::uint32_t below(Sum distance, std::uint32_t limit) {
        const Sum larger = _mm256_max_epu32(distance, _mm256_set1_epi32(static_cast<int>(limit)));
        const Sum not_below = _mm256_cmpeq_epi32(larger, distance);
        return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(not_below))) ^ 0xffU;
    }
};

}  // namespace
}  // namespace knn::cpu
