#include "classifier/engines.h"

#include <algorithm>

#include "cpu/host/host.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "gpu/engines/engines.h"

namespace knn {

namespace {

// Without CUDA nothing defines the functions of gpu/, so only discarded statements may name them.
#ifdef MNIST_KNN_HAS_CUDA
constexpr bool has_cuda = true;
#else
constexpr bool has_cuda = false;

UnsupportedReason lacks_cuda(const Problem&, Plan&) {
    return "this build has no GPU engines; expected a build with CUDA";
}
#endif

constexpr const char* no_cuda = "this build has no CUDA";
constexpr const char* tensor_summary =
    "8-bit tensor cores, selection in the same kernel; the same answers, on the GPU";
constexpr const char* classic_summary = "float4 distance kernel and a bitonic sort of each row, on the GPU";

// The fastest first: `auto` takes the first that the device can run and that supports the problem.
constexpr Engine all_engines[] = {
#ifdef MNIST_KNN_HAS_CUDA
    {"tensor",
     tensor_summary,
     true,
     gpu::configure_tensor,
     gpu::open_tensor,
     {true, true, true, true, false, max_device_k}},
    {"classic",
     classic_summary,
     true,
     gpu::configure_classic,
     gpu::open_classic,
     {true, true, true, false, false, max_device_k}},
#else
    {"tensor", tensor_summary, true, lacks_cuda, nullptr},
    {"classic", classic_summary, true, lacks_cuda, nullptr},
#endif
    {"cpu",
     "exact 8-bit arithmetic on all cores; the same answers",
     false,
     cpu::configure,
     cpu::open,
     {.reals = true}},
};

}  // namespace

std::span<const Engine> engines() {
    return all_engines;
}

const Engine* find_engine(std::string_view name, std::span<const Engine> among) {
    const auto found = std::ranges::find(among, name, &Engine::name);
    return found != among.end() ? &*found : nullptr;
}

const Engine& first_engine(bool on_gpu, std::span<const Engine> among) {
    return *std::ranges::find(among, on_gpu, &Engine::on_gpu);
}

Device cpu_device() {
    return cpu::device();
}

std::vector<Strategy> distance_kernels() {
    if constexpr (has_cuda) return gpu::distance_kernels();
    return {};
}
std::vector<Strategy> selectors() {
    std::vector<Strategy> all;
    if constexpr (has_cuda) all = gpu::selectors();
    const cpu::SerialSelector& serial = cpu::serial_selectors().front();
    all.push_back({serial.name, serial.summary, false});
    return all;
}
std::vector<Strategy> tensor_kernels() {
    if constexpr (has_cuda) return gpu::tensor_kernels();
    return {};
}
const GpuBench* gpu_bench() {
    if constexpr (has_cuda) {
        static constexpr GpuBench bench{gpu::measure_limits, gpu::bench_arrays,   gpu::time_kernels,
                                        gpu::time_program,   gpu::time_transform, gpu::time_rerank};
        return &bench;
    }
    return nullptr;
}
std::vector<Device> gpus(std::string* why_none) {
    if constexpr (has_cuda) return gpu::devices(why_none);
    if (why_none != nullptr) *why_none = no_cuda;
    return {};
}
std::vector<DeviceLink> links() {
    if constexpr (has_cuda) return gpu::links();
    return {};
}
std::string nccl_version(std::string& why_none) {
    if constexpr (has_cuda) return gpu::nccl_version(why_none);
    why_none = no_cuda;
    return "";
}
const DeviceCopies* device_copies() {
    if constexpr (has_cuda) {
        static constexpr DeviceCopies copies{gpu::copy_to_host, gpu::copy_to_device};
        return &copies;
    }
    return nullptr;
}
std::unique_ptr<HostMemory> host_memory(const Engine& engine, int device) {
    if constexpr (has_cuda)
        if (engine.on_gpu) return gpu::host_memory(device, std::string_view(engine.name) == "tensor");
    return std::make_unique<HostMemory>();
}

}  // namespace knn
