#pragma once
/// What `bench` can run, by name, and which options can be combined; and one run of it: its devices, its report, and the
/// ways to measure. Every measurement is checked before it is kept. All lists here are read from the tables of engines,
/// kernels and selectors.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/bench/report.h"
#include "app/cli/options.h"
#include "app/cli/values.h"
#include "app/console/console.h"
#include "classifier/engines.h"
#include "classifier/host.h"
#include "classifier/index.h"
#include "data/core/dataset.h"
#include "data/core/metric.h"

namespace knn {

class BenchRun;

/// One problem to measure: its images and, once known, its answers.
struct Workload {
    /// Uniformly random bytes, reproducible by the seed.
    Workload(std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int max_k, std::uint64_t seed);

    /// Else its distances are random, and only selections can be measured.
    bool has_images() const { return train.pixels != nullptr; }
    Problem problem(int k) const { return {train.count, query.count, train.dim, k, measure, train.type}; }
    Training training() const { return {train, labels}; }

    /// The first n queries.
    Queries queries(std::int64_t n) const {
        return leave_one_out ? Queries::some_of(query, 0, n) : Queries(query.first(n));
    }

    /// The query of this row of `expected`.
    std::int64_t query_of(std::int64_t row) const {
        return checked.empty() ? row : checked[static_cast<std::size_t>(row)];
    }

    /// Empty if these are the k nearest of the first queries, as far as known; else the first difference.
    std::string mismatch(const Neighbors& found) const;
    /// The same for one row of scores.
    std::string mismatch(std::int64_t of_query, std::span<const std::uint32_t> row) const;

    /// The scores of a query, by plain loops; metrics that these do not support, by the CPU engine with k = the size of each
    /// piece of the training set.
    std::vector<std::uint32_t> right_row(std::int64_t of_query) const;

    /// How many test images of the data set, from the first on, these label right by their majority; 0 without one.
    std::int64_t count_right(const Neighbors& found) const;

    std::unique_ptr<HostMemory> memory;  ///< of the data set: pinned if there is a GPU
    Dataset dataset;                     ///< empty if the images are random
    std::string text;                    ///< description
    Bytes pixels;                        ///< random training images and queries
    Rows train, query;
    std::vector<std::uint8_t> no_labels;  ///< of random images: all 0
    std::span<const std::uint8_t> labels;
    int max_k;  ///< the largest k that will be asked for
    Measure measure;

    /// Set if the queries are training images; `expected` leaves each query itself out too, and its distance to itself
    /// is `excluded_distance`.
    bool leave_one_out = false;

    /// The reference: the `max_k` nearest of the queries in `checked`, or, if that is empty, of all queries
    /// or the first ones. Both are set together.
    Neighbors expected;
    std::vector<std::int64_t> checked;  ///< ascending

    /// On the GPU, if BenchRun::upload made them.
    std::unique_ptr<BenchArrays> arrays;
};

/// The data set, or random bytes with --dim, with the metric of the options. Throws DataError, UsageError (more images
/// wanted than there are; k larger than their number).
Workload load_workload(BenchRun& run, int largest_k);

/// The metric in a title: ", metric cosine", ", metric lp with p = 3"; empty for l2.
std::string metric_words(const Measure& measure);

/// The size of its rows: "784 pixels", "4 float64 columns".
std::string size_words(const Workload& work);

/// "MNIST: 60,000 training images of 784 pixels".
std::string training_words(const Workload& work);

/// A pseudorandom number that depends only on seed and index (splitmix64).
std::uint64_t random_value(std::uint64_t seed, std::uint64_t index);

/// At most `max_count` of 0 .. n - 1, evenly spaced, including the first and the last.
std::vector<std::int64_t> sample(std::int64_t n, std::int64_t max_count);

/// A whole search: an engine, optionally with strategies other than its own.
struct SearchWay {
    std::string name;  ///< "tensor", "classic+gemm+replace_max"
    const Engine* engine = nullptr;
    std::string distance = {}, select = {};  ///< empty: the engine's own
    Placement placement =
        Placement::automatic;  ///< among all GPUs of --device, or all ranks; automatic: neither
    SketchColumns sketch = SketchColumns::automatic;
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

/// The strategies of a table that run on a GPU and that --only lets run.
std::vector<std::string> gpu_names(const std::vector<Strategy>& all, const BenchOptions& options);

/// An experiment.
struct BenchCase {
    const char* name;
    const char* summary;  ///< after its name in the title: authors and topic
    void (*run)(BenchRun& run);
    /// The options that it does not fix itself: "data" if it uses a data set, sizes.
    const char* takes = "";
    /// The names that --only accepts with it: rows that do not depend on others.
    const char* names = "";
};
const std::vector<BenchCase>& bench_cases();
/// The one of this name; null if there is none.
const BenchCase* find_case(const std::string& name);

/// Whether the run reads a data set.
bool uses_data_set(const Options& options);
/// What it reads: no test set if a case takes no number of queries.
DataLocation locate_sets(const Options& options);

/// Throws UsageError if options contradict each other or would have no effect: a case has its own sizes, a
/// GPU kernel cannot be combined with --device cpu.
void check_bench_options(const Options& options);

class BenchRun {
  public:
    /// Finds the GPU and measures the limits. Throws DeviceError if a requested GPU does not exist.
    explicit BenchRun(const Options& options);

    const Options& options;
    BenchReport report;
    Ranks* const ranks;                       ///< that search together; null: this process alone
    const ProgressToken token = stoppable();  ///< of what is measured

    bool has_gpu() const { return !report.gpu.empty(); }
    /// Its number.
    int gpu() const { return gpu_.number; }
    /// Whether this process measures all rows; other ranks only take part in those of all ranks.
    bool leads() const { return ranks == nullptr || ranks->rank() == 0; }
    /// "gpu:0,1" if --device names several GPUs, "3 ranks" with mpirun; else empty.
    std::string several() const;
    /// By --engine and --only.
    bool wants_engine(const SearchWay& way) const;
    /// Time limit and number of runs of a row; `share` of the time that the user allows per row.
    TrialOptions trial(double share = 1) const;

    /// Announces `steps` more measurements, for the progress bar.
    void expect(std::int64_t steps);
    /// The figure or table of the paper that the next rows belong to.
    void figure(const std::string& name) { figure_ = name; }

    /// Computes the reference answers with the CPU engine, compares a sample of them with `nth_element` if
    /// that supports the metric, and says so in the report. `max_checked`: of the queries of
    /// leave-one-out, evenly spaced.
    void prepare(Workload& work, std::int64_t max_checked = unlimited);
    /// Makes the arrays of the workload, if there is a GPU.
    void upload(Workload& work) const;

    // All take as many queries as the limits allow.

    /// A kernel.
    Measurement distance(const Workload& work, const std::string& name, const TrialOptions& limits);
    /// A selector on the distances that the arrays have. Without images, and where it finds less than the neighbors, or other
    /// ones by design, a sample is compared with a serial selector.
    Measurement select(const Workload& work, const std::string& name, int k, const TrialOptions& limits);
    /// On one CPU thread: distances, then a selector; those that are asked for. Their check is that of the neighbors, after
    /// both. Half of the pairs if the queries are the training points; without images rows of random values.
    std::vector<Measurement> serial(const Workload& work, const std::string& selector, int k,
                                    const TrialOptions& limits, bool distances = true, bool selection = true);

    /// All images to the GPU as floats, from memory that is `pinned` or `pageable`.
    Measurement upload_images(const Workload& work, const std::string& memory, const TrialOptions& limits);
    /// A program of seed 003 as a whole, on a GPU.
    Measurement program(const Workload& work, const Program& program, int k, TrialOptions limits);
    /// A whole search of an opened training set.
    Measurement search(const Workload& work, const SearchWay& way, int k, const TrialOptions& limits);

    /// Adds the row of a trial to the report, with its bytes and operations. If it ran, `check` compares the answers of the
    /// first n queries: the first difference, or nothing.
    Measurement& keep(const std::string& part, const std::string& name, const std::string& on,
                      const Problem& problem, const Trial& trial,
                      const std::function<std::string(std::int64_t n)>& check = {});
    /// The plan of a search; `refusal`: why it cannot run.
    Plan configured(const SearchWay& way, const Problem& problem, UnsupportedReason& refusal) const;

    /// Adds rows that are not run, with the reason: without one, that they need a GPU, which there is not.
    void not_run(const std::string& part, const std::vector<std::string>& names, const Problem& problem,
                 const std::string& reason = "");

  private:
    void find_gpu();
    std::string needs_gpu() const { return "it runs on a GPU, and " + why_no_gpu_; }
    /// Where rows of a GPU run: "gpu" if there is none.
    std::string gpu_or_none() const { return has_gpu() ? report.gpu : "gpu"; }

    std::string figure_;
    Device gpu_;
    std::vector<Device> gpus_;  ///< all that --device names, gpu_ first
    std::string why_no_gpu_;
    std::int64_t steps_ = 0, done_ = 0;
    Progress progress_;
};

/// All distance kernels, all selectors, all engines on one data set.
void run_compare(BenchRun& run);
/// The k-nearest-neighbor graph of the training set.
void run_graph(BenchRun& run);
/// Direct products beside searches by sketches, and how many pairs get an exact distance.
void run_sketches(BenchRun& run);
/// Every transform, and every re-ranker, on the CPU and on the GPU.
void run_transforms(BenchRun& run);
void run_rerank(BenchRun& run);
/// The experiment of seed 003 , on its data set; the rows of all papers: papers.h.
void run_garrett(BenchRun& run);

}  // namespace knn
