// How the GPUs of this machine reach each other, and NVIDIA's library for several of them.

#include <dlfcn.h>

#include "gpu/engines/engines.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

int attribute_of(cudaDeviceP2PAttr attribute, int from, int to) {
    int value = 0;
    check(cudaDeviceGetP2PAttribute(&value, attribute, from, to), "asking for a link's attributes");
    return value;
}

/// 22803 is 2.28.3; before 2.9 a version such as 2804 was 2.8.4.
std::string nccl_text(int version) {
    const int major = version < 10'000 ? 1'000 : 10'000;
    return std::to_string(version / major) + "." + std::to_string(version % major / 100) + "." +
           std::to_string(version % 100);
}

}  // namespace

std::vector<DeviceLink> links() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return {};
    }
    std::vector<DeviceLink> all;
    for (int from = 0; from < count; ++from)
        for (int to = from + 1; to < count; ++to) {
            DeviceLink link{.from = from, .to = to};
            link.direct = attribute_of(cudaDevP2PAttrAccessSupported, from, to) != 0;
            link.native_atomics = attribute_of(cudaDevP2PAttrNativeAtomicSupported, from, to) != 0;
            link.performance_rank = attribute_of(cudaDevP2PAttrPerformanceRank, from, to);
            all.push_back(link);
        }
    return all;
}

std::string nccl_version(std::string& why_none) {
    constexpr const char* file = "libnccl.so.2";
    void* library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        why_none = std::string(file) + " was not found";
        return "";
    }
    using GetVersion = int (*)(int*);
    const auto get = reinterpret_cast<GetVersion>(dlsym(library, "ncclGetVersion"));
    int version = 0;
    if (get != nullptr && get(&version) == 0) return nccl_text(version);
    why_none = std::string(file) + " does not tell its version";
    return "";
}

}  // namespace knn::gpu
