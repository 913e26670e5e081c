// Which options of `bench` can be combined. None is ignored silently.

#include <algorithm>

#include "app/bench/plan.h"
#include "app/cli/values.h"
#include "data/core/errors.h"

namespace knn {

namespace {

constexpr const char* files[] = {"data", "train-images", "train-labels", "test-images", "test-labels"};

/// Options whose value the case may fix, and the names of rows.
void check_case(const BenchCase& which, const Options& options) {
    const std::string has_its_own = std::string(": the case ") + which.name + " has its own";
    for (const char* name :
         {"-k", "n-train", "n-query", "dim", "distance", "select", "engine", "metric", "p"})
        if (options.given.contains(name) && !has(which.takes, name))
            throw UsageError((*name == '-' ? "" : "--") + std::string(name) + has_its_own +
                             "; expected one of the two");
    for (const char* file : files)
        if (options.given.contains(file) && !has(which.takes, "data"))
            throw UsageError("--" + std::string(file) + has_its_own + " images; expected one of the two");
    if (options.wish.device.several())
        throw UsageError("--device " + options.wish.device.text() + ": the case " + which.name +
                         " measures one device; expected gpu or gpu:N, or no --case");
    if (options.wish.ranks != nullptr)
        throw UsageError(std::string("--case ") + which.name +
                         ": measures one process; expected it without mpirun, or bench with no --case");
    const auto& only = options.bench.only;
    const auto other = std::find_if(only.begin(), only.end(),
                                    [&](const std::string& name) { return !has(which.names, name); });
    if (other != only.end())
        throw UsageError("--only " + *other + has_its_own + " rows; expected " +
                         (which.names.empty() ? "one of the two" : one_of(which.names)));
}

/// --distance and --select apply to rows of kernels.
void check_strategies(const Options& options) {
    const Wish& wish = options.wish;
    const BenchOptions& bench = options.bench;
    const auto any_wanted = [&](const std::vector<Strategy>& all) {
        return std::any_of(all.begin(), all.end(),
                           [&](const Strategy& one) { return one.on_gpu && is_wanted(bench, one.name); });
    };
    const auto on_gpu = [](const std::vector<Strategy>& all, const std::string& name) {
        return std::any_of(all.begin(), all.end(),
                           [&](const Strategy& one) { return one.on_gpu && one.name == name; });
    };
    const std::string distance = "--distance " + wish.distance, select = "--select " + wish.select;
    if (!wish.distance.empty() && !on_gpu(distance_kernels(), wish.distance))
        throw UsageError(distance +
                         ": a kernel of the engine tensor, which selects by itself; expected one that " +
                         "selectors can be measured behind");
    if (!wish.select.empty() && !on_gpu(selectors(), wish.select))
        throw UsageError(select +
                         ": runs on the CPU; expected a selector of the GPU, to be measured behind " +
                         "distance kernels, or --only " + wish.select);
    for (const std::string& option :
         {wish.distance.empty() ? "" : distance, wish.select.empty() ? "" : select})
        if (!option.empty() && wish.device.kind == DeviceKind::cpu)
            throw UsageError(option + ": runs on a GPU; expected no --device cpu with it");
    if (!wish.distance.empty() && !any_wanted(selectors()))
        throw UsageError(distance +
                         ": selectors are measured behind it, and --only names none; expected one " +
                         "of them, or no --distance");
    if (!wish.select.empty() && !any_wanted(distance_kernels()))
        throw UsageError(select +
                         ": it is measured behind distance kernels, and --only names none; expected " +
                         "one of them, or no --select");
}

/// --engine names one of the searches.
void check_engine(const Options& options) {
    if (!options.wish.engine) return;
    const std::string& name = *options.wish.engine;
    const Engine* engine = find_engine(name);
    if (engine == nullptr)
        throw UsageError("--engine " + name +
                         ": all of them are measured unless one is named; expected a name or no --engine");
    if (!options.bench.only.empty())
        throw UsageError("--engine and --only: both say which engines are measured; expected one of the two");
    if (engine->on_gpu && options.wish.device.kind == DeviceKind::cpu)
        throw UsageError("--engine " + name + ": runs on a GPU; expected no --device cpu with it");
}

void check_sizes(const Options& options) {
    const BenchOptions& bench = options.bench;
    if (bench.dim == 0) return;
    for (const char* size : {"n-train", "n-query"})
        if (!options.given.contains(size))
            throw UsageError(std::string("--dim: random images need their number too; expected --") + size);
    for (const char* file : files)
        if (options.given.contains(file))
            throw UsageError(std::string("--dim and --") + file +
                             ": random images come from no file; expected one of the two");
}

}  // namespace

void check_bench_options(const Options& options) {
    check_ranks(options.wish);
    if (const BenchCase* which = find_case(options.bench.which)) return check_case(*which, options);
    check_sizes(options);
    check_strategies(options);
    check_engine(options);
}

}  // namespace knn
