#pragma once
/// The options of the commands, one function per group; a command names the groups that it takes.

#include <boost/program_options/options_description.hpp>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/core/problem.h"
#include "data/core/searcher.h"
#include "data/set/locate.h"

namespace knn {

enum class When { automatic, always, never };

/// What is searched for and by what.
struct SearchOptions {
    int k = 5;
    std::string engine = "classic";
    bool engine_named = false;     ///< whether the user chose the engine
    std::string distance, select;  ///< empty: the engine's own
    Metric metric = Metric::l2;
    double p = 2;  ///< the exponent of the metric lp
    Weights weights = Weights::uniform;
    Tie tie = Tie::smallest;
    std::string device = "auto";
    int device_number = 0;                                    ///< N of gpu:N
    std::int64_t limit_train = 0, limit_test = 0, batch = 0;  ///< 0: all, all, chosen by the engine
    int threads = 0;                                          ///< 0: all that the process may use
};

/// The search that the options ask for, among the first of these images and labels where --limit-train says
/// so; the caller adds the queries and the device.
SearchRequest search_request(const SearchOptions& options, const Rows& train,
                             std::span<const std::uint8_t> labels);

/// Where the results go; file names may be "-", standard output.
struct OutputOptions {
    std::string json, predictions, neighbors_csv, report;
    bool quiet = false;
    When color = When::automatic, progress = When::automatic;
};

/// What `info` alone takes.
struct InfoOptions {
    std::string json, write_synthetic;
};

/// Whether `classify` may answer that a picture shows no digit it knows.
enum class Reject { off, automatic };

/// What `classify` alone takes.
struct ClassifyOptions {
    std::vector<std::string> images;  ///< files, folders, "-"
    std::string explain;              ///< file of the picture
    bool many = false, no_cache = false;
    Reject reject = Reject::automatic;
};

/// In which order digits are shown: the most sure first, by index, or by pair of labels.
enum class Order { confidence, index, pair };

/// What `view` alone takes: which digits, and how they are shown; no form at all is the window.
struct ViewOptions {
    std::string from;  ///< a report of `evaluate`; empty: evaluate
    std::vector<std::int64_t> true_labels, predicted_labels, indices;  ///< empty: any
    bool all = false;                                                  ///< the correct ones too
    Order order = Order::confidence;
    std::int64_t limit = 0;  ///< 0: all
    std::string sheet, html;
    bool text = false;
};

/// What `bench` alone takes.
struct BenchOptions {
    std::string which;              ///< the case; empty: the data set
    std::vector<std::string> only;  ///< names; empty: all
    int repeat = 10;
    double seconds = 5;                              ///< what one row may take
    std::int64_t n_train = 0, n_query = 0, dim = 0;  ///< 0: those of the data set
    std::string json, csv, plot;
};

struct Options {
    DataOptions data;
    SearchOptions search;
    OutputOptions output;
    InfoOptions info;
    ClassifyOptions classify;
    ViewOptions view;
    BenchOptions bench;
    std::set<std::string> given;  ///< which options the command line has: "data", "-k"
};

/// Options that belong together, under one heading of the help.
struct OptionGroup {
    const char* title;
    boost::program_options::options_description list;
};

/// Each group writes into `options` when Boost notifies; a bad value is a UsageError.
OptionGroup data_group(Options& options);
OptionGroup search_group(Options& options);
OptionGroup output_group(Options& options);
OptionGroup classify_search_group(Options& options);
OptionGroup classify_group(Options& options);
OptionGroup info_group(Options& options);
OptionGroup selection_group(Options& options);
OptionGroup form_group(Options& options);
OptionGroup bench_group(Options& options);
OptionGroup bench_search_group(Options& options);
OptionGroup bench_output_group(Options& options);

/// Throws UsageError where options contradict each other that no command can reconcile: the metric and --p.
void check_options(const Options& options);

const char* name(Metric metric);
const char* name(Weights weights);
const char* name(Tie tie);
const char* name(Order order);

/// The value of a name. Throw UsageError "OPTION TEXT: ...".
Metric metric_named(const char* option, const std::string& text);
Weights weights_named(const char* option, const std::string& text);
Tie tie_named(const char* option, const std::string& text);

}  // namespace knn
