#include "app/bench/run.h"

#include <algorithm>
#include <ostream>

#include "app/cli/command_line.h"
#include "data/core/format.h"
#include "data/vectors/sets.h"

namespace knn {

namespace {

BenchReport measured(const Options& options) {
    BenchRun run(options);  // its bar is gone before anything is printed
    BenchReport& report = run.report;
    report.created = utc_now();
    if (const BenchCase* which = find_case(options.bench.which)) {
        report.experiment = which->name;
        report.title = std::string("bench ") + which->name + ": " + which->summary;
        which->run(run);
    } else {
        run_compare(run);
    }
    return std::move(report);
}

std::string plot_of(const BenchReport& report) {
    std::string devices;
    for (const Device& device : report.devices)
        devices += (devices.empty() ? "" : ", ") + device.name;
    return draw_panels(report.title, {report.data, devices}, report.panels);
}

/// Of all runs of a row that has been timed.
void count_work(Measurement& row, const Trial& trial) {
    const double n = static_cast<double>(row.n_query), n_train = static_cast<double>(row.problem.n_train);
    const double dim = static_cast<double>(row.problem.dim), pairs = n * n_train;
    if (row.part == "upload") row.bytes = 4 * (n_train + n) * dim;
    const bool finds_one = trial.finds == Finds::kth_value;
    if (row.part == "select") row.bytes = 4 * pairs + 8 * n * (finds_one ? 1 : row.problem.k);
    if (row.part == "distance")
        row.bytes = row.on == one_cpu_thread
                        ? pairs * (dim + 4) * trial.operations / 3  // all training bytes, or half
                        : trial.pixel_bytes * (n_train + n) * dim + 4 * pairs;
    if (row.problem.measure.metric == Metric::lp) return;  // its powers are looked up
    if (row.part == "distance") row.operations = trial.operations * pairs * dim;
    // Nominal, for every engine: a multiplication and an addition per distance and pixel.
    if (row.part == "search" || row.part == "kernels") row.operations = 2 * pairs * dim;
}

}  // namespace

BenchRun::BenchRun(const Options& given)
    : options(given),
      ranks(given.request.ranks),
      progress_(use_progress(progress_when(given.output)), 0, "measuring") {
    find_gpu();
    report.devices.push_back(cpu_device());
    if (!leads()) return;
    if (has_gpu()) report.limits = gpu_bench()->limits(gpu_.number);
    stop_if_asked();
    report.cpu_copy_gb_per_s = cpu::copy_gb_per_s(token);
}

void BenchRun::find_gpu() {
    const DeviceRequest& wanted = options.request.device;
    if (wanted.kind == DeviceKind::cpu) {
        why_no_gpu_ = "--device cpu was given";
        return report.leave_out("GPU", why_no_gpu_);
    }
    const Machine machine = find_machine(wanted, ranks);
    gpus_ = find_gpus(wanted, machine);
    if (gpus_.empty()) {
        why_no_gpu_ = "there is none";
        return report.leave_out("GPU", why_no_gpu_ + " (" + machine.why_no_gpu + ")");
    }
    gpu_ = gpus_.front();
    report.gpu = device_id(gpu_);
    report.devices = gpus_;
}

std::string BenchRun::several() const {
    if (ranks != nullptr) return std::to_string(ranks->size()) + " ranks";
    if (gpus_.size() < 2) return "";
    std::string text = report.gpu;
    for (std::size_t i = 1; i < gpus_.size(); ++i)
        text.append(",").append(std::to_string(gpus_[i].number));
    return text;
}

bool BenchRun::wants_engine(const SearchWay& way) const {
    const auto& asked = options.request.engine;
    return (!asked || *asked == way.engine->name) && is_wanted(options.bench, way.name);
}

TrialOptions BenchRun::trial(double share) const {
    return {.repeat = options.bench.repeat, .budget_ms = options.bench.seconds * 1e3 * share};
}

void BenchRun::expect(std::int64_t steps) {
    steps_ += steps;
    progress_.update(done_, std::max(steps_, done_ + 1));
}

void BenchRun::upload(Workload& work) const {
    if (has_gpu())
        work.arrays =
            gpu_bench()->arrays(gpu_.number, work.problem(work.max_k), work.train, work.query, token);
}

Measurement& BenchRun::keep(const std::string& part, const std::string& name, const std::string& on,
                            const Problem& problem, const Trial& trial,
                            const std::function<std::string(std::int64_t)>& check) {
    Measurement& row = report.measurements.emplace_back();
    row.experiment = report.experiment + (figure_.empty() ? "" : " " + figure_);
    row.part = part;
    row.name = name;
    row.on = on;
    row.problem = problem;
    row.ms = trial.ms;
    row.n_query = trial.n_query;
    row.peak_bytes = trial.peak_bytes;
    row.left_out = trial.refusal.value_or("");
    if (!row.ms.empty()) {
        if (check) row.wrong = check(row.n_query);
        count_work(row, trial);
    }
    stop_if_asked();
    if (!row.left_out.empty()) report.leave_out(row.name, row.left_out);
    ++done_;
    expect(0);
    return row;
}

void BenchRun::not_run(const std::string& part, const std::vector<std::string>& names, const Problem& problem,
                       const std::string& reason) {
    for (const std::string& name : names)
        keep(part, name, gpu_or_none(), problem, {.refusal = reason.empty() ? needs_gpu() : reason});
}

int bench(const Options& options, Clock::time_point) {
    check_bench_options(options);
    check_outputs(output_places(options), uses_data_set(options) ? locate_data(options.data).inputs()
                                                                 : std::vector<std::filesystem::path>());
    const BenchReport report = measured(options);
    const std::string& plot = options.bench.plot;
    const bool nothing_to_draw = report.panels.empty();
    write_results({{options.output.json, [&](std::ostream& out) { out << bench_json(report); }},
                   {options.bench.csv, [&](std::ostream& out) { write_bench_csv(out, report); }},
                   {nothing_to_draw ? "" : plot, [&](std::ostream& out) { out << plot_of(report); }}},
                  bench_text(report));
    if (report.wrong()) throw DataError("bench: wrong answers: see above; expected those of the reference");
    if (!plot.empty() && nothing_to_draw)
        throw DataError(plot +
                        ": not written, because nothing was measured that it would show (the report says "
                        "what was left out); expected rows that this machine can run");
    return 0;
}

}  // namespace knn
