#include "gpu/runtime/cublas_lt.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gpu/runtime/check.h"

namespace knn::gpu::cublas {

namespace {

bool find_all(void* from, Library& to) {
    const auto find = [&]<class Function>(const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(from, (std::string("cublasLt") + name).c_str()));
        return function != nullptr;
    };
    return find("Create", to.Create) && find("GetStatusString", to.GetStatusString) &&
           find("MatmulDescCreate", to.MatmulDescCreate) &&
           find("MatmulDescSetAttribute", to.MatmulDescSetAttribute) &&
           find("MatmulDescDestroy", to.MatmulDescDestroy) &&
           find("MatrixLayoutCreate", to.MatrixLayoutCreate) &&
           find("MatrixLayoutDestroy", to.MatrixLayoutDestroy) &&
           find("MatmulPreferenceCreate", to.MatmulPreferenceCreate) &&
           find("MatmulPreferenceSetAttribute", to.MatmulPreferenceSetAttribute) &&
           find("MatmulPreferenceDestroy", to.MatmulPreferenceDestroy) &&
           find("MatmulAlgoGetHeuristic", to.MatmulAlgoGetHeuristic) &&
           find("MatmulAlgoConfigGetAttribute", to.MatmulAlgoConfigGetAttribute) && find("Matmul", to.Matmul);
}

/// Kept for the life of the process, like the CUDA context that it works in; null: it is missing.
const Library* loaded() {
    static Library library{};
    static const bool complete = [] {
        // Where the loader looks, then where the toolkit is installed.
        for (const char* folder : {"", "/usr/local/cuda/lib64/"})
            for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
                void* file = dlopen((std::string(folder) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
                if (file != nullptr && find_all(file, library)) return true;
            }
        return false;
    }();
    return complete ? &library : nullptr;
}

}  // namespace

UnsupportedReason refuse() {
    if (loaded() != nullptr) return std::nullopt;
    return "cuBLAS is missing; expected libcublasLt.so.13 or libcublasLt.so.12 where the loader finds it "
           "(LD_LIBRARY_PATH)";
}

const Library& library() {
    if (const UnsupportedReason refusal = refuse()) throw DeviceError(*refusal);
    return *loaded();
}

Handle handle() {
    static std::mutex mutex;
    static std::map<int, Handle> handles;  // one a device
    const int device = current_device();
    const std::scoped_lock lock(mutex);
    Handle& handle = handles[device];
    if (handle == nullptr) check(library().Create(&handle), "starting cuBLAS");
    return handle;
}

void check(Status status, const char* what) {
    if (status == 0) return;
    throw DeviceError(std::string("GPU: ") + what + " failed: " + library().GetStatusString(status));
}

namespace {

/// Destroyed by cuBLAS.
using Owned = std::unique_ptr<void, Status (*)(void*)>;

Owned layout_of(cudaDataType_t type, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
    Layout layout = nullptr;
    check(library().MatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                       static_cast<std::uint64_t>(cols), stride),
          "describing a matrix to cuBLAS");
    return {layout, library().MatrixLayoutDestroy};
}

// Of what cuBLAS proposes, the first with tiles of 128 × 128, else the first. A product with few terms is
// bound by the storing of its sums; smaller tiles let one block store while another multiplies
// (docs/performance.md).
Algorithm algorithm_for(MatmulDesc product, Layout a, Layout b, Layout out) {
    constexpr const char* what = "asking cuBLAS for an algorithm";
    Preference made = nullptr;
    check(library().MatmulPreferenceCreate(&made), what);
    const Owned preference(made, library().MatmulPreferenceDestroy);
    const std::uint64_t bytes = product_workspace_bytes;
    std::array<HeuristicResult, 8> proposed{};
    int found = 0;
    check(library().MatmulPreferenceSetAttribute(made, preference_max_workspace_bytes, &bytes, sizeof bytes),
          what);
    check(library().MatmulAlgoGetHeuristic(handle(), product, a, b, out, out, made,
                                           static_cast<int>(proposed.size()), proposed.data(), &found),
          what);
    if (found == 0) throw DeviceError("GPU: cuBLAS has no algorithm for this product of 8-bit matrices");
    const auto square = [&](const HeuristicResult& result) {
        std::uint32_t tile = 0;
        std::size_t written = 0;
        return library().MatmulAlgoConfigGetAttribute(&result.algorithm, config_tile_id, &tile, sizeof tile,
                                                      &written) == 0 &&
               tile == tile_128x128;
    };
    const auto end = proposed.begin() + found;
    const auto best = std::find_if(proposed.begin(), end, square);
    return (best != end ? *best : proposed.front()).algorithm;
}

}  // namespace

// cuBLAS counts by columns, so what is a row here is a column there: out = aᵀ · b.
void enqueue_product(const Int8Shape& shape, const std::int8_t* d_a, const std::int8_t* d_b,
                     std::int32_t* d_out, void* d_workspace, cudaStream_t stream) {
    constexpr const char* what = "describing a product to cuBLAS";
    MatmulDesc made = nullptr;
    check(library().MatmulDescCreate(&made, compute_32i, CUDA_R_32I), what);
    const Owned product(made, library().MatmulDescDestroy);
    check(library().MatmulDescSetAttribute(made, desc_transa, &op_t, sizeof op_t), what);
    check(library().MatmulDescSetAttribute(made, desc_transb, &op_n, sizeof op_n), what);
    const Owned a = layout_of(CUDA_R_8I, shape.k, shape.m, shape.stride);
    const Owned b = layout_of(CUDA_R_8I, shape.k, shape.n, shape.stride);
    const Owned out = layout_of(CUDA_R_32I, shape.m, shape.n, shape.out_stride);
    const Algorithm algorithm = algorithm_for(made, a.get(), b.get(), out.get());
    const std::int32_t one = 1, zero = 0;
    check(library().Matmul(handle(), made, &one, d_a, a.get(), d_b, b.get(), &zero, d_out, out.get(), d_out,
                           out.get(), &algorithm, d_workspace, product_workspace_bytes, stream),
          "multiplying by cuBLAS");
}

}  // namespace knn::gpu::cublas
