#include <ostream>

#include "app/bench/cases.h"
#include "app/bench/plan.h"
#include "app/bench/report.h"
#include "app/bench/run.h"
#include "app/commands/command.h"
#include "app/console/destinations.h"
#include "app/console/output.h"
#include "data/core/format.h"

namespace knn {

namespace {

Destinations checked_destinations(const Options& options) {
    const BenchOptions& bench = options.bench;
    Destinations outputs;
    outputs.add("--json", bench.json);
    outputs.add("--csv", bench.csv);
    outputs.add("--plot", bench.plot);
    return outputs;
}

void write_plot(const BenchReport& report, const std::string& file) {
    std::string devices;
    for (const Device& device : report.devices)
        devices += (devices.empty() ? "" : ", ") + device.name;
    write_output(file, draw_panels(report.title, {report.data, devices}, report.panels));
}

void write_all(const BenchReport& report, const BenchOptions& bench) {
    if (!bench.json.empty()) write_output(bench.json, bench_json(report));
    if (!bench.csv.empty()) write_output(bench.csv, [&](std::ostream& out) { write_bench_csv(out, report); });
    if (!bench.plot.empty() && !report.panels.empty()) write_plot(report, bench.plot);
    for (const std::string& file : {bench.json, bench.csv, bench.plot})
        if (!file.empty() && is_standard_output(file)) return;  // which then holds nothing else
    print(bench_text(report));
}

}  // namespace

int bench(const Options& options, Clock::time_point) {
    check_bench_options(options);
    const Destinations outputs = checked_destinations(options);
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
    write_all(report, options.bench);
    if (report.wrong()) throw DataError("bench: wrong answers: see above; expected those of the reference");
    if (!options.bench.plot.empty() && report.panels.empty())
        throw DataError(
            options.bench.plot +
            ": not written, because nothing was measured that it would show (the report says what "
            "was left out); expected rows that this machine can run");
    return 0;
}

}  // namespace knn
