// The GPUs of this machine, their peak rates, how they reach each other, and NVIDIA's library for several of them.

#include <dlfcn.h>

#include <fstream>
#include <string>

#include "data/core/names.h"
#include "gpu/engines/engines.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// float32 lanes of a multiprocessor, by compute capability (CUDA C++ Programming Guide, arithmetic
/// throughput).
int float_lanes(int major, int minor) {
    if (major == 7 || (major == 8 && minor == 0)) return 64;
    return 128;
}

/// The PCI Express link by the kernel's own account, one way, in GB/s; 0 if it does not say.
double link_gb_per_s(int device) {
    char bus[32] = "";
    if (cudaDeviceGetPCIBusId(bus, sizeof(bus), device) != cudaSuccess) return 0;
    const std::string folder = "/sys/bus/pci/devices/" + lower_case(bus) + "/";
    double giga_transfers = 0;
    int lanes = 0;
    std::ifstream(folder + "max_link_speed") >> giga_transfers;
    std::ifstream(folder + "max_link_width") >> lanes;
    const double coding = giga_transfers > 5 ? 128.0 / 130.0 : 0.8;  // 8b/10b up to the second generation
    return giga_transfers * lanes * coding / 8;
}

Device describe(int number) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, number), "reading device properties");
    int driver = 0, runtime = 0;
    check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    const int memory_khz = device_attribute(cudaDevAttrMemoryClockRate, number);
    const int clock_khz = device_attribute(cudaDevAttrClockRate, number);

    Device device;
    device.name = properties.name;
    device.kind = Device::Kind::gpu;
    device.number = number;
    device.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    device.driver = version_text(driver);
    device.runtime = version_text(runtime);
    device.peak_gb_per_s =
        2.0 * memory_khz * 1e3 * properties.memoryBusWidth / 8 * 1e-9;  // two transfers per clock
    device.peak_gflop_per_s = 2.0 * properties.multiProcessorCount *
                              float_lanes(properties.major, properties.minor) * clock_khz * 1e3 * 1e-9;
    device.peak_link_gb_per_s = link_gb_per_s(number);
    return device;
}

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

/// Why no device was counted. Without a driver or a card CUDA, too, speaks of the driver's version.
std::string why_no_device(cudaError_t status) {
    int driver = 0, runtime = 0;
    if (status == cudaSuccess || status == cudaErrorNoDevice) return "no NVIDIA GPU was found";
    if (status != cudaErrorInsufficientDriver) return cudaGetErrorString(status);
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return "no NVIDIA driver was found";
    check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    return "the NVIDIA driver supports CUDA " + version_text(driver) + ", this build needs " +
           version_text(runtime);
}

}  // namespace

std::vector<Device> devices(std::string* why_none) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        cudaGetLastError();
        if (why_none != nullptr) *why_none = why_no_device(status);
        return {};
    }
    std::vector<Device> all;
    for (int number = 0; number < count; ++number)
        all.push_back(describe(number));
    return all;
}

std::vector<DeviceLink> links() {
    const int count = device_count();
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
    why_none = std::string(file) + " does not report its version";
    return "";
}

}  // namespace knn::gpu
