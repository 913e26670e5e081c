#pragma once
/// The device that a search runs on; filled in by cpu/ and gpu/.

#include <cstdint>
#include <string>

#include "data/core/names.h"

namespace knn {

struct Device {
    enum class Kind { cpu, gpu };

    std::string name = {};
    Kind kind = Kind::cpu;
    int number = 0;                         ///< of a GPU, as CUDA counts them
    std::string compute_capability = {};    ///< "9.0"; empty on a CPU
    std::int64_t memory_bytes = 0;          ///< 0: not known
    std::string driver = {}, runtime = {};  ///< CUDA versions such as "13.0"; empty on a CPU
    double peak_gb_per_s = 0;               ///< memory bandwidth from clock and bus width; 0: not known
    double peak_gflop_per_s = 0;    ///< float32 multiply-adds counted as two, at the top clock; 0: not known
    double peak_link_gb_per_s = 0;  ///< between host and device, one way; 0: not known
};

/// Between two GPUs.
struct DeviceLink {
    int from = 0, to = 0;         ///< numbers of the GPUs, from < to
    bool direct = false;          ///< one reads the other's memory; else copies go through host memory
    bool native_atomics = false;  ///< NVLink has them, PCI Express does not
    int performance_rank = 0;     ///< 0 is the fastest kind of this machine
};

template <>
struct Names<Device::Kind> {
    static constexpr std::array list{"cpu", "gpu"};
};

/// As users write it: "cpu", "gpu:0".
inline std::string device_id(const Device& device) {
    return device.kind == Device::Kind::cpu ? "cpu" : "gpu:" + std::to_string(device.number);
}

}  // namespace knn
