/// AVX-512 VNNI: vpdpbusd adds four products of unsigned by signed bytes to each of 16 sums, without
/// saturation. A tile of 3 × 16 images × 8 queries takes 24 of 32 registers for its sums.

#include <immintrin.h>

#include <cstring>

#include "cpu/kernel_scan.h"
#include "cpu/kernel_zmm.h"

namespace knn::cpu {

namespace {

struct Avx512Vnni : Zmm {
    static constexpr int vectors = 3, queries = 8, query_bytes = 4;
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

bool available() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
}

}  // namespace

constinit const Kernel kernel_avx512vnni =
    kernel_of<Avx512Vnni>("avx512vnni", available, QueryForm::shifted_bytes);

}  // namespace knn::cpu
