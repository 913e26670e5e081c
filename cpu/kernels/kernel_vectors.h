#pragma once
/// Shared by the instruction sets with 256-bit and 512-bit registers. Included only by kernel_*.cpp, after <immintrin.h>;
/// in an unnamed namespace for the reason given in kernel.h.

#include <cstdint>

namespace knn::cpu {
namespace {

struct Ymm {
    static constexpr int lanes = 8, vectors = 2;
    static constexpr bool has_floors = false;
    using Sum = __m256i;
    using Images = __m256i;
    using Query = __m256i;

    static __m256i load(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }
    static Sum zero() { return _mm256_setzero_si256(); }
    static Sum load_sums(const std::uint32_t* from) { return load(from); }
    static void store_sums(std::uint32_t* to, Sum sums) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
    }
    static Images load_images(const std::uint8_t* from) { return load(from); }
    static Query load_query(const std::uint8_t* from) {
        int four;
        __builtin_memcpy(&four, from, sizeof four);
        return _mm256_set1_epi32(four);
    }
    static Sum distance(Sum sum, Sum image_terms, std::uint32_t query_term) {
        const Sum terms = _mm256_add_epi32(image_terms, _mm256_set1_epi32(static_cast<int>(query_term)));
        return _mm256_sub_epi32(terms, _mm256_add_epi32(sum, sum));
    }
    /// There is no unsigned comparison: distance is not below if it equals the maximum of both.
    static Sum every(std::uint32_t limit) { return _mm256_set1_epi32(static_cast<int>(limit)); }
    static std::uint32_t below(Sum distance, Sum limits) {
        const Sum larger = _mm256_max_epu32(distance, limits);
        const Sum not_below = _mm256_cmpeq_epi32(larger, distance);
        return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(not_below))) ^ 0xffU;
    }
};

/// Which products are hits, for sets with 256-bit registers.
template <class Set>
struct YmmProducts : Set {
    static constexpr bool has_floors = true;

    static __m256i distance(__m256i sum, __m256i image_terms, std::uint32_t) {
        return _mm256_add_epi32(sum, image_terms);
    }
    template <bool both>
    static std::uint32_t reaches(__m256i products, const Floors& floors, int image, std::uint32_t query) {
        return half_reaches<both>(_mm256_castsi256_si128(products), floors, image, query) |
               half_reaches<both>(_mm256_extracti128_si256(products, 1), floors, image + 4, query) << 4;
    }

  private:
    /// Only signed integers can be converted: subtracts 2³¹ before and adds it after.
    template <bool both>
    static std::uint32_t half_reaches(__m128i products, const Floors& floors, int image,
                                      std::uint32_t query) {
        const __m128i shifted = _mm_xor_si128(products, _mm_set1_epi32(INT32_MIN));
        const __m256d exact = _mm256_add_pd(_mm256_cvtepi32_pd(shifted), _mm256_set1_pd(0x1p31));
        const __m256d scaled = _mm256_mul_pd(exact, _mm256_set1_pd(floors.scale));
        const __m256d sums = _mm256_mul_pd(_mm256_load_pd(floors.image_sums + image),
                                           _mm256_set1_pd(floors.query_sums[query]));
        const __m256d difference = _mm256_sub_pd(scaled, sums);
        const __m256d weighted = _mm256_mul_pd(difference, _mm256_load_pd(floors.weights + image));
        __m256d hits = _mm256_cmp_pd(weighted, _mm256_set1_pd(floors.floors[query]), _CMP_GE_OQ);
        if constexpr (both) {
            const __m256d back = _mm256_mul_pd(difference, _mm256_set1_pd(floors.query_weights[query]));
            const __m256d image_floors = _mm256_load_pd(floors.image_floors + image);
            hits = _mm256_or_pd(hits, _mm256_cmp_pd(back, image_floors, _CMP_GE_OQ));
        }
        return static_cast<std::uint32_t>(_mm256_movemask_pd(hits));
    }
};

#ifdef __AVX512F__
struct Zmm {
    static constexpr int lanes = 16;
    static constexpr bool has_floors = false;
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
#endif

}  // namespace
}  // namespace knn::cpu
