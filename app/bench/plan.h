#pragma once
/// What `bench` can run, by name, and which options can be combined. All lists here are read from the tables of engines,
/// kernels and selectors.

#include <string>
#include <vector>

#include "app/cli/options.h"
#include "classifier/engines.h"

namespace knn {

/// A whole search: an engine, optionally with strategies other than its own.
struct SearchWay {
    std::string name;  ///< "tensor", "classic+gemm+replace_max"
    const Engine* engine = nullptr;
    std::string distance, select;           ///< empty: the engine's own
    SpreadBy spread = SpreadBy::automatic;  ///< among all GPUs of --device, or all ranks; automatic: neither
};

/// Every engine, and engines with other strategies that serve as baselines.
std::vector<SearchWay> search_ways();
/// The one of this name, which must exist.
SearchWay search_way(const std::string& name);

bool has(const std::vector<std::string>& names, const std::string& name);

/// Name of the row for the distances on one CPU thread.
inline constexpr const char* serial_distances = "serial";

/// Everything that --only takes.
std::vector<std::string> bench_names();

/// Whether --only lets this name run.
bool is_wanted(const BenchOptions& options, const std::string& name);

/// An experiment.
struct BenchCase {
    const char* name;
    const char* summary;  ///< after its name in the title: authors and topic
    void (*run)(class BenchRun& run);
    /// The options that it does not fix itself: "data" if it uses a data set, sizes.
    std::vector<std::string> takes;
    /// The names that --only accepts with it: rows that do not depend on others.
    std::vector<std::string> names;
};
const std::vector<BenchCase>& bench_cases();
/// The one of this name; null if there is none.
const BenchCase* find_case(const std::string& name);

/// Whether the run reads a data set.
bool uses_data_set(const Options& options);

/// Throws UsageError if options contradict each other or would have no effect: a case has its own sizes, a
/// GPU kernel cannot be combined with --device cpu.
void check_bench_options(const Options& options);

}  // namespace knn
