#include "gpu/pipeline.h"

#include <chrono>
#include <span>

#include "gpu/classic.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

template <class Strategy>
const Strategy& find(std::span<const Strategy* const> table, const std::string& name, const char* kind) {
    if (name.empty()) return *table.front();
    std::string names;
    for (const Strategy* strategy : table) {
        if (strategy->name == name) return *strategy;
        names += (names.empty() ? "" : ", ") + std::string(strategy->name);
    }
    throw UsageError("there is no " + std::string(kind) + " '" + name + "'; expected one of: " + names);
}

const DistanceKernel& find_distance(const std::string& name) {
    return find(distance_table(), name, "distance kernel");
}
const Selector& find_selector(const std::string& name) {
    return find(selector_table(), name, "selector");
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
    if (problem.metric == Metric::lp && problem.weights == Weights::distance)
        return "weights by lp distances need powers, which GPUs and CPUs round differently";
    if (Refusal refusal = find_distance(distance).supports(problem)) return refusal;
    return find_selector(select).supports(problem);
}

SearchResult search(const SearchRequest& request, const Watch& watch) {
    if (const Refusal refusal = refuse(request.problem(), request.distance, request.select))
        throw UsageError(*refusal);
    const std::vector<Device> all = devices();
    if (request.device < 0 || request.device >= static_cast<int>(all.size()))
        throw DeviceError("there is no GPU number " + std::to_string(request.device) + "; this machine has " +
                          std::to_string(all.size()));
    check(cudaSetDevice(request.device), "choosing the device");
    watch.step(0, request.query.count);

    const auto begin = std::chrono::steady_clock::now();
    SearchResult result =
        run_classic(request, find_distance(request.distance), find_selector(request.select), watch);
    result.search_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    result.device = all[static_cast<std::size_t>(request.device)];
    return result;
}

}  // namespace knn::gpu
