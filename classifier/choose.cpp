#include "classifier/choose.h"

#include <algorithm>

#include "data/core/errors.h"

namespace knn {

namespace {

constexpr std::string_view automatic = "auto";

/// Whether the selector is one of the CPU's own.
bool selects_on_cpu(const SearchOptions& options) {
    const std::vector<Strategy> all = selectors();
    return std::any_of(all.begin(), all.end(),
                       [&](const Strategy& one) { return one.name == options.select && !one.on_gpu; });
}

void check_combination(const SearchOptions& options) {
    const Engine* engine = find_engine(options.engine);
    const bool gpu_engine = options.engine_named && engine != nullptr && engine->on_gpu;
    const bool cpu_engine = engine != nullptr && !engine->on_gpu;
    const bool gpu_device = options.device.starts_with("gpu");
    if (options.device == "cpu" && gpu_engine)
        throw UsageError("--engine " + options.engine +
                         " needs a GPU; expected --device gpu, or --engine cpu");
    if (cpu_engine && gpu_device)
        throw UsageError("--engine " + options.engine +
                         " runs on the CPU; expected --device cpu, or another engine");
    const bool serial = selects_on_cpu(options);
    if (serial && (gpu_device || gpu_engine))
        throw UsageError("--select " + options.select + " runs on the CPU; expected no GPU with it");
    if (serial && !options.distance.empty())
        throw UsageError("--select " + options.select +
                         " runs on the CPU; expected no --distance, which names a GPU kernel, with it");
    const std::string strategy = !options.distance.empty()            ? "--distance"
                                 : !options.select.empty() && !serial ? "--select"
                                                                      : "";
    if (!strategy.empty() && (options.device == "cpu" || cpu_engine))
        throw UsageError(strategy +
                         " names a GPU kernel; expected neither --device cpu nor --engine cpu with it");
}

/// Kernels and engines say what they cannot do; what to do instead is known here.
[[noreturn]] void refuse(const std::string& why, bool on_gpu) {
    const bool told = why.find("; expected") != std::string::npos;
    throw UsageError(told ? why
                          : why + "; expected another metric or " +
                                (on_gpu ? "kernel, or --device cpu" : "selector"));
}

const Engine& first_engine(bool on_gpu) {
    return *std::find_if(engines().begin(), engines().end(),
                         [&](const Engine& e) { return e.on_gpu == on_gpu; });
}

}  // namespace

Choice choose_on_gpu(const SearchOptions& options, int gpu, const SearchRequest& request,
                     std::span<const Engine> table) {
    const auto named = std::find_if(table.begin(), table.end(),
                                    [&](const Engine& engine) { return engine.name == options.engine; });
    const bool wanted = options.engine_named || !options.distance.empty() || !options.select.empty();
    if (named != table.end() && wanted) return {&*named, gpu, ""};

    SearchRequest asked = request;
    asked.device = gpu;
    std::vector<const Engine*> candidates;
    for (const Engine& engine : table)
        candidates.insert(engine.name == options.engine ? candidates.begin() : candidates.end(), &engine);
    Refusal first;  // of the engine that would have run
    for (const Engine* engine : candidates) {
        if (!engine->on_gpu && options.device != automatic) continue;
        const Refusal refusal = engine->refuse(asked);
        if (!refusal && (engine->on_gpu || !first)) return {engine, gpu, ""};
        if (!refusal) return {engine, gpu, "not on the GPU (" + *first + "): searching on the CPU"};
        if (!first) first = refusal;
    }
    refuse(*first, true);
}

Chooser::Chooser(const SearchOptions& options) : options_(options) {
    check_combination(options);
    const Engine* named = find_engine(options.engine);
    const bool on_gpu =
        options.device != "cpu" && (named == nullptr || named->on_gpu) && !selects_on_cpu(options);
    likely_ = on_gpu && named != nullptr ? named : &first_engine(on_gpu);
    if (!on_gpu) return;
    // The default policy looks in this thread, later, where the system gives no more threads.
    found_ = std::async([] {
        Found found;
        found.gpus = knn::gpus(&found.why_none);
        return found;
    });
}

Choice Chooser::choose(const SearchRequest& request) {
    if (Refusal refusal = refuse_problem(request.problem())) throw UsageError(*refusal);
    Choice choice{&first_engine(false), 0, ""};
    if (found_.valid()) {
        const Found found = found_.get();
        choice = found.gpus.empty() ? without_gpu(found.why_none) : on_gpu(found.gpus, request);
    }
    SearchRequest asked = request;
    asked.device = choice.device;
    if (const Refusal refusal = choice.engine->refuse(asked)) refuse(*refusal, choice.engine->on_gpu);
    return choice;
}

Choice Chooser::without_gpu(const std::string& why) const {
    if (options_.device != automatic)
        throw DeviceError("--device " + options_.device + ": no GPU: " + why +
                          "; expected an NVIDIA GPU with its driver, or --device cpu");
    std::string notice = "no GPU (" + why + "): searching on the CPU";
    if (!options_.distance.empty() || !options_.select.empty())
        notice += ", which has no use for --distance and --select";
    return {&first_engine(false), 0, notice};
}

Choice Chooser::on_gpu(const std::vector<Device>& gpus, const SearchRequest& request) const {
    const bool numbered = options_.device.starts_with("gpu:");
    const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const Device& known) {
        return !numbered || known.number == options_.device_number;
    });
    if (gpu == gpus.end())
        throw DeviceError("--device " + options_.device +
                          ": no such GPU; expected gpu:" + std::to_string(gpus.front().number) +
                          " to gpu:" + std::to_string(gpus.back().number));
    return choose_on_gpu(options_, gpu->number, request, engines());
}

}  // namespace knn
