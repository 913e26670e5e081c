#include "classifier/engines.h"

#include <algorithm>

#include "cpu/host/host.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "cpu/vectors/vector_index.h"

namespace knn {

namespace {

// Without CUDA nothing defines the functions of gpu/, so only discarded statements may name them.
#ifdef MNIST_KNN_HAS_CUDA
constexpr bool has_cuda = true;

/// An engine on a GPU that searches bytes. Of real rows, its search finds candidates for cpu/vectors/, which has the rest done by the device
/// or does it.
template <decltype(&gpu::configure_classic) configure_bytes, decltype(&gpu::open_classic) open_bytes,
          int most_k>
struct GpuEngine {
    static UnsupportedReason configure(const Problem& problem, Plan& plan) {
        if (problem.type == ElementType::uint8) return configure_bytes(problem, plan);
        if (UnsupportedReason refusal = refuse_problem(problem)) return refusal;
        const std::optional<Problem> bytes = cpu::byte_problem(problem);
        if (!bytes)
            return "GPUs search rows of " + std::string(name(problem.type)) + " by all metrics but lp";
        const bool spares = plan.threads == 0;
        const int threads = cpu::threads_or_all(plan.threads);
        if (UnsupportedReason refusal = configure_bytes(*bytes, plan)) return refusal;
        plan.spares_threads = spares;
        plan.threads = threads;
        return std::nullopt;
    }

    static std::unique_ptr<DeviceIndex> open(const Training& training, const Measure& measure,
                                             const Plan& plan, Timeline& timeline) {
        if (!measure.real) return open_bytes(training, measure, plan, timeline);
        const Rows& rows = training.features.count > 0 ? training.features : training.rows;
        return cpu::open_vectors(
            rows, measure, plan,
            [](const Rows& bytes, const Measure& by, const Plan& whole) {
                Plan own = whole;
                own.expected = {};
                Timeline opening;  // of which the stage `quantize` is the sum
                return open_bytes({.rows = bytes, .labels = {}}, by, own, opening);
            },
            most_k);
    }

    static constexpr Capabilities can(bool known) {
        return {.transforms = true,
                .reranks = true,
                .votes = true,
                .known = known,
                .reals = true,
                .max_k = most_k};
    }
};
using Tensor = GpuEngine<gpu::configure_tensor, gpu::open_tensor, max_device_k>;
using Classic = GpuEngine<gpu::configure_classic, gpu::open_classic, max_k>;
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
    {"tensor", tensor_summary, true, Tensor::configure, Tensor::open, Tensor::can(true)},
    {"classic", classic_summary, true, Classic::configure, Classic::open, Classic::can(false)},
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
    return row_named(among, name);
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
