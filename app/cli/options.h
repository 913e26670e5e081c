#pragma once
/// What the command line asks of each command. app/cli/option_table.h says which option sets what.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/graph.h"
#include "classifier/leave_one_out.h"
#include "classifier/method.h"
#include "classifier/plan.h"
#include "classifier/prototypes.h"
#include "classifier/tune.h"
#include "data/core/names.h"
#include "data/set/locate.h"
#include "data/vectors/generate.h"

namespace knn {

enum class When { automatic, always, never };
template <>
inline constexpr std::array name_list<When>{"auto", "always", "never"};

/// Where the results go; file names may be "-", standard output.
struct OutputOptions {
    std::string json, predictions, neighbors_csv, report;
    bool quiet = false;
    When color = When::automatic, progress = When::automatic;
};

/// By how many degrees `classify` turns pictures clockwise.
enum class Turn { none, quarter, half, three_quarters };
template <>
inline constexpr std::array name_list<Turn>{"0", "90", "180", "270"};

// What one command alone takes.

struct ClassifyOptions {
    std::string explain;  ///< file of the picture
    bool many = false;
    bool numbers = false;                    ///< with signs and decimal points
    std::optional<std::array<int, 2>> grid;  ///< rows and columns of a frame with a digit in each cell
    std::string form;                        ///< file that describes a form
    bool recursive = false;                  ///< into the folders of folders
    bool expected = false;                   ///< names tell the digits
    bool pixels = false;                     ///< in the JSON
    std::string review;                      ///< folder of digits that the user named
    int json_version = 2;                    ///< of its schema
    Turn rotate = Turn::none;
    /// The share of digits that may be answered with ?, so that fewer other things are answered with a digit; none: every
    /// picture is answered with a digit.
    std::optional<double> reject = usual_loss;

    /// Whether pictures have any number of digits.
    bool reads_pages() const { return many || numbers || grid || !form.empty(); }
};

/// In which order digits are shown: the most sure first, by index, or by pair of labels.
enum class Order { confidence, index, pair };
template <>
inline constexpr std::array name_list<Order>{"confidence", "index", "pair"};

/// What `view` alone takes: which digits, and how they are shown; no form at all is the window.
struct ViewOptions {
    std::string from;                                        ///< a report of `evaluate`; empty: evaluate
    std::vector<std::string> true_labels, predicted_labels;  ///< names of classes; empty: any
    std::vector<std::int64_t> indices;                       ///< empty: any
    bool all = false;                                        ///< the correct ones too
    Order order = Order::confidence;
    std::int64_t limit = 0;  ///< 0: all
    std::string sheet, html;
    bool text = false;
};

struct BenchOptions {
    std::string which;              ///< the case; empty: the data set
    std::vector<std::string> only;  ///< names; empty: all
    int repeat = 10;
    double seconds = 5;                              ///< what one row may take
    std::int64_t n_train = 0, n_query = 0, dim = 0;  ///< 0: those of the data set
    std::string csv, plot;
};

struct GraphOptions {
    std::string images;               ///< empty: a data set
    std::string npy, csv, mtx, plot;  ///< npy: the beginning of two names
    GraphForm form = GraphForm::directed;
};

struct NeighborsOptions {
    std::string train, queries;   ///< no queries: the training rows are
    std::string label_column;     ///< of CSV files: is no attribute
    std::optional<double> range;  ///< all within this distance instead of k
    bool exclude_self = false;
    std::string npy, npz, csv, ibin;  ///< npy: the beginning of two names
};

/// Which set `audit` judges: the training set by leave-one-out, or the test set.
enum class AuditSet { train, test };
template <>
inline constexpr std::array name_list<AuditSet>{"train", "test"};

struct AuditOptions {
    AuditSet of = AuditSet::train;
    std::string csv, html, sheet;
    std::int64_t limit = 0;             ///< 0: as many as suit the form
    std::int64_t plant = 0;             ///< labels to make wrong first
    std::optional<std::uint64_t> seed;  ///< none: 1
};

/// What `tune` alone takes. Each method is tried with each transform, metric and re-ranker; without one, with its own.
struct TuneOptions {
    std::vector<Method> methods;  ///< empty: raw
    std::vector<TransformSpec> transforms;
    std::vector<Metric> metrics;
    std::vector<RerankSpec> rerankers;  ///< kinds, and parameters of `spread`
    int candidates = 0;                 ///< 0: the method's
    VoteRange range;
    std::int64_t limit = 20;  ///< lines of the table
    std::string csv, plot, save;
};

struct ServeOptions {
    std::string address = "127.0.0.1";
    int port = 8765;     ///< 0: any free one
    std::string token;   ///< empty: none is asked for
    std::string report;  ///< a report of `evaluate`; empty: the test set is classified when it is asked for
};

struct Options {
    DataOptions data;
    FirstImages first;
    Method method;
    PlanRequest request;
    OutputOptions output;
    bool no_cache = false;
    ClassifyOptions classify;
    ViewOptions view;
    BenchOptions bench;
    GraphOptions graph;
    NeighborsOptions neighbors;
    AuditOptions audit;
    TuneOptions tune;
    ServeOptions serve;
    struct {
        std::string out;
        PrototypeRule rule = PrototypeRule::both;
    } condense;
    struct {
        std::string out;
    } learn;
    struct {
        std::string csv, html;
    } compare;
    struct {
        GenerateSettings settings;
        std::string out;
    } generate;
    struct {
        std::string write_synthetic;  ///< a folder
        bool clear_cache = false;
    } info;
    std::vector<std::string> operands;                ///< pictures, folders, reports; "-" is standard input
    std::vector<std::filesystem::path> method_files;  ///< of --method
    std::set<std::string> given;                      ///< which options the command line has: "data", "-k"
};

/// The files of --report, the last two only of pictures, and the ends of the names of --npy.
inline constexpr std::array report_files = {"report.json",
                                            "predictions.csv",
                                            "confusion.png",
                                            "index.html",
                                            "pictures-images-idx3-ubyte",
                                            "pictures-labels-idx1-ubyte"};
inline constexpr const char* report_head =
    "{\n  \"schema\": \"mnist-knn/evaluate/";  ///< how the first begins
/// The files of learn --out.
inline constexpr std::array learned_files = {mnist_files[0].name, mnist_files[1].name, "learned.csv",
                                             no_digits_file};
inline constexpr const char *learned_header = "index,label,file\n", *kept_header = "index\n";
inline constexpr std::array npy_endings = {"-indices.npy", "-distances.npy"};
inline constexpr std::string_view npy_head =
    std::string_view("\x93NUMPY\x01\0v\0{'descr': '<i4', 'fortran_order': False, 'shape': (", 61);

/// A method of the table, or of a file (classifier/method.h), whose name is added to `options.method_files`. Throws
/// UsageError, DataError.
Method parse_method(const std::string& given, Options& options);

/// Throws UsageError where options contradict each other, or where one has no effect beside the others; `votes`: whether the
/// command does, which then takes --vote.
void check_options(const Options& options, bool votes);

/// Throws UsageError where a re-ranker has fewer candidates than neighbors vote.
void check_candidates(int candidates, int k);

/// Whether the options name a data set, or one of its files.
bool names_data(const Options& options);

/// `text`, one of these names of kernels, selectors and engines. Throws UsageError, which says if the name may exist in a
/// build with CUDA.
std::string parse_strategy(const std::string& option, const std::string& text,
                           const std::vector<std::string>& names);

/// What --case and --only of `bench` take (app/bench/plan.cpp). parse_only: the names in "a,b,c"; throws UsageError, with
/// the nearest name, if one is unknown.
std::vector<std::string> bench_case_names();
std::vector<std::string> parse_only(const std::string& option, const std::string& text);

}  // namespace knn
