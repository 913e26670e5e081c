#pragma once
/// One run of `bench`: its devices, the report that grows, and the ways to measure. Every measurement is
/// checked before it is kept.

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
    /// Looks for the GPU and measures the limits. Throws DeviceError where a GPU was asked for that is not
    /// there.
    explicit BenchRun(const Options& options);

    const Options& options() const { return options_; }
    const BenchOptions& bench() const { return options_.bench; }
    BenchReport& report() { return report_; }
    bool has_gpu() const { return !report_.gpu.empty(); }
    bool wants(const std::string& name) const;
    /// How long a row may take, and how often it runs; `share` of the time that the user allows for one.
    TrialOptions trial(double share = 1) const;

    /// So many measurements are still to come, for the bar.
    void expect(std::int64_t steps);

    /// Finds the answers that others are held to, by the CPU engine, compares a sample of them with
    /// `nth_element` where that knows the metric, and says so in the report. `most`: of so many queries at
    /// most, evenly spread.
    void prepare(Workload& work, std::int64_t most = unlimited);

    /// For images: pinned where there is a GPU, as the engines expect.
    std::unique_ptr<HostMemory> host_memory() const;

    /// The arrays on the GPU; null where there is none.
    std::unique_ptr<BenchArrays> arrays(const Workload& work);
    std::unique_ptr<BenchArrays> random_arrays(const Problem& problem, std::uint64_t seed);

    Measurement distance(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                         const std::string& name, const TrialOptions& options);
    Measurement select(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                       const std::string& name, int k, const TrialOptions& options);
    Measurement upload(const Workload& work, BenchArrays& arrays, const std::string& experiment, bool pinned);
    /// Selection from random rows; `n_checked` of them are compared with `nth_element`.
    Measurement select_random(BenchArrays& arrays, const Problem& problem, const std::string& experiment,
                              const std::string& name, const TrialOptions& options);

    struct Serial {
        Measurement distance, select;
    };
    Serial serial(const Workload& work, const std::string& experiment, const std::string& selector, int k,
                  const TrialOptions& options);
    Measurement serial_random(const Problem& problem, const std::string& experiment,
                              const TrialOptions& options);

    /// A whole search, of a training set that was opened before; `result` (may be null) gets what it found. Of fewer queries where there is no time for
    /// all, unless all are needed.
    Measurement search(const Workload& work, const std::string& experiment, const SearchWay& way, int k,
                       const TrialOptions& options, Classified* result = nullptr, bool all_queries = false);

    /// The kernels of a whole search by the engine `tensor`, with training set and queries on the device, as a
    /// CUDA graph. There is a GPU.
    Measurement kernels(const Workload& work, const std::string& experiment, int k,
                        const TrialOptions& options);

    /// Keeps a row for what is not run, with the reason.
    void not_run(const std::string& experiment, const std::string& part, const std::string& name,
                 const Problem& problem, const std::string& reason);
    /// The same of strategies that there is no GPU for.
    void need_gpu(const std::string& experiment, const std::string& part,
                  const std::vector<std::string>& names, const Problem& problem);
    /// Says once what is not run and why, where there is no row.
    void leave_out(const std::string& name, const std::string& reason);

  private:
    Measurement keep(Measurement measured);
    void find_gpu();

    const Options& options_;
    BenchReport report_;
    Device gpu_;
    std::string why_no_gpu_;
    std::int64_t steps_ = 0, done_ = 0;
    Progress progress_;
    Watch watch_;
};

}  // namespace knn
