#include "gpu/fused/fused.h"

namespace knn::gpu {

extern const TensorKernel tensor_sm90, tensor_mma;

namespace {
const TensorKernel* const table[] = {&tensor_sm90, &tensor_mma};
}  // namespace

std::span<const TensorKernel* const> tensor_table() {
    return table;
}

}  // namespace knn::gpu
