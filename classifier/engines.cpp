#include "classifier/engines.h"

#include <algorithm>

#include "cpu/host/host.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#ifdef MNIST_KNN_HAS_CUDA
#include "gpu/bench/bench.h"
#include "gpu/engines/engines.h"
#endif

namespace knn {

namespace {

#ifndef MNIST_KNN_HAS_CUDA
Refusal lacks_cuda(const Problem&, Plan&) {
    return "this build has no GPU engines; expected a build with CUDA";
}
#endif

constexpr const char* tensor_summary =
    "8-bit tensor cores, selection in the same kernel; the same answers, on the GPU";
constexpr const char* classic_summary = "float4 distance kernel and a bitonic sort of each row, on the GPU";

// The fastest first: `auto` takes the first that the device can run and that supports the problem.
constexpr Engine all_engines[] = {
#ifdef MNIST_KNN_HAS_CUDA
    {"tensor", tensor_summary, true, gpu::settle_tensor, gpu::open_tensor, {true, true, true, true}},
    {"classic", classic_summary, true, gpu::settle_classic, gpu::open_classic, {true, true, true, false}},
#else
    {"tensor", tensor_summary, true, lacks_cuda, nullptr},
    {"classic", classic_summary, true, lacks_cuda, nullptr},
#endif
    {"cpu", "exact 8-bit arithmetic on all cores; the same answers", false, cpu::settle, cpu::open},
};

Strategy serial_strategy() {
    const cpu::SerialSelector& baseline = cpu::serial_selectors().front();
    return {baseline.name, baseline.summary, false};
}

}  // namespace

std::span<const Engine> engines() {
    return all_engines;
}

const Engine* find_engine(std::string_view name, std::span<const Engine> among) {
    const auto found =
        std::find_if(among.begin(), among.end(), [&](const Engine& e) { return e.name == name; });
    return found != among.end() ? &*found : nullptr;
}

const Engine& first_engine(bool on_gpu, std::span<const Engine> among) {
    return *std::find_if(among.begin(), among.end(), [&](const Engine& e) { return e.on_gpu == on_gpu; });
}

Device cpu_device() {
    return cpu::device();
}

#ifdef MNIST_KNN_HAS_CUDA

std::vector<Strategy> distance_kernels() {
    return gpu::distance_kernels();
}
std::vector<Strategy> selectors() {
    std::vector<Strategy> all = gpu::selectors();
    all.push_back(serial_strategy());
    return all;
}
std::vector<Strategy> tensor_kernels() {
    return gpu::tensor_kernels();
}
const GpuBench* gpu_bench() {
    static constexpr GpuBench bench{gpu::measure_limits, gpu::bench_arrays, gpu::random_bench_arrays,
                                    gpu::time_kernels,   gpu::time_before,  gpu::time_transform,
                                    gpu::time_rerank};
    return &bench;
}
std::vector<Device> gpus(std::string* why_none) {
    return gpu::devices(why_none);
}
std::vector<DeviceLink> links() {
    return gpu::links();
}
std::string nccl_version(std::string& why_none) {
    return gpu::nccl_version(why_none);
}
std::unique_ptr<HostMemory> host_memory(const Engine& engine, int device) {
    if (engine.on_gpu) return gpu::host_memory(device, engine.open == gpu::open_tensor);
    return std::make_unique<HostMemory>();
}

#else

std::vector<Strategy> distance_kernels() {
    return {};
}
std::vector<Strategy> selectors() {
    return {serial_strategy()};
}
std::vector<Strategy> tensor_kernels() {
    return {};
}
const GpuBench* gpu_bench() {
    return nullptr;
}
std::vector<Device> gpus(std::string* why_none) {
    if (why_none != nullptr) *why_none = "this build has no CUDA";
    return {};
}
std::vector<DeviceLink> links() {
    return {};
}
std::string nccl_version(std::string& why_none) {
    why_none = "this build has no CUDA";
    return "";
}
std::unique_ptr<HostMemory> host_memory(const Engine&, int) {
    return std::make_unique<HostMemory>();
}

#endif

}  // namespace knn
