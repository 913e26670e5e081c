#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/core/names.h"

namespace knn {

// The device that a search runs on; filled in by cpu/ and gpu/.

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
inline constexpr std::array name_list<Device::Kind>{"cpu", "gpu"};

/// As users write it: "cpu", "gpu:0".
inline std::string device_id(const Device& device) {
    return device.kind == Device::Kind::cpu ? "cpu" : "gpu:" + std::to_string(device.number);
}

/// A distance kernel or a selector, as the command line, --help and `info` show it.
struct Strategy {
    std::string name, summary;
    bool on_gpu = true;
};

/// How several devices or processes share a search (--spread): replicate: each has the whole training set and some of the
/// queries; shard: each has a part of the training set and all queries.
enum class Placement { automatic, replicate, shard };
template <>
inline constexpr std::array name_list<Placement>{"auto", "queries", "training"};

/// Where a stage of a method runs; none: the method has no such stage.
enum class StagePlace { none, device, host };
struct Stages {
    StagePlace transform = StagePlace::none, rerank = StagePlace::none, vote = StagePlace::none;
};

/// Columns of sketches (data/sketch/sketch.h), as users write them: none, or how many; automatic: where they make the search faster.
enum class SketchColumns { automatic, off, c64, c128 };
template <>
inline constexpr std::array name_list<SketchColumns>{"auto", "off", "64", "128"};
constexpr int count_of(SketchColumns columns) {
    return columns == SketchColumns::off ? 0 : columns == SketchColumns::c64 ? 64 : 128;
}

/// Whether sketches of some width were asked for, which an engine then uses or refuses.
constexpr bool names_columns(SketchColumns columns) {
    return columns == SketchColumns::c64 || columns == SketchColumns::c128;
}

/// Where and how a search runs: affects its speed, never an answer. classifier/plan.h makes it.
struct Plan {
    std::string engine = {};
    Device device = {};
    std::string distance = {},
                select = {};           ///< kernel and selector; empty (any) until the plan is configured
    std::int64_t batch = 0;            ///< queries at once; 0 before a search: as many as memory allows
    int threads = 0;                   ///< of the CPU; on a GPU 1, unless rows are real
    bool spares_threads = false;       ///< `threads` is all of the host: a small search starts fewer
    std::vector<Device> devices = {};  ///< all, `device` first, if more than one searches
    Placement placement = Placement::automatic;  ///< among devices and ranks; configured if there are several
    std::int64_t memory = 0;                     ///< most bytes of training images on a device; 0: no limit
    SketchColumns sketch = SketchColumns::automatic;
    bool caches_fits = false;  ///< an engine may keep what it fits in the user's cache
    int ranks = 1;             ///< processes that search together
    Stages stages = {};        ///< of the method, once there is one

    /// A search that follows at once: an engine may allocate its memory while it opens. n_query: 0: not known.
    struct Expected {
        std::int64_t n_query = 0;
        int k = 0;
        bool has_known = false;
    };
    Expected expected = {};
};

}  // namespace knn
