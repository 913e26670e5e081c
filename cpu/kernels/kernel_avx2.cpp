/// AVX2: bytes are widened to 16 bits, and vpmaddwd adds two products to a 32-bit sum. (vpmaddubsw takes
/// bytes, but its 16-bit sums saturate: 255 · 127 + 255 · 127 > 2¹⁵.) A tile of 2 × 8 images × 4 queries.

#include <immintrin.h>

#include "cpu/kernels/kernel_scan.h"
#include "cpu/kernels/kernel_vectors.h"

namespace knn::cpu {

namespace {

struct Avx2 : Ymm {
    static constexpr int queries = 4, query_bytes = 8;
    /// Pixels 0, 2 and 1, 3 of each image, 16 bits each; queries use the same layout.
    struct Images {
        __m256i even, odd;
    };
    using Query = Images;

    static Images load_images(const std::uint8_t* from) {
        const __m256i bytes = load(from);
        return {_mm256_and_si256(bytes, _mm256_set1_epi16(0xff)), _mm256_srli_epi16(bytes, 8)};
    }
    static Query load_query(const std::uint8_t* from) {
        return {Ymm::load_query(from), Ymm::load_query(from + query_bytes / 2)};
    }
    static Sum multiply_add(Sum sum, Images images, Query query) {
        const Sum products = _mm256_add_epi32(_mm256_madd_epi16(images.even, query.even),
                                              _mm256_madd_epi16(images.odd, query.odd));
        return _mm256_add_epi32(sum, products);
    }
};

/// Minima of bytes, added by pairs to 16 bits (at most 510) and by pairs to 32.
struct Differences : Ymm {
    static constexpr int queries = 4, query_bytes = 4;

    static Sum multiply_add(Sum sum, Images images, Query query) {
        const __m256i pairs = _mm256_maddubs_epi16(_mm256_min_epu8(images, query), _mm256_set1_epi8(1));
        return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
};

bool available() {
    return __builtin_cpu_supports("avx2");
}

}  // namespace

constinit const Kernel kernel_avx2 = kernel_of<Avx2>("avx2", available, QueryForm::pairs, 32);
constinit const Kernel differences_avx2 =
    kernel_of<Differences, Arithmetic::differences>("avx2", available, QueryForm::bytes);
constinit const Kernel products_avx2 =
    kernel_of<YmmProducts<Avx2>, Arithmetic::products>("avx2", available, QueryForm::pairs, 32);

}  // namespace knn::cpu
