#include "gpu/runtime/cublas_lt.h"

#include <doctest/doctest.h>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

// Checks the declarations of gpu/runtime/cublas_lt.h against cuBLAS' own header, where handles are pointers
// of other names.
namespace knn::gpu::cublas {

static_assert(compute_32i == CUBLAS_COMPUTE_32I);
static_assert(op_n == CUBLAS_OP_N && op_t == CUBLAS_OP_T);
static_assert(desc_transa == CUBLASLT_MATMUL_DESC_TRANSA && desc_transb == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(preference_max_workspace_bytes == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(config_tile_id == CUBLASLT_ALGO_CONFIG_TILE_ID && tile_128x128 == CUBLASLT_MATMUL_TILE_128x128);
static_assert(CUBLAS_STATUS_SUCCESS == 0 && sizeof(cublasStatus_t) == sizeof(Status));
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(HeuristicResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

template <class A, class B>
constexpr bool same_size = sizeof(A) == sizeof(B);

/// Whether two functions take as many arguments, each of the same size.
template <class A, class B>
struct same_shape : std::false_type {};
template <class... A, class... B>
struct same_shape<Status (*)(A...), cublasStatus_t (*)(B...)>
    : std::bool_constant<sizeof...(A) == sizeof...(B) && (same_size<A, B> && ...)> {};

#define SAME(name) static_assert(same_shape<decltype(Library::name), decltype(&cublasLt##name)>())
SAME(Create);
SAME(MatmulDescCreate);
SAME(MatmulDescSetAttribute);
SAME(MatmulDescDestroy);
SAME(MatrixLayoutCreate);
SAME(MatrixLayoutDestroy);
SAME(MatmulPreferenceCreate);
SAME(MatmulPreferenceSetAttribute);
SAME(MatmulPreferenceDestroy);
SAME(MatmulAlgoGetHeuristic);
SAME(MatmulAlgoConfigGetAttribute);
SAME(Matmul);
#undef SAME

}  // namespace knn::gpu::cublas
#endif

namespace knn {

TEST_CASE("cuBLAS is there, or what is missing is said") {
    const UnsupportedReason refusal = gpu::cublas::refuse();
    if (refusal) {
        CHECK(refusal->find("libcublasLt.so") != std::string::npos);
    } else {
        CHECK((gpu::cublas::library().Matmul != nullptr));
    }
}

}  // namespace knn
