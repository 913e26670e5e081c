#include "gpu/engines/strategies.h"

#include "gpu/distance/distance.h"
#include "gpu/fused/fused.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

template <class Entry>
std::vector<Strategy> list(std::span<const Entry* const> table) {
    std::vector<Strategy> all;
    for (const Entry* entry : table)
        all.push_back({entry->name, entry->summary});
    return all;
}

}  // namespace

std::vector<Strategy> distance_kernels() {
    return list(distance_table());
}
std::vector<Strategy> selectors() {
    return list(selector_table());
}
std::vector<Strategy> tensor_kernels() {
    return list(tensor_table());
}

OnDevice::OnDevice(int device) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
    cudaGetLastError();
    if (device < 0 || device >= count)
        throw DeviceError("there is no GPU number " + std::to_string(device) + "; this machine has " +
                          std::to_string(count));
    check(cudaGetDevice(&before_), "asking for the current device");
    if (before_ != device) check(cudaSetDevice(device), "choosing the device");
}

OnDevice::~OnDevice() {
    cudaSetDevice(before_);
}

}  // namespace knn::gpu
