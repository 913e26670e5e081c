#include "gpu/runtime/cublas_lt.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>

#include "gpu/runtime/check.h"

namespace knn::gpu::cublas {

namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, (std::string("cublasLt") + name).c_str()));
    return function != nullptr;
}

bool find_all(void* from, Library& to) {
    return find(from, "Create", to.Create) && find(from, "GetStatusString", to.GetStatusString) &&
           find(from, "MatmulDescCreate", to.MatmulDescCreate) &&
           find(from, "MatmulDescSetAttribute", to.MatmulDescSetAttribute) &&
           find(from, "MatmulDescDestroy", to.MatmulDescDestroy) &&
           find(from, "MatrixLayoutCreate", to.MatrixLayoutCreate) &&
           find(from, "MatrixLayoutDestroy", to.MatrixLayoutDestroy) &&
           find(from, "MatmulPreferenceCreate", to.MatmulPreferenceCreate) &&
           find(from, "MatmulPreferenceSetAttribute", to.MatmulPreferenceSetAttribute) &&
           find(from, "MatmulPreferenceDestroy", to.MatmulPreferenceDestroy) &&
           find(from, "MatmulAlgoGetHeuristic", to.MatmulAlgoGetHeuristic) &&
           find(from, "MatmulAlgoConfigGetAttribute", to.MatmulAlgoConfigGetAttribute) &&
           find(from, "Matmul", to.Matmul);
}

/// Kept for the life of the process, like the CUDA context that it works in.
struct Loaded {
    Library library{};
    bool complete = false;

    Loaded() {
        // Where the loader looks, then where the toolkit is installed.
        for (const char* folder : {"", "/usr/local/cuda/lib64/"})
            for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
                void* file = dlopen((std::string(folder) + name).c_str(), RTLD_NOW | RTLD_LOCAL);
                complete = file != nullptr && find_all(file, library);
                if (complete) return;
            }
    }
};

const Loaded& loaded() {
    static const Loaded once;
    return once;
}

}  // namespace

Refusal refuse() {
    if (loaded().complete) return std::nullopt;
    return "cuBLAS is missing; expected libcublasLt.so.13 or libcublasLt.so.12 where the loader finds it "
           "(LD_LIBRARY_PATH)";
}

const Library& library() {
    if (const Refusal refusal = refuse()) throw DeviceError(*refusal);
    return loaded().library;
}

Handle handle() {
    static std::mutex mutex;
    static std::map<int, Handle> handles;  // one a device
    int device = 0;
    gpu::check(cudaGetDevice(&device), "asking for the current device");
    const std::scoped_lock lock(mutex);
    Handle& handle = handles[device];
    if (handle == nullptr) check(library().Create(&handle), "starting cuBLAS");
    return handle;
}

void check(Status status, const char* what) {
    if (status == 0) return;
    throw DeviceError(std::string("GPU: ") + what + " failed: " + library().GetStatusString(status));
}

}  // namespace knn::gpu::cublas

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
    cublas::check(
        library_.MatmulDescSetAttribute(product_, cublas::desc_transa, &cublas::op_t, sizeof cublas::op_t),
        "describing a product to cuBLAS");
    cublas::check(
        library_.MatmulDescSetAttribute(product_, cublas::desc_transb, &cublas::op_n, sizeof cublas::op_n),
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

// Of what cuBLAS proposes, the first with tiles of 128 × 128, else the first. A product with few terms is
// bound by the storing of its sums; smaller tiles let one block store while another multiplies
// (docs/performance.md).
void Int8Product::choose_algorithm() {
    cublas::Preference preference = nullptr;
    cublas::check(library_.MatmulPreferenceCreate(&preference), "asking cuBLAS for an algorithm");
    const std::uint64_t bytes = workspace_bytes;
    std::array<cublas::HeuristicResult, 8> proposed{};
    int found = 0;
    cublas::Status status = library_.MatmulPreferenceSetAttribute(
        preference, cublas::preference_max_workspace_bytes, &bytes, sizeof bytes);
    if (status == 0)
        status = library_.MatmulAlgoGetHeuristic(handle_, product_, a_, b_, out_, out_, preference,
                                                 static_cast<int>(proposed.size()), proposed.data(), &found);
    library_.MatmulPreferenceDestroy(preference);
    cublas::check(status, "asking cuBLAS for an algorithm");
    if (found == 0) throw DeviceError("GPU: cuBLAS has no algorithm for this product of 8-bit matrices");
    const auto square = [&](const cublas::HeuristicResult& result) {
        std::uint32_t tile = 0;
        std::size_t written = 0;
        return library_.MatmulAlgoConfigGetAttribute(&result.algorithm, cublas::config_tile_id, &tile,
                                                     sizeof tile, &written) == 0 &&
               tile == cublas::tile_128x128;
    };
    const auto end = proposed.begin() + found;
    const auto best = std::find_if(proposed.begin(), end, square);
    algorithm_ = (best != end ? *best : proposed.front()).algorithm;
}

void Int8Product::enqueue(const std::int8_t* d_a, const std::int8_t* d_b, std::int32_t* d_out,
                          void* d_workspace, cudaStream_t stream) const {
    const std::int32_t one = 1, zero = 0;
    cublas::check(library_.Matmul(handle_, product_, &one, d_a, a_, d_b, b_, &zero, d_out, out_, d_out, out_,
                                  &algorithm_, d_workspace, workspace_bytes, stream),
                  "multiplying by cuBLAS");
}

}  // namespace knn::gpu
