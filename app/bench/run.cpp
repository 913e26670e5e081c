#include "app/bench/run.h"

#include <algorithm>
#include <chrono>

#include "app/bench/plan.h"
#include "app/interrupt.h"
#include "app/terminal.h"
#include "cpu/search.h"

namespace knn {

namespace {

constexpr std::int64_t sampled = 8;  // queries of which every distance is compared

Measurement started(const std::string& experiment, const std::string& part, const std::string& name,
                    const std::string& on, const Problem& problem) {
    Measurement made;
    made.experiment = experiment;
    made.part = part;
    made.name = name;
    made.on = on;
    made.problem = problem;
    return made;
}

void take(Measurement& measured, const Trial& trial) {
    measured.ms = trial.ms;
    measured.n_query = trial.n_query;
    if (trial.refusal) measured.left_out = *trial.refusal;
}

void count_distances(Measurement& measured, const Trial& trial) {
    const double n = static_cast<double>(measured.n_query), dim = static_cast<double>(measured.problem.dim);
    const double n_train = static_cast<double>(measured.problem.n_train);
    measured.bytes = 4 * (n_train * dim + n * dim + n * n_train);
    measured.operations = trial.operations * n * n_train * dim;
}

void count_selection(Measurement& measured) {
    const double n = static_cast<double>(measured.n_query);
    measured.bytes = n * (4 * static_cast<double>(measured.problem.n_train) + 8 * measured.problem.k);
}

}  // namespace

BenchRun::BenchRun(const Options& options)
    : options_(options),
      progress_(use_progress(options.output.quiet && options.output.progress == When::automatic
                                 ? When::never
                                 : options.output.progress),
                0, "measuring") {
    watch_.stop = &stop_flag();
    find_gpu();
    report_.devices.push_back(cpu_device());
    if (has_gpu()) report_.limits = gpu_bench()->limits(device_);
    stop_if_asked();
    report_.cpu_copy_gb_per_s = cpu::copy_gb_per_s();
}

void BenchRun::find_gpu() {
    const std::string& wanted = options_.search.device;
    if (wanted == "cpu") {
        leave_out("GPU", "--device cpu was given");
        return;
    }
    std::string why;
    const std::vector<Device> all = gpus(&why);
    const bool numbered = wanted.starts_with("gpu:");
    const auto found = std::find_if(all.begin(), all.end(), [&](const Device& gpu) {
        return !numbered || gpu.number == options_.search.device_number;
    });
    if (found != all.end()) {
        device_ = found->number;
        report_.gpu = "gpu:" + std::to_string(device_);
        report_.devices.push_back(*found);
        return;
    }
    if (wanted != "auto")
        throw DeviceError("--device " + wanted + ": no such GPU" + (why.empty() ? "" : ": " + why) +
                          "; expected an NVIDIA GPU with its driver, or --device cpu");
    leave_out("GPU", "no GPU (" + why + "): distance kernels, selectors and engines of the GPU were not run");
}

bool BenchRun::wants(const std::string& name) const {
    return is_wanted(options_.bench, name);
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

void BenchRun::prepare(Workload& work) {
    const int k = work.max_k();
    work.expected = cpu::search(work.request(k, work.query().count), watch_).neighbors;
    const cpu::SerialSelector& baseline = cpu::serial_selectors().front();
    std::vector<std::uint32_t> row(static_cast<std::size_t>(work.train().count));
    std::vector<std::uint64_t> scratch;
    std::vector<Neighbor> right(static_cast<std::size_t>(k));
    for (const std::int64_t q : sample(work.query().count, sampled)) {
        cpu::serial_distances(work.train(), work.query().row(q), row);
        baseline.select(row, right, scratch);
        if (std::equal(right.begin(), right.end(), work.expected.row(q).begin())) continue;
        Measurement wrong = started(report_.experiment, "search", "cpu", "cpu", work.problem(k));
        wrong.wrong = "query " + std::to_string(q) + " has other neighbors than by nth_element";
        keep(wrong);
        return;
    }
}

std::unique_ptr<HostMemory> BenchRun::host_memory() const {
    const auto engine = std::find_if(engines().begin(), engines().end(),
                                     [&](const Engine& one) { return one.on_gpu == has_gpu(); });
    return knn::host_memory(*engine, device_);
}

std::unique_ptr<Stand> BenchRun::stand(const Workload& work) {
    if (!has_gpu()) return nullptr;
    return gpu_bench()->stand(device_, work.train(), work.query(), work.max_k(), watch_);
}

std::unique_ptr<Stand> BenchRun::random_stand(const Problem& problem, std::uint64_t seed) {
    if (!has_gpu()) return nullptr;
    return gpu_bench()->random_stand(device_, problem, seed, watch_);
}

Measurement BenchRun::distance(const Workload& work, Stand& stand, const std::string& experiment,
                               const std::string& name, const TrialOptions& options) {
    Measurement measured = started(experiment, "distance", name, report_.gpu, work.problem(work.max_k()));
    const Trial trial = stand.time_distance(name, options);
    take(measured, trial);
    if (measured.ms.empty()) return keep(std::move(measured));
    for (const std::int64_t q : sample(measured.n_query, sampled))
        if (measured.wrong.empty()) measured.wrong = work.mismatch(q, stand.matrix_row(q));
    count_distances(measured, trial);
    return keep(std::move(measured));
}

Measurement BenchRun::select(const Workload& work, Stand& stand, const std::string& experiment,
                             const std::string& name, int k, const TrialOptions& options) {
    Measurement measured = started(experiment, "select", name, report_.gpu, work.problem(k));
    take(measured, stand.time_select(name, k, options));
    if (measured.ms.empty()) return keep(std::move(measured));
    measured.wrong = work.mismatch(stand.neighbors(measured.n_query));
    count_selection(measured);
    return keep(std::move(measured));
}

Measurement BenchRun::upload(const Workload& work, Stand& stand, const std::string& experiment, bool pinned) {
    Measurement measured = started(experiment, "upload", pinned ? "pinned" : "pageable", report_.gpu,
                                   work.problem(work.max_k()));
    take(measured, stand.time_upload(pinned, trial()));
    measured.bytes = 4 * static_cast<double>(work.train().count + work.query().count) *
                     static_cast<double>(work.train().dim);
    return keep(std::move(measured));
}

Measurement BenchRun::select_random(Stand& stand, const Problem& problem, const std::string& experiment,
                                    const std::string& name, const TrialOptions& options) {
    Measurement measured = started(experiment, "select", name, report_.gpu, problem);
    take(measured, stand.time_select(name, problem.k, options));
    if (measured.ms.empty()) return keep(std::move(measured));
    const Neighbors found = stand.neighbors(measured.n_query);
    std::vector<Neighbor> right(static_cast<std::size_t>(problem.k));
    std::vector<std::uint64_t> scratch;
    for (const std::int64_t q : sample(measured.n_query, sampled)) {
        cpu::serial_selectors().front().select(stand.matrix_row(q), right, scratch);
        if (!std::equal(right.begin(), right.end(), found.row(q).begin()))
            measured.wrong = "row " + std::to_string(q) + " has other neighbors than by nth_element";
    }
    count_selection(measured);
    return keep(std::move(measured));
}

BenchRun::Serial BenchRun::serial(const Workload& work, const std::string& experiment,
                                  const std::string& selector, int k, const TrialOptions& options) {
    Serial both{started(experiment, "distance", "serial", one_cpu_thread, work.problem(k)),
                started(experiment, "select", selector, one_cpu_thread, work.problem(k))};
    const cpu::SerialTrial trial = cpu::time_serial(work.train(), work.query(), k,
                                                    *cpu::find_serial_selector(selector), options, watch_);
    take(both.distance, trial.distance);
    take(both.select, trial.select);
    if (both.select.ms.empty()) return {keep(both.distance), keep(both.select)};
    both.select.wrong = work.mismatch(trial.neighbors);
    count_distances(both.distance, trial.distance);
    // One query after another reads all training bytes each time.
    const double pairs = static_cast<double>(both.distance.n_query) * static_cast<double>(work.train().count);
    both.distance.bytes = pairs * static_cast<double>(work.train().dim + 4);
    count_selection(both.select);
    return {keep(both.distance), keep(both.select)};
}

Measurement BenchRun::serial_random(const Problem& problem, const std::string& experiment,
                                    const TrialOptions& options) {
    const cpu::SerialSelector& baseline = cpu::serial_selectors().front();
    Measurement measured = started(experiment, "select", baseline.name, one_cpu_thread, problem);
    const auto fill = [](std::int64_t q, std::span<std::uint32_t> row) {
        for (std::size_t t = 0; t < row.size(); ++t)
            row[t] = static_cast<std::uint32_t>(random_value(static_cast<std::uint64_t>(q), t) >> 32);
    };
    const cpu::SerialTrial trial = cpu::time_serial_select(problem, fill, baseline, options, watch_);
    take(measured, trial.select);
    count_selection(measured);
    return keep(std::move(measured));
}

Measurement BenchRun::engine(const Workload& work, const std::string& experiment, const Engine& engine, int k,
                             const TrialOptions& options, SearchResult* result) {
    const std::string on = engine.on_gpu ? report_.gpu : "cpu";
    Measurement measured = started(experiment, "search", engine.name, on, work.problem(k));
    SearchRequest request = work.request(k, work.query().count);
    request.device = device_;
    request.threads = options_.search.threads;
    if (engine.search == nullptr || (engine.on_gpu && !has_gpu()))
        measured.left_out = "there is no GPU";
    else if (const Refusal refusal = engine.refuse(request))
        measured.left_out = *refusal;
    if (!measured.left_out.empty()) return keep(std::move(measured));

    constexpr std::int64_t few = 256, growth = 4;  // of the runs that tell how long all would take
    const std::int64_t all = work.query().count;
    SearchResult found;
    for (std::int64_t n = std::min(all, few);; n = std::min(growth * n, all)) {
        measured.n_query = n;
        request.query = work.query().first(n);
        found = engine.search(request, watch_);
        const double next_ms =
            found.search_ms * static_cast<double>(std::min(growth * n, all)) / static_cast<double>(n);
        const bool affordable = next_ms * TrialOptions::least_runs < options.budget_ms;
        if (n == all || (result == nullptr && !affordable)) break;
    }
    measured.wrong = work.mismatch(found.neighbors);
    const int runs = std::clamp(static_cast<int>(options.budget_ms / std::max(found.search_ms, 1e-3)),
                                std::min(TrialOptions::least_runs, options.repeat), options.repeat);
    for (int run = 0; run < runs; ++run) {
        found = engine.search(request, watch_);
        measured.ms.push_back(found.search_ms);
    }
    if (measured.wrong.empty()) measured.wrong = work.mismatch(found.neighbors);
    if (result != nullptr) *result = std::move(found);
    return keep(std::move(measured));
}

void BenchRun::leave_out(const std::string& name, const std::string& reason) {
    for (const LeftOut& one : report_.left_out)
        if (one.name == name && one.reason == reason) return;
    report_.left_out.push_back({name, reason});
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
