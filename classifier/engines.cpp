#include "classifier/engines.h"

#include <algorithm>

#include "app/cli/values.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "data/core/errors.h"
#ifdef MNIST_KNN_HAS_CUDA
#include "gpu/bench/bench.h"
#include "gpu/engines/pipeline.h"
#endif

namespace knn {

namespace {

#ifdef MNIST_KNN_HAS_CUDA
constexpr auto classic_search = gpu::search;
Refusal refuse_classic(const SearchRequest& request) {
    return gpu::refuse(request.problem(), request.distance, request.select);
}
constexpr auto tensor_search = gpu::search_tensor;
constexpr auto refuse_tensor = gpu::refuse_tensor;
#else
constexpr SearchResult (*classic_search)(const SearchRequest&, const Watch&) = nullptr;
Refusal refuse_classic(const SearchRequest&) {
    return "this build has no GPU engines; expected a build with CUDA";
}
constexpr auto tensor_search = classic_search;
constexpr auto refuse_tensor = refuse_classic;
#endif

Refusal refuse_cpu(const SearchRequest& request) {
    return request.select.empty() ? cpu::refuse(request.problem()) : cpu::refuse_serial(request.problem());
}
/// A selector of the CPU's own is one of its serial search.
SearchResult search_cpu(const SearchRequest& request, const Watch& watch) {
    return request.select.empty() ? cpu::search(request, watch) : cpu::search_serial(request, watch);
}

// The fastest first: `auto` takes the first one that the device has and that accepts the problem.
constexpr Engine table[] = {
    {"tensor", "8-bit tensor cores, selection in the same kernel; the same answers, on the GPU", true,
     refuse_tensor, tensor_search},
    {"classic", "float4 distance kernel and a bitonic sort of each row, on the GPU", true, refuse_classic,
     classic_search},
    {"cpu", "exact 8-bit arithmetic on all cores; the same answers", false, refuse_cpu, search_cpu},
};

Strategy serial_strategy() {
    const cpu::SerialSelector& baseline = cpu::serial_selectors().front();
    return {baseline.name, baseline.summary, false};
}

class PlainMemory : public HostMemory {
  public:
    std::pmr::memory_resource* resource() override { return std::pmr::new_delete_resource(); }
    void pin() override {}
};

}  // namespace

std::span<const Engine> engines() {
    return table;
}

const Engine* find_engine(std::string_view name) {
    const auto found =
        std::find_if(std::begin(table), std::end(table), [&](const Engine& e) { return e.name == name; });
    return found != std::end(table) ? found : nullptr;
}

Device cpu_device() {
    return cpu::device();
}

#ifdef MNIST_KNN_HAS_CUDA

namespace {

std::vector<Strategy> as_strategies(const std::vector<gpu::StrategyInfo>& infos) {
    std::vector<Strategy> strategies;
    for (const gpu::StrategyInfo& info : infos)
        strategies.push_back({info.name, info.summary});
    return strategies;
}

class PinnedMemory : public HostMemory {
  public:
    explicit PinnedMemory(int device) : memory_(gpu::host_memory(device)) {}
    std::pmr::memory_resource* resource() override { return memory_.get(); }
    void pin() override { memory_->pin(); }

  private:
    std::unique_ptr<gpu::HostMemory> memory_;
};

}  // namespace

std::vector<Strategy> distance_kernels() {
    return as_strategies(gpu::distance_kernels());
}
std::vector<Strategy> selectors() {
    std::vector<Strategy> all = as_strategies(gpu::selectors());
    all.push_back(serial_strategy());
    return all;
}
std::vector<Strategy> tensor_kernels() {
    return as_strategies(gpu::tensor_kernels());
}
const GpuBench* gpu_bench() {
    static constexpr GpuBench bench{gpu::measure_limits, gpu::stand, gpu::random_stand};
    return &bench;
}
std::vector<Device> gpus(std::string* why_none) {
    return gpu::devices(why_none);
}
std::unique_ptr<HostMemory> host_memory(const Engine& engine, int device) {
    if (engine.on_gpu) return std::make_unique<PinnedMemory>(device);
    return std::make_unique<PlainMemory>();
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
std::unique_ptr<HostMemory> host_memory(const Engine&, int) {
    return std::make_unique<PlainMemory>();
}

#endif

std::size_t parse_strategy_name(std::string_view option, std::string_view text,
                                std::span<const std::string> names) {
    const bool known = std::find(names.begin(), names.end(), text) != names.end();
    if (!known && distance_kernels().empty() && nearest_name(text, names).empty())
        throw UsageError(as_given(option, text) +
                         ": unknown to this build, which has no GPU kernels; expected " + one_of(names) +
                         ", or a build with CUDA");
    return parse_name(option, text, names);
}

}  // namespace knn
