#pragma once
/// What `bench` can run, by name. Every list here is read from the tables of engines, kernels and selectors.

#include <string>
#include <vector>

#include "app/cli/options.h"
#include "classifier/engines.h"

namespace knn {

/// A whole search: an engine, with strategies that are not its own where they are named.
struct SearchWay {
    std::string name;  ///< "tensor", "classic+gemm+replace_max"
    const Engine* engine = nullptr;
    std::string distance, select;  ///< empty: the engine's own
};

/// Every engine as it is, and with strategies that others are to be compared with.
std::vector<SearchWay> search_ways();
/// The one of this name; it is there.
SearchWay search_way(const std::string& name);

bool has(const std::vector<std::string>& names, const std::string& name);

/// The distances that one CPU thread computes, as a row is called.
inline constexpr const char* serial_distances = "serial";

/// Everything that --only takes.
std::vector<std::string> bench_names();

/// The names in "a,b,c". Throws UsageError, with the nearest name, where one is unknown.
std::vector<std::string> parse_only(const std::string& text);

/// Whether --only lets this name run.
bool is_wanted(const BenchOptions& options, const std::string& name);

/// An experiment.
struct BenchCase {
    const char* name;
    const char* summary;  ///< behind its name in the title: whose it is, and what
    void (*run)(class BenchRun& run);
    /// The options that it does not have an answer of its own to: "data" where it is about a data set, sizes.
    std::vector<std::string> takes;
    /// The names that --only takes with it: rows that do without the others.
    std::vector<std::string> names;
};
const std::vector<BenchCase>& bench_cases();
/// The one of this name; null where there is none.
const BenchCase* find_case(const std::string& name);

/// Whether the run reads a data set.
bool uses_data_set(const Options& options);

/// Throws UsageError where options contradict each other or would do nothing: a case has its own sizes, a
/// kernel of the GPU has no use for --device cpu.
void check_bench_options(const Options& options);

}  // namespace knn
