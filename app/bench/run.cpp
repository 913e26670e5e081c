#include "app/bench/run.h"

#include <algorithm>

#include "app/console/interrupt.h"
#include "app/console/terminal.h"
#include "app/console/watched.h"
#include "cpu/search.h"

namespace knn {

BenchRun::BenchRun(const Options& options)
    : options_(options),
      progress_(use_progress(progress_when(options.output)), 0, "measuring"),
      watch_(stoppable()) {
    find_gpu();
    report_.devices.push_back(cpu_device());
    if (!leads()) return;
    if (has_gpu()) report_.limits = gpu_bench()->limits(gpu_.number);
    stop_if_asked();
    report_.cpu_copy_gb_per_s = cpu::copy_gb_per_s();
}

void BenchRun::find_gpu() {
    const DeviceWish& wanted = options_.wish.device;
    if (wanted.kind == DeviceKind::cpu) {
        why_no_gpu_ = "--device cpu was given";
        leave_out("GPU", why_no_gpu_);
        return;
    }
    Machine machine;
    machine.gpus = gpus(&machine.why_no_gpu);
    if (ranks() != nullptr && !wanted.number) machine.gpus = gpus_of_rank(*ranks(), machine.gpus);
    gpus_ = find_gpus(wanted, machine);
    if (!gpus_.empty()) {
        gpu_ = gpus_.front();
        report_.gpu = device_id(gpu_);
        report_.devices = gpus_;
        return;
    }
    why_no_gpu_ = "there is none";
    leave_out("GPU", why_no_gpu_ + " (" + machine.why_no_gpu + ")");
}

std::string BenchRun::several() const {
    if (ranks() != nullptr) return std::to_string(ranks()->size()) + " ranks";
    if (gpus_.size() < 2) return "";
    std::string text = report_.gpu;
    for (std::size_t i = 1; i < gpus_.size(); ++i)
        text.append(",").append(std::to_string(gpus_[i].number));
    return text;
}

bool BenchRun::wants(const std::string& name) const {
    return is_wanted(options_.bench, name);
}

bool BenchRun::wants_engine(const SearchWay& way) const {
    const auto& asked = options_.wish.engine;
    return (!asked || *asked == way.engine->name) && wants(way.name);
}

TrialOptions BenchRun::trial(double share) const {
    TrialOptions options;
    options.repeat = options_.bench.repeat;
    options.budget_ms = options_.bench.seconds * 1e3 * share;
    return options;
}

void BenchRun::expect(std::int64_t steps) {
    steps_ += steps;
    progress_.update(done_, std::max(steps_, done_ + 1));
}

std::unique_ptr<HostMemory> BenchRun::host_memory() const {
    return knn::host_memory(first_engine(has_gpu()), gpu_.number);
}

std::unique_ptr<BenchArrays> BenchRun::arrays(const Workload& work) {
    if (!has_gpu()) return nullptr;
    return gpu_bench()->arrays(gpu_.number, work.problem(work.max_k()), work.train(), work.query(), watch_);
}

std::unique_ptr<BenchArrays> BenchRun::random_arrays(const Problem& problem, std::uint64_t seed) {
    if (!has_gpu()) return nullptr;
    return gpu_bench()->random_arrays(gpu_.number, problem, seed, watch_);
}

void BenchRun::leave_out(const std::string& name, const std::string& reason) {
    report_.leave_out(name, reason);
}

Measurement BenchRun::started(const std::string& experiment, const std::string& part, const std::string& name,
                              const std::string& on, const Problem& problem) {
    Measurement made;
    made.experiment = experiment;
    made.part = part;
    made.name = name;
    made.on = on;
    made.problem = problem;
    return made;
}

void BenchRun::take(Measurement& measured, const Trial& trial) {
    measured.ms = trial.ms;
    measured.n_query = trial.n_query;
    if (trial.refusal) measured.left_out = *trial.refusal;
}

void BenchRun::not_run(const std::string& experiment, const std::string& part, const std::string& name,
                       const Problem& problem, const std::string& reason) {
    Measurement row = started(experiment, part, name, has_gpu() ? report_.gpu : "gpu", problem);
    row.left_out = reason;
    keep(std::move(row));
}

void BenchRun::need_gpu(const std::string& experiment, const std::string& part,
                        const std::vector<std::string>& names, const Problem& problem) {
    for (const std::string& name : names)
        not_run(experiment, part, name, problem, "it runs on a GPU, and " + why_no_gpu_);
}

Measurement BenchRun::keep(Measurement measured) {
    stop_if_asked();
    if (!measured.left_out.empty()) leave_out(measured.name, measured.left_out);
    report_.measurements.push_back(measured);
    ++done_;
    progress_.update(done_, std::max(steps_, done_ + 1));
    return measured;
}

}  // namespace knn
