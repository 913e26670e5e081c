#pragma once
/// The one table of engines; engines.cpp alone knows which backends were built. The command line, --help,
/// `info`, the tests and `bench` all read these lists.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/core/dataset.h"
#include "data/core/device_index.h"
#include "data/core/plan.h"
#include "gpu/bench/bench.h"
#include "gpu/engines/engines.h"

namespace knn {

/// What an engine's device does besides the search; the host does the rest.
struct Capabilities {
    bool transforms = false;
    bool reranks = false;  ///< by descriptors
    bool votes = false;    ///< where device_can_vote
    bool known = false;    ///< TopKRequest::known
    bool reals = false;    ///< rows that are not uint8
    int max_k = knn::max_k;
};

/// One way to search.
struct Engine {
    const char* name;
    const char* summary;
    bool on_gpu;
    /// Why it cannot answer the problem on the plan's device with the kernels that the plan names; if it can,
    /// fills in the rest of the plan.
    UnsupportedReason (*configure)(const Problem& problem, Plan& plan);
    /// Needs a configured plan; adds the stages that move and arrange the training set to `timeline`. Null if this
    /// build does not have the engine.
    std::unique_ptr<DeviceIndex> (*open)(const Training& training, const Measure& measure, const Plan& plan,
                                         Timeline& timeline);
    Capabilities can = {};

    /// With rows of bytes, or with real ones, whose neighbors alone it finds.
    Capabilities can_with(bool reals) const {
        return reals ? Capabilities{.reals = can.reals, .max_k = can.max_k} : can;
    }
};
std::span<const Engine> engines();
/// Null if no engine of the table has this name.
const Engine* find_engine(std::string_view name, std::span<const Engine> table = engines());
/// The fastest engine of this kind.
const Engine& first_engine(bool on_gpu, std::span<const Engine> table = engines());

/// Names for --distance and --select: those of the GPU pipeline, none in a build without CUDA, and selectors
/// of the CPU's.
std::vector<Strategy> distance_kernels();
std::vector<Strategy> selectors();
/// The kernels among which the engine `tensor` chooses, or which --distance names with it.
std::vector<Strategy> tensor_kernels();

/// The GPUs of this machine; if there are none, `why_none` (may be null) says why: no CUDA in this build,
/// no driver, no device.
std::vector<Device> gpus(std::string* why_none = nullptr);
Device cpu_device();
/// How the GPUs reach each other, one for each pair.
std::vector<DeviceLink> links();
/// Of NCCL's library on this machine; empty: `why_none`.
std::string nccl_version(std::string& why_none);

/// What `bench` measures a GPU with (gpu/bench/bench.h); null in a build without CUDA.
struct GpuBench {
    decltype(&gpu::measure_limits) limits;
    decltype(&gpu::bench_arrays) arrays;
    decltype(&gpu::time_kernels) time_kernels;
    decltype(&gpu::time_program) time_program;
    decltype(&gpu::time_transform) time_transform;
    decltype(&gpu::time_rerank) time_rerank;
};
const GpuBench* gpu_bench();

/// Copies between the host and a caller's device memory; null in a build without CUDA.
struct DeviceCopies {
    decltype(&gpu::copy_to_host) to_host;
    decltype(&gpu::copy_to_device) to_device;
};
const DeviceCopies* device_copies();

/// Host memory for the data set: pinned if a GPU will read it, plain otherwise.
/// Creating it for a GPU starts the CUDA context on another thread; `pin` waits for that.
std::unique_ptr<HostMemory> host_memory(const Engine& engine, int device);

}  // namespace knn
