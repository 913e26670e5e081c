#include <immintrin.h>

#include "cpu/vectors/kernel_body.h"

namespace knn::cpu {

namespace {

struct RealAvx512 {
    using V = __m512d;
    static constexpr int queries = 4, rows = 4;

    static V zero() { return _mm512_setzero_pd(); }
    static V load(const double* p) { return _mm512_loadu_pd(p); }
    static void store(double* p, V a) { _mm512_storeu_pd(p, a); }
    static V add(V a, V b) { return a + b; }
    static V sub(V a, V b) { return a - b; }
    static V mul(V a, V b) { return a * b; }
    static V abs(V a) { return _mm512_abs_pd(a); }
    static V sqrt(V a) { return _mm512_maskz_sqrt_pd(0xff, a); }
    static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
};

}  // namespace

constinit const RealKernel real_avx512 = real_kernel<RealAvx512>("avx512");

}  // namespace knn::cpu
