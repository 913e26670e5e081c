#include <immintrin.h>

#include "cpu/vectors/kernel_body.h"

namespace knn::cpu {

namespace {

struct RealAvx2 {
    struct V {
        __m256d low, high;
    };
    static constexpr int queries = 2, rows = 2;

    static V zero() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
    static V load(const double* p) { return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
    static void store(double* p, V a) {
        _mm256_storeu_pd(p, a.low);
        _mm256_storeu_pd(p + 4, a.high);
    }
    static V add(V a, V b) { return {a.low + b.low, a.high + b.high}; }
    static V sub(V a, V b) { return {a.low - b.low, a.high - b.high}; }
    static V mul(V a, V b) { return {a.low * b.low, a.high * b.high}; }
    static V abs(V a) {
        const __m256d sign = _mm256_set1_pd(-0.0);
        return {_mm256_andnot_pd(sign, a.low), _mm256_andnot_pd(sign, a.high)};
    }
    static V sqrt(V a) { return {_mm256_sqrt_pd(a.low), _mm256_sqrt_pd(a.high)}; }
    static V fma(V a, V b, V c) {
        return {_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
    }
};

}  // namespace

constinit const RealKernel real_avx2 = real_kernel<RealAvx2>("avx2");

}  // namespace knn::cpu
