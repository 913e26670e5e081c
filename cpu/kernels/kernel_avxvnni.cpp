/// AVX-VNNI: vpdpbusd on 256-bit registers, for processors without AVX-512. A tile of 2 × 8 images × 6
/// queries takes 12 of 16 registers for its sums.

#include <cpuid.h>
#include <immintrin.h>

#include "cpu/kernels/kernel_scan.h"
#include "cpu/kernels/kernel_vectors.h"

namespace knn::cpu {

namespace {

struct AvxVnni : Ymm {
    static constexpr int queries = 6, query_bytes = 4;

    static Sum multiply_add(Sum sum, Images images, Query query) {
        return _mm256_dpbusd_avx_epi32(sum, images, query);
    }
};

struct Differences : AvxVnni {
    static Sum multiply_add(Sum sum, Images images, Query query) {
        return _mm256_dpbusd_avx_epi32(sum, _mm256_min_epu8(images, query), _mm256_set1_epi8(1));
    }
};

/// cpuid leaf 7, subleaf 1, bit 4 of EAX. AVX2 support implies that the operating system saves the registers.
bool available() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 &&
           (eax >> 4 & 1) != 0;
}

}  // namespace

constinit const Kernel kernel_avxvnni =
    kernel_of<AvxVnni>("avxvnni", available, QueryForm::shifted_bytes, 75);
constinit const Kernel differences_avxvnni =
    kernel_of<Differences, Arithmetic::differences>("avxvnni", available, QueryForm::bytes);
constinit const Kernel products_avxvnni =
    kernel_of<YmmProducts<AvxVnni>, Arithmetic::products>("avxvnni", available, QueryForm::shifted_bytes, 75);

}  // namespace knn::cpu
