#include "classifier/plan.h"

#include <algorithm>

#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

/// Whether the selector runs on the CPU.
bool selects_on_cpu(const PlanRequest& request) {
    if (request.select.empty()) return false;
    const std::vector<Strategy> all = selectors();
    return std::any_of(all.begin(), all.end(),
                       [&](const Strategy& one) { return one.name == request.select && !one.on_gpu; });
}

/// Whether to use a GPU if there is one.
bool wants_gpu(const PlanRequest& request) {
    const Engine* named = find_engine(request.engine.value_or(default_engine));
    return request.device.kind != DeviceKind::cpu && (named == nullptr || named->on_gpu) &&
           !selects_on_cpu(request);
}

void check_combination(const PlanRequest& request) {
    const Engine* engine = request.engine ? find_engine(*request.engine) : nullptr;
    const bool gpu_engine = engine != nullptr && engine->on_gpu;
    const bool cpu_engine = engine != nullptr && !engine->on_gpu;
    const bool gpu_device = request.device.kind == DeviceKind::gpu;
    const bool cpu_device = request.device.kind == DeviceKind::cpu;
    if (cpu_device && gpu_engine)
        throw UsageError("§engine " + *request.engine + " needs a GPU; expected §device gpu, or §engine cpu");
    if (cpu_engine && gpu_device)
        throw UsageError("§engine " + *request.engine +
                         " runs on the CPU; expected §device cpu, or another engine");
    check_ranks(request);
    const bool serial = selects_on_cpu(request);
    if (serial && (gpu_device || gpu_engine))
        throw UsageError("§select " + request.select + " runs on the CPU; expected no GPU with it");
    if (serial && !request.distance.empty())
        throw UsageError("§select " + request.select +
                         " runs on the CPU; expected no §distance, which names a GPU kernel, with it");
    const std::string kernel = !request.distance.empty()            ? "§distance"
                               : !request.select.empty() && !serial ? "§select"
                                                                    : "";
    if (!kernel.empty() && (cpu_device || cpu_engine))
        throw UsageError(kernel +
                         " names a GPU kernel; expected neither §device cpu nor §engine cpu with it");
}

/// By what the engine is capable of.
UnsupportedReason refuse_by_capabilities(const Engine& engine, const Problem& problem) {
    const Capabilities& can = engine.can;
    if (problem.k > can.max_k)
        return std::string(engine.name) + " finds at most " + with_commas(can.max_k) +
               " neighbors; expected a smaller k, or §engine auto";
    if (problem.type != ElementType::uint8 && !can.reals)
        return std::string("§engine ") + engine.name + " searches rows of uint8, not of " +
               knn::name(problem.type) + "; expected §engine cpu";
    return std::nullopt;
}

/// Kernels and engines say what they do not support; the advice is added here.
[[noreturn]] void refuse(const std::string& why, bool on_gpu) {
    const bool told = why.find("; expected") != std::string::npos;
    throw UsageError(told ? why
                          : why + "; expected another metric or " +
                                (on_gpu ? "kernel, or §device cpu" : "selector"));
}

/// `asked`: what needs a GPU; `instead`: what does not.
[[noreturn]] void refuse_without_gpu(const std::string& asked, const std::string& instead,
                                     const Machine& machine) {
    throw DeviceError(asked + ": no GPU: " + machine.why_no_gpu +
                      "; expected an NVIDIA GPU with its driver and a build with CUDA, or " + instead);
}

/// The requested GPU, by default the first; null if the machine has none. Throws as `find_gpus`.
const Device* find_gpu(const DeviceRequest& request, const Machine& machine) {
    const std::string asked = "§device " + request.text();
    if (machine.gpus.empty()) {
        if (request.kind == DeviceKind::gpu) refuse_without_gpu(asked, "§device cpu", machine);
        return nullptr;
    }
    const auto found = std::find_if(machine.gpus.begin(), machine.gpus.end(), [&](const Device& gpu) {
        return !request.number || gpu.number == *request.number;
    });
    if (found == machine.gpus.end())
        throw DeviceError(asked +
                          ": no such GPU; expected gpu:" + std::to_string(machine.gpus.front().number) +
                          " to gpu:" + std::to_string(machine.gpus.back().number));
    return &*found;
}

/// With the first engine that can.
Resolved resolve_one(const PlanRequest& request, const Problem& problem, const Machine& machine,
                     std::span<const Engine> table) {
    if (const UnsupportedReason why = refuse_problem(problem)) throw UsageError(*why);
    const bool on_gpu = wants_gpu(request);
    const Device* gpu = on_gpu ? find_gpu(request.device, machine) : nullptr;
    const bool named_kernels = !request.distance.empty() || !request.select.empty();
    const bool lacks_gpu = on_gpu && gpu == nullptr;
    const Engine* named = find_engine(request.engine.value_or(default_engine), table);
    if (lacks_gpu && request.engine && named != nullptr)
        refuse_without_gpu("§engine " + *request.engine, "§engine cpu", machine);
    if (lacks_gpu && named_kernels) {
        const std::string option = request.distance.empty() ? "§select" : "§distance";
        refuse_without_gpu(option + ' ' + (request.distance.empty() ? request.select : request.distance),
                           "no " + option, machine);
    }
    std::vector<const Engine*> candidates;
    if (gpu == nullptr)
        candidates = {&first_engine(false, table)};
    else if (named != nullptr && (request.engine || named_kernels))
        candidates = {named};
    else
        for (const Engine& engine : table)
            if (engine.on_gpu || (request.device.kind == DeviceKind::automatic && !named_kernels))
                candidates.insert(&engine == named ? candidates.begin() : candidates.end(), &engine);

    UnsupportedReason first;  // of the engine that would have run
    for (const Engine* engine : candidates) {
        Resolved resolved{engine,
                          {.engine = engine->name,
                           .device = engine->on_gpu ? *gpu : machine.cpu,
                           .distance = request.distance,
                           .select = request.select,
                           .batch = request.batch,
                           .threads = request.threads,
                           .memory = request.memory,
                           .sketch = request.sketch},
                          ""};
        UnsupportedReason why = refuse_by_capabilities(*engine, problem);
        if (!why) why = engine->configure(problem, resolved.plan);
        if (why) {
            if (!first) first = why;
            continue;
        }
        if (lacks_gpu)
            resolved.notice = "no GPU (" + machine.why_no_gpu + "): searching on the CPU";
        else if (!engine->on_gpu && first)
            resolved.notice =
                "not on the GPU (" + first->substr(0, first->find("; expected")) + "): searching on the CPU";
        return resolved;
    }
    refuse(*first, gpu != nullptr);
}

/// The other devices run what the first one runs.
void add_devices(const PlanRequest& request, const Problem& problem, const Machine& machine,
                 Resolved& resolved) {
    std::vector<Device> devices = find_gpus(request.device, machine);
    if (devices.size() == 1) return;
    for (const Device& device : devices) {
        Plan plan = resolved.plan;
        plan.device = device;
        if (const UnsupportedReason why = resolved.engine->configure(problem, plan))
            refuse(device_id(device) + ": " + *why, true);
    }
    resolved.plan.devices = std::move(devices);
}

}  // namespace

void check_ranks(const PlanRequest& request) {
    if (request.ranks != nullptr && request.device.several())
        throw UsageError("§device " + request.device.text() +
                         ": with mpirun each rank has one device; expected §device gpu, and a rank for each");
}

std::string DeviceRequest::text() const {
    std::string text = name(kind);
    if (number) text.append(":").append(std::to_string(*number));
    for (const int other : others)
        text.append(",").append(std::to_string(other));
    if (all) text += ":all";
    return text;
}

std::vector<Device> find_gpus(const DeviceRequest& request, const Machine& machine) {
    const Device* first = find_gpu(request, machine);
    if (request.all || first == nullptr) return machine.gpus;
    std::vector<Device> all = {*first};
    for (const int number : request.others)
        all.push_back(*find_gpu({DeviceKind::gpu, number}, machine));
    return all;
}

Machine find_machine(const DeviceRequest& request, const Ranks* ranks) {
    Machine machine;
    machine.gpus = gpus(&machine.why_no_gpu);
    if (ranks != nullptr && !request.number && !machine.gpus.empty())
        machine.gpus = {machine.gpus[at(ranks->local_rank()) % machine.gpus.size()]};
    return machine;
}

Placement placement_for(const Problem& problem, const Plan& plan, std::int64_t workers) {
    constexpr std::int64_t tile_queries = 64;  // a tile of the kernels
    const std::int64_t bytes = problem.n_train * problem.dim * size_of(problem.type);
    // Without a limit: the engine `classic` has 4 bytes a pixel, beside the bytes while they are converted.
    const bool gpu = plan.device.kind == Device::Kind::gpu;
    const std::int64_t fitting = plan.memory > 0 ? plan.memory : gpu ? plan.device.memory_bytes / 6 : 0;
    const bool fits = fitting == 0 || bytes <= fitting;
    return fits && problem.n_query >= tile_queries * workers ? Placement::replicate : Placement::shard;
}

std::int64_t n_parts(const Plan& plan, std::int64_t count, std::int64_t row_bytes) {
    const std::int64_t fitting = plan.memory / row_bytes;
    if (plan.memory == 0 || count <= fitting) return 1;
    return divide_up(count, std::max<std::int64_t>(fitting / 2, 1));
}

bool device_can_transform(const Engine& engine, const TransformSpec& transform) {
    return engine.can.transforms && !transform.makes_reals();
}

Stages stages_of(const Method& method, const Engine& engine, const Plan& plan, const Training& training) {
    const bool raw = method.transform.is_raw(), alone = plan.devices.size() <= 1 && plan.ranks == 1;
    const std::int64_t row_bytes = raw ? training.rows.row_bytes()
                                       : output_dim(method.transform, training.shape) *
                                             size_of(method.compared_type(training.rows.type));
    const bool whole = (alone || plan.placement == Placement::replicate) &&
                       n_parts(plan, training.rows.count, row_bytes) == 1;
    const auto place = [](bool on_device) { return on_device ? StagePlace::device : StagePlace::host; };
    const Capabilities can = engine.can_with(method.compared_type(training.rows.type) != ElementType::uint8);
    Stages stages;
    if (!raw) stages.transform = place(device_can_transform(engine, method.transform));
    if (method.reranks()) stages.rerank = place(can.reranks && method.rerank.has_descriptors() && whole);
    const bool votes = can.votes && !training.labels.empty() &&
                       device_can_vote(method.neighbor_measure().metric, method.vote);
    stages.vote = place(votes && whole && stages.rerank != StagePlace::host);
    return stages;
}

Resolved resolve(const PlanRequest& request, const Problem& problem, const Machine& machine,
                 std::span<const Engine> table) {
    check_combination(request);
    const std::int64_t row_bytes = problem.dim * size_of(problem.type);
    if (request.memory > 0 && request.memory < row_bytes)
        throw UsageError("§memory " + std::to_string(request.memory) + ": no row fits; expected at least " +
                         counted(row_bytes, "byte") + ", the size of one");
    Resolved resolved = resolve_one(request, problem, machine, table);
    if (resolved.engine->on_gpu && request.device.several()) add_devices(request, problem, machine, resolved);
    Plan& plan = resolved.plan;
    if (request.ranks != nullptr && request.ranks->size() > 1) {
        resolved.ranks = request.ranks;
        plan.ranks = request.ranks->size();
    }
    const std::int64_t workers = std::max<std::int64_t>(std::ssize(plan.devices), plan.ranks);
    if (workers > 1)
        plan.placement = request.placement != Placement::automatic ? request.placement
                                                                   : placement_for(problem, plan, workers);
    return resolved;
}

Resolved resolve_on_cpu(const Problem& problem, int threads) {
    PlanRequest request;
    request.device.kind = DeviceKind::cpu;
    request.threads = threads;
    return resolve(request, problem, {});
}

Planner::Planner(const PlanRequest& request) : request_(request) {
    check_combination(request);
    const bool on_gpu = wants_gpu(request);
    const Engine* named = find_engine(request.engine.value_or(default_engine));
    likely_ = on_gpu && named != nullptr ? named : &first_engine(on_gpu);
    if (!on_gpu) return;
    // The default policy: if no thread can be started, `get` looks for GPUs.
    machine_ = std::async(find_machine, request.device, request.ranks).share();
}

int Planner::likely_device() const {
    if (request_.device.number || request_.ranks == nullptr || !machine_.valid())
        return request_.device.number.value_or(0);
    const std::vector<Device>& gpus = machine_.get().gpus;
    return gpus.empty() ? 0 : gpus.front().number;
}

Resolved Planner::resolve(const Problem& problem) {
    return knn::resolve(request_, problem, machine_.valid() ? machine_.get() : Machine());
}

}  // namespace knn
