#include "gpu/engines/pipeline.h"

#include <chrono>
#include <span>

#include "gpu/engines/classic.h"
#include "gpu/engines/tensor.h"
#include "gpu/fused/fused.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

template <class Strategy>
const Strategy& find(std::span<const Strategy* const> table, const std::string& name, const char* kind) {
    std::string names;
    for (const Strategy* strategy : table) {
        if (strategy->name == name) return *strategy;
        names += (names.empty() ? "" : ", ") + std::string(strategy->name);
    }
    throw UsageError("there is no " + std::string(kind) + " '" + name + "'; expected one of: " + names);
}

/// Without a name: the first that supports the problem; where there is none, the first that computes the
/// metric, whose reason is then given.
const DistanceKernel& find_distance(const std::string& name, const Problem& problem) {
    if (!name.empty()) return find(distance_table(), name, "distance kernel");
    const DistanceKernel* best = nullptr;
    for (const DistanceKernel* kernel : distance_table()) {
        if ((kernel->metrics & metric_set(problem.measure.metric)) == 0) continue;
        if (!kernel->supports(problem)) return *kernel;
        if (best == nullptr) best = kernel;
    }
    return best != nullptr ? *best : *distance_table().front();
}

/// Without a name: the first that supports the problem, or the first, whose reason is then given.
const Selector& find_selector(const std::string& name, const Problem& problem) {
    if (!name.empty()) return find(selector_table(), name, "selector");
    for (const Selector* selector : selector_table())
        if (!selector->supports(problem)) return *selector;
    return *selector_table().front();
}

/// Runs `search` on the request's device, and fills in what is the same for all engines.
template <class Search>
SearchResult on_device(const SearchRequest& request, const Watch& watch, Search&& search) {
    const std::vector<Device> all = devices();
    if (request.device < 0 || request.device >= static_cast<int>(all.size()))
        throw DeviceError("there is no GPU number " + std::to_string(request.device) + "; this machine has " +
                          std::to_string(all.size()));
    check(cudaSetDevice(request.device), "choosing the device");
    watch.step(0, request.query.count);

    const auto begin = std::chrono::steady_clock::now();
    SearchResult result = search();
    result.search_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    result.device = all[static_cast<std::size_t>(request.device)];
    return result;
}

}  // namespace

std::vector<StrategyInfo> distance_kernels() {
    std::vector<StrategyInfo> all;
    for (const DistanceKernel* kernel : distance_table())
        all.push_back({kernel->name, kernel->summary});
    return all;
}

std::vector<StrategyInfo> selectors() {
    std::vector<StrategyInfo> all;
    for (const Selector* selector : selector_table())
        all.push_back({selector->name, selector->summary});
    return all;
}

Refusal refuse(const Problem& problem, const std::string& distance, const std::string& select) {
    if (problem.measure.metric == Metric::lp && problem.weights == Weights::distance)
        return "weights by lp distances need powers, which GPUs and CPUs round differently";
    if (Refusal refusal = find_distance(distance, problem).supports(problem)) return refusal;
    return find_selector(select, problem).supports(problem);
}

SearchResult search(const SearchRequest& request, const Watch& watch) {
    const Problem problem = request.problem();
    if (const Refusal refusal = refuse(problem, request.distance, request.select)) throw UsageError(*refusal);
    return on_device(request, watch, [&] {
        return run_classic(request, find_distance(request.distance, problem),
                           find_selector(request.select, problem), watch);
    });
}

std::vector<StrategyInfo> tensor_kernels() {
    std::vector<StrategyInfo> all;
    for (const TensorKernel* kernel : tensor_table())
        all.push_back({kernel->name, kernel->summary});
    return all;
}

SearchResult search_tensor(const SearchRequest& request, const Watch& watch) {
    return on_device(request, watch, [&] {
        if (const Refusal refusal = refuse_tensor(request)) throw UsageError(*refusal);
        return run_tensor(request, watch);
    });
}

}  // namespace knn::gpu
