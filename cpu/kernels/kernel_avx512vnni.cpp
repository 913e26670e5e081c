/// AVX-512 VNNI: vpdpbusd adds four products of unsigned by signed bytes to each of 16 sums, without
/// saturation. A tile of 3 × 16 images × 8 queries takes 24 of 32 registers for its sums.

#include <immintrin.h>

#include "cpu/kernels/kernel_scan.h"
#include "cpu/kernels/kernel_vectors.h"

namespace knn::cpu {

namespace {

struct Avx512Vnni : Zmm {
    static constexpr int vectors = 3, queries = 8, query_bytes = 4;
    using Images = __m512i;
    using Query = __m512i;

    static Images load_images(const std::uint8_t* from) { return _mm512_load_si512(from); }
    static Query load_query(const std::uint8_t* from) {
        int four;
        __builtin_memcpy(&four, from, sizeof four);
        return _mm512_set1_epi32(four);
    }
    static Sum multiply_add(Sum sum, Images images, Query query) {
        return _mm512_dpbusd_epi32(sum, images, query);
    }
};

struct Differences : Avx512Vnni {
    static Sum multiply_add(Sum sum, Images images, Query query) {
        return _mm512_dpbusd_epi32(sum, _mm512_min_epu8(images, query), _mm512_set1_epi8(1));
    }
};

struct Products : Avx512Vnni {
    static constexpr bool has_floors = true;

    static Sum distance(Sum sum, Sum image_terms, std::uint32_t) {
        return _mm512_add_epi32(sum, image_terms);
    }
    template <bool both>
    static std::uint32_t reaches(Sum products, const Floors& floors, int image, std::uint32_t query) {
        return half_reaches<0, both>(products, floors, image, query) |
               half_reaches<1, both>(products, floors, image + 8, query) << 8;
    }

  private:
    template <int half, bool both>
    static std::uint32_t half_reaches(Sum products, const Floors& floors, int image, std::uint32_t query) {
        // The unmasked form makes g++ 12 warn of an uninitialized operand (GCC bug 105593).
        constexpr __mmask8 all = 0xff;
        const __m256i eight = _mm512_maskz_extracti64x4_epi64(all, products, half);
        const __m512d exact = _mm512_maskz_cvtepu32_pd(all, eight);
        const __m512d scaled = _mm512_mul_pd(exact, _mm512_set1_pd(floors.scale));
        const __m512d sums = _mm512_mul_pd(_mm512_load_pd(floors.image_sums + image),
                                           _mm512_set1_pd(floors.query_sums[query]));
        const __m512d difference = _mm512_sub_pd(scaled, sums);
        const __m512d weighted = _mm512_mul_pd(difference, _mm512_load_pd(floors.weights + image));
        const std::uint32_t rows =
            _mm512_cmp_pd_mask(weighted, _mm512_set1_pd(floors.floors[query]), _CMP_GE_OQ);
        if constexpr (!both) return rows;
        const __m512d back = _mm512_mul_pd(difference, _mm512_set1_pd(floors.query_weights[query]));
        return rows | _mm512_cmp_pd_mask(back, _mm512_load_pd(floors.image_floors + image), _CMP_GE_OQ);
    }
};

bool available() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
}

}  // namespace

constinit const Kernel kernel_avx512vnni =
    kernel_of<Avx512Vnni>("avx512vnni", available, QueryForm::shifted_bytes, 140);
constinit const Kernel differences_avx512vnni =
    kernel_of<Differences, Arithmetic::differences>("avx512vnni", available, QueryForm::bytes);
constinit const Kernel products_avx512vnni =
    kernel_of<Products, Arithmetic::products>("avx512vnni", available, QueryForm::shifted_bytes, 140);

}  // namespace knn::cpu
