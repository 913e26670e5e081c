#include <ostream>

#include "app/bench/plan.h"
#include "app/bench/report.h"
#include "app/bench/run.h"
#include "app/cli/command.h"
#include "app/console/destinations.h"
#include "app/console/output.h"
#include "data/core/format.h"

namespace knn {

namespace {

std::string plot_of(const BenchReport& report) {
    std::string devices;
    for (const Device& device : report.devices)
        devices += (devices.empty() ? "" : ", ") + device.name;
    return draw_panels(report.title, {report.data, devices}, report.panels);
}

void write_all(const BenchReport& report, const Options& options) {
    const std::string plot = report.panels.empty() ? "" : options.bench.plot;
    write_results({{options.output.json, [&](std::ostream& out) { out << bench_json(report); }},
                   {options.bench.csv, [&](std::ostream& out) { write_bench_csv(out, report); }},
                   {plot, [&](std::ostream& out) { out << plot_of(report); }}},
                  bench_text(report));
}

BenchReport measured(const Options& options) {
    BenchRun run(options);  // its bar is gone before anything is printed
    BenchReport& report = run.report();
    report.created = utc_now();
    const BenchCase* which = find_case(options.bench.which);
    if (which == nullptr) {
        run_compare(run);
        return std::move(report);
    }
    report.experiment = which->name;
    report.title = std::string("bench ") + which->name + ": " + which->summary;
    which->run(run);
    return std::move(report);
}

}  // namespace

int bench(const Options& options, Clock::time_point) {
    const BenchOptions& bench = options.bench;
    check_bench_options(options);
    const Destinations outputs(options);
    outputs.check(uses_data_set(options) ? locate(options.data).files()
                                         : std::vector<std::filesystem::path>());
    const BenchReport report = measured(options);
    write_all(report, options);
    if (report.wrong()) throw DataError("bench: wrong answers: see above; expected those of the reference");
    if (!bench.plot.empty() && report.panels.empty())
        throw DataError(
            bench.plot +
            ": not written, because nothing was measured that it would show (the report says what "
            "was left out); expected rows that this machine can run");
    return 0;
}

}  // namespace knn
