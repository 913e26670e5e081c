#include "gpu/runtime/cublas_lt.h"

#include <dlfcn.h>

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
