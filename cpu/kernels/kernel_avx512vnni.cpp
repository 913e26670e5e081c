/// AVX-512 VNNI: vpdpbusd adds four products of unsigned by signed bytes to each of 16 sums, without
/// saturation. A tile of 3 × 16 images × 8 queries takes 24 of 32 registers for its sums.

#include <immintrin.h>

#include <cstring>

#include "cpu/kernels/kernel_scan.h"
#include "cpu/kernels/kernel_zmm.h"

namespace knn::cpu {

namespace {

struct Avx512Vnni : Zmm {
    static constexpr int vectors = 3, queries = 8, query_bytes = 4;
    static constexpr bool has_floors = false;
    using Images = __m512i;
    using Query = __m512i;

    static Images load_images(const std::uint8_t* from) { return _mm512_load_si512(from); }
    static Query load_query(const std::uint8_t* from) {
        int four;
        std::memcpy(&four, from, sizeof four);
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
    static std::uint32_t reaches(Sum products, double scale, const double* image_sums, const double* weights,
                                 double query_sum, double floor) {
        return half_reaches<0>(products, scale, image_sums, weights, query_sum, floor) |
               half_reaches<1>(products, scale, image_sums + 8, weights + 8, query_sum, floor) << 8;
    }

  private:
    template <int half>
    static std::uint32_t half_reaches(Sum products, double scale, const double* image_sums,
                                      const double* weights, double query_sum, double floor) {
        // The unmasked form makes g++ 12 warn of an uninitialized operand (GCC bug 105593).
        constexpr __mmask8 all = 0xff;
        const __m256i eight = _mm512_maskz_extracti64x4_epi64(all, products, half);
        const __m512d exact = _mm512_maskz_cvtepu32_pd(all, eight);
        const __m512d scaled = _mm512_mul_pd(exact, _mm512_set1_pd(scale));
        const __m512d sums = _mm512_mul_pd(_mm512_load_pd(image_sums), _mm512_set1_pd(query_sum));
        const __m512d weighted = _mm512_mul_pd(_mm512_sub_pd(scaled, sums), _mm512_load_pd(weights));
        return _mm512_cmp_pd_mask(weighted, _mm512_set1_pd(floor), _CMP_GE_OQ);
    }
};

bool available() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
}

}  // namespace

constinit const Kernel kernel_avx512vnni =
    kernel_of<Avx512Vnni>("avx512vnni", available, QueryForm::shifted_bytes);
constinit const Kernel differences_avx512vnni =
    kernel_of<Differences, Arithmetic::differences>("avx512vnni", available, QueryForm::bytes);
constinit const Kernel products_avx512vnni =
    kernel_of<Products, Arithmetic::products>("avx512vnni", available, QueryForm::shifted_bytes);

}  // namespace knn::cpu
