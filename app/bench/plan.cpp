#include "app/bench/plan.h"

#include <algorithm>

#include "app/bench/cases.h"
#include "app/cli/values.h"
#include "cpu/serial/serial.h"
#include "data/core/errors.h"

namespace knn {

namespace {

/// Engines with other strategies than their own.
constexpr struct {
    const char *engine, *distance, *select;
} variants[] = {
    {"classic", "gemm", "replace_max"},  // the fastest unfused strategies: the baseline of `tensor`
};

}  // namespace

std::vector<SearchWay> search_ways() {
    std::vector<SearchWay> ways;
    for (const Engine& engine : engines()) {
        ways.push_back({engine.name, &engine, "", ""});
        for (const auto& [name, distance, select] : variants)
            if (std::string_view(name) == engine.name)
                ways.push_back(
                    {std::string(name) + '+' + distance + '+' + select, &engine, distance, select});
    }
    return ways;
}

SearchWay search_way(const std::string& name) {
    const std::vector<SearchWay> ways = search_ways();
    return *std::find_if(ways.begin(), ways.end(), [&](const SearchWay& way) { return way.name == name; });
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> bench_names() {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const Strategy& kernel : distance_kernels())
        add(kernel.name);
    for (const Strategy& selector : selectors())
        add(selector.name);
    for (const cpu::SerialSelector& selector : cpu::serial_selectors())
        add(selector.name);
    add(serial_distances);
    for (const SearchWay& way : search_ways())
        add(way.name);
    return names;
}

std::vector<std::string> bench_case_names() {
    std::vector<std::string> names;
    for (const BenchCase& one : bench_cases())
        names.emplace_back(one.name);
    return names;
}

std::vector<std::string> parse_only(const std::string& option, const std::string& text) {
    const std::vector<std::string> known = bench_names();
    std::vector<std::string> wanted;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        wanted.push_back(known[parse_strategy_name(option, text.substr(begin, end - begin), known)]);
        begin = end + 1;
    }
    return wanted;
}

bool is_wanted(const BenchOptions& options, const std::string& name) {
    return options.only.empty() || has(options.only, name);
}

const std::vector<BenchCase>& bench_cases() {
    static const std::vector<BenchCase> cases = {
        {"garrett",
         "Garrett, Luo and Lu (seed 003), sections 3 and 4",
         run_garrett,
         {"data", "-k", "n-train", "n-query"},
         {}},
        {"nolan",
         "Nolan (seed 000), section 5",
         run_nolan,
         {},
         {"insertion", "rank", "rank512", "bitonic", "bitonic_single", "block_rank_merge", "bitonic_topk",
          "multiselect", "serial_insertion", "nth_element", "cpu"}},
        {"komarov",
         "Komarov, Dashti and D'Souza (seed 001), figures 4 to 9, selection alone",
         run_komarov,
         {},
         {"multiselect", "multiselect_random", "insertion", "bitonic_topk", "nth_element"}},
        {"singh", "Singh (seed 002), appendix A", run_singh, {}, {}},
        {"zhu", "Zhu (seed 004), tile sides and the three tricks", run_zhu, {}, {}},
        {"graph",
         "the k-nearest-neighbor graph of the training set",
         run_graph,
         {"data", "-k", "n-train", "metric", "p"},
         {"tensor", "classic+gemm+replace_max", "cpu"}},
        {"transforms", "features of the training set", run_transforms, {"data", "n-train"}, {}},
        {"rerank", "distances of candidates", run_rerank, {"data", "n-train", "n-query"}, {}},
    };
    return cases;
}

const BenchCase* find_case(const std::string& name) {
    const std::vector<BenchCase>& all = bench_cases();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
    return found != all.end() ? &*found : nullptr;
}

bool uses_data_set(const Options& options) {
    const BenchCase* which = find_case(options.bench.which);
    return which != nullptr ? has(which->takes, "data") : options.bench.dim == 0;
}

}  // namespace knn
