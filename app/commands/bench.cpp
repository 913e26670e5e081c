#include <ostream>

#include "app/bench/cases.h"
#include "app/bench/plan.h"
#include "app/bench/report.h"
#include "app/bench/run.h"
#include "app/cli/command.h"
#include "app/commands/plot_file.h"
#include "app/console/destinations.h"
#include "app/console/output.h"
#include "data/core/format.h"

namespace knn {

namespace {

std::string plot_of_report(const BenchReport& report, const std::string& file) {
    std::string devices;
    for (const Device& device : report.devices)
        devices += (devices.empty() ? "" : ", ") + device.name;
    return plot_of(draw_panels(report.title, {report.data, devices}, report.panels), file);
}

void write_all(const BenchReport& report, const Options& options) {
    const std::string plot = report.panels.empty() ? "" : options.bench.plot;
    write_results({{options.output.json, [&](std::ostream& out) { out << bench_json(report); }},
                   {options.bench.csv, [&](std::ostream& out) { write_bench_csv(out, report); }},
                   {plot, [&](std::ostream& out) { out << plot_of_report(report, plot); }}},
                  bench_text(report));
}

}  // namespace

int bench(const Options& options, Clock::time_point) {
    check_bench_options(options);
    check_plot(options.bench.plot);
    const Destinations outputs(options);
    outputs.check(uses_data_set(options) ? locate(options.data).files()
                                         : std::vector<std::filesystem::path>());
    BenchReport report;
    {
        BenchRun run(options);  // its bar is gone before anything is printed
        run.report().created = utc_now();
        const BenchCase* which = find_case(options.bench.which);
        if (which != nullptr) {
            run.report().experiment = which->name;
            run.report().title = std::string("bench ") + which->name + ": " + which->summary;
        }
        (which != nullptr ? which->run : run_compare)(run);
        report = std::move(run.report());
    }
    write_all(report, options);
    if (report.wrong()) throw DataError("bench: wrong answers: see above; expected those of the reference");
    if (!options.bench.plot.empty() && report.panels.empty())
        throw DataError(
            options.bench.plot +
            ": not written, because nothing was measured that it would show (the report says what "
            "was left out); expected rows that this machine can run");
    return 0;
}

}  // namespace knn
