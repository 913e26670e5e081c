#include "app/bench/papers.h"

#include <algorithm>
#include <sstream>

#include "app/cli/values.h"
#include "data/core/errors.h"

namespace knn {

namespace {

constexpr const char* files[] = {"data",         "train",       "test",        "train-images",
                                 "train-labels", "test-images", "test-labels", "extra"};

void refuse_if(bool wrong, const std::string& text) {
    if (wrong) throw UsageError(text);
}

/// Options whose value the case may fix, and the names of rows.
void check_case(const BenchCase& which, const Options& options) {
    const std::string has_its_own = std::string(": the case ") + which.name + " has its own";
    const std::vector<std::string> takes = words_of(which.takes), names = words_of(which.names);
    const auto fixed = [&](const std::string& name, const char* group) {
        return options.given.contains(name) && !has(takes, group);
    };
    for (const std::string name :
         {"-k", "n-train", "n-query", "dim", "distance", "select", "engine", "metric", "p"})
        refuse_if(fixed(name, name.c_str()),
                  (name == "-k" ? "" : "--") + name + has_its_own + "; expected one of the two");
    for (const std::string file : files)
        refuse_if(fixed(file, "data"), "--" + file + has_its_own + " images; expected one of the two");
    refuse_if(options.request.device.several(),
              "--device " + options.request.device.text() + ": the case " + which.name +
                  " measures one device; expected gpu or gpu:N, or no --case");
    refuse_if(options.request.ranks != nullptr,
              std::string("--case ") + which.name +
                  ": measures one process; expected it without mpirun, or bench with no --case");
    for (const std::string& name : options.bench.only)
        refuse_if(!has(names, name), "--only " + name + has_its_own + " rows; expected " +
                                         (names.empty() ? "one of the two" : one_of(names)));
}

/// --distance and --select apply to rows of kernels: each is measured behind or before those that --only names.
void check_strategies(const Options& options) {
    const auto check = [&](const std::string& option, const std::string& name, const auto& own,
                           const auto& others, const std::string& unknown, const std::string& unused) {
        if (name.empty()) return;
        const std::string given = option + name + ": ";
        refuse_if(!has(gpu_names(own, {}), name), given + unknown);
        refuse_if(options.request.device.kind == DeviceKind::cpu,
                  given + "runs on a GPU; expected no --device cpu with it");
        refuse_if(gpu_names(others, options.bench).empty(), given + unused);
    };
    const std::string &distance = options.request.distance, &select = options.request.select;
    check("--distance ", distance, distance_kernels(), selectors(),
          "a kernel of the engine tensor, which selects by itself; expected one that selectors can be "
          "measured behind",
          "selectors are measured behind it, and --only names none; expected one of them, or no --distance");
    check("--select ", select, selectors(), distance_kernels(),
          "runs on the CPU; expected a selector of the GPU, to be measured behind distance kernels, or "
          "--only " +
              select,
          "it is measured behind distance kernels, and --only names none; expected one of them, or no "
          "--select");
}

/// --engine names one of the searches.
void check_engine(const Options& options) {
    if (!options.request.engine) return;
    const std::string given = "--engine " + *options.request.engine;
    const Engine* engine = find_engine(*options.request.engine);
    refuse_if(engine == nullptr,
              given + ": all of them are measured unless one is named; expected a name or no --engine");
    refuse_if(!options.bench.only.empty(),
              "--engine and --only: both say which engines are measured; expected one of the two");
    refuse_if(engine->on_gpu && options.request.device.kind == DeviceKind::cpu,
              given + ": runs on a GPU; expected no --device cpu with it");
}

void check_sizes(const Options& options) {
    if (options.bench.dim == 0) return;
    for (const std::string size : {"n-train", "n-query"})
        refuse_if(!options.given.contains(size),
                  "--dim: random images need their number too; expected --" + size);
}

template <Paper paper()>
void run_data(BenchRun& run) {
    run_paper(run, paper());
}

}  // namespace

std::vector<SearchWay> search_ways() {
    std::vector<SearchWay> ways;
    for (const Engine& engine : engines()) {
        ways.push_back({engine.name, &engine});
        // The fastest unfused strategies: the baseline of `tensor`.
        if (std::string_view(engine.name) == "classic")
            ways.push_back({"classic+gemm+replace_max", &engine, "gemm", "replace_max"});
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
    const auto add = [&](const auto& all) {
        for (const auto& one : all)
            if (!has(names, one.name)) names.emplace_back(one.name);
    };
    add(distance_kernels());
    add(selectors());
    add(cpu::serial_selectors());
    names.emplace_back(serial_distances);
    add(search_ways());
    return names;
}

std::vector<std::string> bench_case_names() {
    return names_of(bench_cases());
}

std::vector<std::string> parse_only(const std::string& option, const std::string& text) {
    const std::vector<std::string> known = bench_names();
    std::vector<std::string> wanted;
    std::istringstream names(text + ',');
    for (std::string name; std::getline(names, name, ',');)
        wanted.push_back(parse_strategy(option, name, known));
    return wanted;
}

bool is_wanted(const BenchOptions& options, const std::string& name) {
    return options.only.empty() || has(options.only, name);
}

std::vector<std::string> gpu_names(const std::vector<Strategy>& all, const BenchOptions& options) {
    std::vector<std::string> names;
    for (const Strategy& one : all)
        if (one.on_gpu && is_wanted(options, one.name)) names.push_back(one.name);
    return names;
}

const std::vector<BenchCase>& bench_cases() {
    static const std::vector<BenchCase> cases = {
        {"garrett", "Garrett, Luo and Lu (seed 003), sections 2 to 4", run_garrett,
         "data -k n-train n-query"},
        {"nolan", "Nolan (seed 000), section 5", run_data<nolan_paper>, "",
         "insertion rank rank512 bitonic bitonic_single block_rank_merge bitonic_topk multiselect "
         "serial_insertion nth_element cpu"},
        {"komarov", "Komarov, Dashti and D'Souza (seed 001), figures 4 to 9, selection alone",
         run_data<komarov_paper>, "", "multiselect multiselect_random insertion bitonic_topk nth_element"},
        {"singh", "Singh (seed 002), appendix A", run_data<singh_paper>},
        {"zhu", "Zhu (seed 004), tile sides and the three tricks", run_data<zhu_paper>},
        {"graph", "the k-nearest-neighbor graph of the training set", run_graph, "data -k n-train metric p",
         "tensor classic+gemm+replace_max cpu"},
        {"sketches", "searches by direct products and by sketches", run_sketches, "data -k n-train n-query"},
        {"transforms", "features of the training set", run_transforms, "data n-train"},
        {"rerank", "distances of candidates", run_rerank, "data n-train n-query"},
    };
    return cases;
}

const BenchCase* find_case(const std::string& name) {
    for (const BenchCase& one : bench_cases())
        if (one.name == name) return &one;
    return nullptr;
}

bool uses_data_set(const Options& options) {
    const BenchCase* which = find_case(options.bench.which);
    return which != nullptr ? has(words_of(which->takes), "data") : options.bench.dim == 0;
}

void check_bench_options(const Options& options) {
    check_ranks(options.request);
    if (const BenchCase* which = find_case(options.bench.which)) return check_case(*which, options);
    check_sizes(options);
    check_strategies(options);
    check_engine(options);
}

}  // namespace knn
