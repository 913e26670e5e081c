#include "app/bench/run.h"

#include <algorithm>
#include <ostream>

#include "app/bench/report.h"
#include "app/cli/command_line.h"
#include "app/console/interrupt.h"
#include "app/console/output.h"
#include "app/console/terminal.h"
#include "data/core/format.h"

namespace knn {

namespace {

BenchReport measured(const Options& options) {
    BenchRun run(options);  // its bar is gone before anything is printed
    BenchReport& report = run.report();
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

}  // namespace

BenchRun::BenchRun(const Options& options)
    : options_(options),
      progress_(use_progress(progress_when(options.output)), 0, "measuring"),
      token_(stoppable()) {
    find_gpu();
    report_.devices.push_back(cpu_device());
    if (!leads()) return;
    if (has_gpu()) report_.limits = gpu_bench()->limits(gpu_.number);
    stop_if_asked();
    report_.cpu_copy_gb_per_s = cpu::copy_gb_per_s();
}

void BenchRun::find_gpu() {
    const DeviceRequest& wanted = options_.request.device;
    if (wanted.kind == DeviceKind::cpu) {
        why_no_gpu_ = "--device cpu was given";
        leave_out("GPU", why_no_gpu_);
        return;
    }
    const Machine machine = find_machine(wanted, ranks());
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

bool BenchRun::wants_engine(const SearchWay& way) const {
    const auto& asked = options_.request.engine;
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

void BenchRun::upload(Workload& work) const {
    if (has_gpu())
        work.arrays =
            gpu_bench()->arrays(gpu_.number, work.problem(work.max_k), work.train, work.query, token_);
}

Measurement BenchRun::row(const std::string& part, const std::string& name, const std::string& on,
                          const Problem& problem) const {
    Measurement made;
    made.experiment = report_.experiment + (figure_.empty() ? "" : " " + figure_);
    made.part = part;
    made.name = name;
    made.on = on;
    made.problem = problem;
    return made;
}

Measurement BenchRun::keep(Measurement row, const Trial& trial,
                           const std::function<void(Measurement&)>& check) {
    row.ms = trial.ms;
    row.n_query = trial.n_query;
    if (trial.refusal) row.left_out = *trial.refusal;
    if (!row.ms.empty()) check(row);
    stop_if_asked();
    if (!row.left_out.empty()) leave_out(row.name, row.left_out);
    report_.measurements.push_back(row);
    ++done_;
    expect(0);
    return row;
}

void BenchRun::not_run(const std::string& part, const std::vector<std::string>& names, const Problem& problem,
                       const std::string& reason) {
    for (const std::string& name : names) {
        Measurement left_out = row(part, name, gpu_or_none(), problem);
        left_out.left_out = reason.empty() ? needs_gpu() : reason;
        keep(std::move(left_out));
    }
}

int bench(const Options& options, Clock::time_point) {
    check_bench_options(options);
    check_outputs(output_places(options),
                  uses_data_set(options) ? locate(options.data).files : std::vector<std::filesystem::path>());
    const BenchReport report = measured(options);
    const std::string& plot = options.bench.plot;
    const bool nothing_to_draw = report.panels.empty();
    write_results({{options.output.json, [&](std::ostream& out) { out << bench_json(report); }},
                   {options.bench.csv, [&](std::ostream& out) { write_bench_csv(out, report); }},
                   {nothing_to_draw ? "" : plot, [&](std::ostream& out) { out << plot_of(report); }}},
                  bench_text(report));
    if (report.wrong()) throw DataError("bench: wrong answers: see above; expected those of the reference");
    if (!plot.empty() && nothing_to_draw)
        throw DataError(
            plot +
            ": not written, because nothing was measured that it would show (the report says what "
            "was left out); expected rows that this machine can run");
    return 0;
}

}  // namespace knn
