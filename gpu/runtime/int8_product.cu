#include "gpu/runtime/int8_product.h"

#include "data/errors.h"

namespace knn::gpu {

// cuBLAS counts by columns, so what is a row here is a column there: out = aᵀ · b.
Int8Product::Int8Product(const Int8Shape& shape) : library_(cublas::library()), handle_(cublas::handle()) {
    const auto unsigned_of = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    const auto layout = [&](cublas::Layout& to, cudaDataType_t type, std::int64_t rows, std::int64_t cols,
                            std::int64_t stride) {
        cublas::check(library_.MatrixLayoutCreate(&to, type, unsigned_of(rows), unsigned_of(cols), stride),
                      "describing a matrix to cuBLAS");
    };
    cublas::check(library_.MatmulDescCreate(&product_, cublas::compute_32i, CUDA_R_32I),
                  "describing a product to cuBLAS");
    cublas::check(library_.MatmulDescSetAttribute(product_, cublas::desc_transa, &cublas::op_t, sizeof cublas::op_t),
                  "describing a product to cuBLAS");
    cublas::check(library_.MatmulDescSetAttribute(product_, cublas::desc_transb, &cublas::op_n, sizeof cublas::op_n),
                  "describing a product to cuBLAS");
    layout(a_, CUDA_R_8I, shape.k, shape.m, shape.stride);
    layout(b_, CUDA_R_8I, shape.k, shape.n, shape.stride);
    layout(out_, CUDA_R_32I, shape.m, shape.n, shape.out_stride);
    choose_algorithm();
}

Int8Product::~Int8Product() {
    for (const cublas::Layout layout : {a_, b_, out_})
        if (layout != nullptr) library_.MatrixLayoutDestroy(layout);
    if (product_ != nullptr) library_.MatmulDescDestroy(product_);
}

void Int8Product::choose_algorithm() {
    cublas::Preference preference = nullptr;
    cublas::check(library_.MatmulPreferenceCreate(&preference), "asking cuBLAS for an algorithm");
    const std::uint64_t bytes = workspace_bytes;
    cublas::HeuristicResult best{};
    int found = 0;
    cublas::Status status = library_.MatmulPreferenceSetAttribute(
        preference, cublas::preference_max_workspace_bytes, &bytes, sizeof bytes);
    if (status == 0)
        status = library_.MatmulAlgoGetHeuristic(handle_, product_, a_, b_, out_, out_, preference, 1, &best, &found);
    library_.MatmulPreferenceDestroy(preference);
    cublas::check(status, "asking cuBLAS for an algorithm");
    if (found == 0) throw DeviceError("GPU: cuBLAS has no algorithm for this product of 8-bit matrices");
    algorithm_ = best.algorithm;
}

void Int8Product::enqueue(const std::int8_t* d_a, const std::int8_t* d_b, std::int32_t* d_out, void* d_workspace,
                          cudaStream_t stream) const {
    const std::int32_t one = 1, zero = 0;
    cublas::check(library_.Matmul(handle_, product_, &one, d_a, a_, d_b, b_, &zero, d_out, out_, d_out, out_,
                                  &algorithm_, d_workspace, workspace_bytes, stream),
                  "multiplying by cuBLAS");
}

}  // namespace knn::gpu
