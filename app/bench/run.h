#pragma once
/// One run of `bench`: its devices, its report, and the ways to measure. Every measurement is checked before
/// it is kept.

#include <memory>
#include <string>

#include "app/bench/plan.h"
#include "app/bench/report.h"
#include "app/bench/workload.h"
#include "app/cli/options.h"
#include "app/cli/values.h"
#include "app/console/progress.h"
#include "classifier/classifier.h"
#include "cpu/serial/serial.h"

namespace knn {

class BenchRun {
  public:
    /// Finds the GPU and measures the limits. Throws DeviceError if a requested GPU does not exist.
    explicit BenchRun(const Options& options);

    const Options& options() const { return options_; }
    const BenchOptions& bench() const { return options_.bench; }
    BenchReport& report() { return report_; }
    bool has_gpu() const { return !report_.gpu.empty(); }
    /// The processes that search together; null: this one alone.
    Ranks* ranks() const { return options_.wish.ranks; }
    /// Whether this process measures all rows; other ranks only take part in those of all ranks.
    bool leads() const { return ranks() == nullptr || ranks()->rank() == 0; }
    /// "gpu:0,1" if --device names several GPUs, "3 ranks" with mpirun; else empty.
    std::string several() const;
    bool wants(const std::string& name) const;
    /// By --engine and --only.
    bool wants_engine(const SearchWay& way) const;
    /// Time limit and number of runs of a row; `share` of the time that the user allows per row.
    TrialOptions trial(double share = 1) const;

    /// Announces `steps` more measurements, for the progress bar.
    void expect(std::int64_t steps);

    /// Computes the reference answers with the CPU engine, compares a sample of them with `nth_element` if
    /// that supports the metric, and says so in the report. `max_checked`: of the queries, evenly spaced.
    void prepare(Workload& work, std::int64_t max_checked = unlimited);

    /// For images: pinned if there is a GPU, as the engines expect.
    std::unique_ptr<HostMemory> host_memory() const;

    /// The arrays on the GPU; null if there is none.
    std::unique_ptr<BenchArrays> arrays(const Workload& work);
    std::unique_ptr<BenchArrays> random_arrays(const Problem& problem, std::uint64_t seed);

    Measurement distance(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                         const std::string& name, const TrialOptions& options);
    Measurement select(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                       const std::string& name, int k, const TrialOptions& options);
    Measurement upload(const Workload& work, BenchArrays& arrays, const std::string& experiment, bool pinned);
    /// Selection from random rows; a sample of them is compared with `nth_element`. `only_kth`: the selector finds the
    /// k-th neighbor of a row alone.
    Measurement select_random(BenchArrays& arrays, const Problem& problem, const std::string& experiment,
                              const std::string& name, const TrialOptions& options, bool only_kth = false);

    /// Seed 003's sort without padding, which is wrong: what it returns is compared with the same steps on the CPU, for a
    /// sample of queries. `found` gets it.
    Measurement unpadded(const Workload& work, BenchArrays& arrays, const std::string& experiment, int k,
                         const TrialOptions& options, Neighbors& found);
    /// Seed 003's version before its improvements as a whole; `found` gets the neighbors. Needs a GPU.
    Measurement before(const Workload& work, const std::string& experiment, int k,
                       const TrialOptions& options, Neighbors& found);

    struct Serial {
        Measurement distance, select;
    };
    /// The report gets the parts that are `listed`. Their check is that of the neighbors, after both.
    enum class Listed { both, distance, select };
    Serial serial(const Workload& work, const std::string& experiment, const std::string& selector, int k,
                  const TrialOptions& options, Listed listed = Listed::both);
    Measurement serial_random(const Problem& problem, const std::string& experiment,
                              const TrialOptions& options);

    /// A whole search of an opened training set; `result` (may be null) gets the answers. Uses fewer queries if
    /// there is no time for all, unless `all_queries`.
    Measurement search(const Workload& work, const std::string& experiment, const SearchWay& way, int k,
                       const TrialOptions& options, Classified* result = nullptr, bool all_queries = false);

    /// The kernels of a whole search by the engine `tensor`, with training set and queries on the device, as a
    /// CUDA graph. Needs a GPU.
    Measurement kernels(const Workload& work, const std::string& experiment, int k,
                        const TrialOptions& options);

    /// The features of all images, on `on`: the GPU, all CPU threads ("cpu") or one. Those of a sample are compared with
    /// the steps as data/transform defines them. On the CPU fewer images if there is no time for all.
    Measurement transform(const FittedTransform& fitted, const Rows& images, const std::string& on,
                          const TrialOptions& options);

    /// The nearest `count` training images of each query by gradients.
    Neighbors candidates(const Workload& work, ImageShape shape, int count);
    /// Orders all candidates of each query by the re-ranker's kernels or by plain loops, on `on`: the GPU, all CPU
    /// threads ("cpu") or one; descriptors are made before. On the CPU fewer queries if there is no time for all.
    Measurement rerank(const RerankWork& work, bool plain, const std::string& on,
                       const TrialOptions& options);

    /// Adds a row that is not run, with the reason.
    void not_run(const std::string& experiment, const std::string& part, const std::string& name,
                 const Problem& problem, const std::string& reason);
    /// The same for strategies that need a GPU.
    void need_gpu(const std::string& experiment, const std::string& part,
                  const std::vector<std::string>& names, const Problem& problem);
    /// Records once what is not run and why, without a row.
    void leave_out(const std::string& name, const std::string& reason);

  private:
    static Measurement started(const std::string& experiment, const std::string& part,
                               const std::string& name, const std::string& on, const Problem& problem);
    static void take(Measurement& measured, const Trial& trial);
    Measurement keep(Measurement measured);
    /// The plan of a search for the problem of `measured`, which says why if it cannot run.
    Plan settled(const SearchWay& way, Measurement& measured) const;
    void find_gpu();

    const Options& options_;
    BenchReport report_;
    Device gpu_;
    std::vector<Device> gpus_;  ///< all that --device names, gpu_ first
    std::string why_no_gpu_;
    std::int64_t steps_ = 0, done_ = 0;
    Progress progress_;
    Watch watch_;
};

}  // namespace knn
