// Seed 002, appendix A: nine sizes, one CPU thread against the GPU. As there, the CPU computes all distances
// and sorts each row whole; the GPU computes them with a test point in shared memory and sorts segments.

#include "app/bench/cases.h"
#include "app/bench/figures.h"
#include "app/bench/series.h"
#include "app/report/format.h"

namespace knn {

namespace {

constexpr int k = 5;  // appendix B.3
constexpr const char *system1 = "seed 002, A.1", *system2 = "seed 002, A.2";

std::string milliseconds(double us_a_query, std::int64_t n_query) {
    return us_a_query > 0 ? short_number(us_a_query * 1e-3 * static_cast<double>(n_query)) : "not run";
}

PlotPoint point(double x, double y) {
    return {x, y, y, y};
}

/// The times of one case, in microseconds a query; 0: not run.
struct Times {
    double cpu_distance = 0, cpu_sort = 0, gpu_distance = 0, gpu_sort = 0;
    std::int64_t cpu_queries = 0;

    double cpu() const { return cpu_distance + cpu_sort; }
    double gpu() const { return gpu_distance > 0 && gpu_sort > 0 ? gpu_distance + gpu_sort : 0; }
    double speed_up() const { return gpu() > 0 ? cpu() / gpu() : 0; }
};

Times measure(BenchRun& run, const SinghCase& sizes, const std::string& distance, const std::string& sort) {
    Workload work(sizes.n_train, sizes.n_query, sizes.dim, k, 2);
    run.prepare(work);
    const std::string experiment = std::string("singh ") + sizes.name;
    Times times;
    const BenchRun::Serial serial = run.serial(work, experiment, "serial_sort", k, run.trial());
    if (serial.select.good()) {
        times.cpu_distance = serial.distance.us_a_query();
        times.cpu_sort = serial.select.us_a_query();
        times.cpu_queries = serial.select.n_query;
    }
    const std::unique_ptr<Stand> stand = run.stand(work);
    if (stand == nullptr) return times;
    const Measurement filled = run.distance(work, *stand, experiment, distance, run.trial());
    if (filled.good()) times.gpu_distance = filled.us_a_query();
    stand->fill(distance);
    const Measurement sorted = run.select(work, *stand, experiment, sort, k, run.trial());
    if (sorted.good()) times.gpu_sort = sorted.us_a_query();
    return times;
}

void add_row(BenchTable& table, const SinghCase& sizes, const Times& times) {
    const auto of_all = [&](double us) { return milliseconds(us, sizes.n_query); };
    table.rows.push_back(
        {sizes.name, with_commas(sizes.n_query), with_commas(sizes.n_train), std::to_string(sizes.dim),
         of_all(times.cpu_distance), of_all(times.cpu_sort), of_all(times.gpu_distance),
         of_all(times.gpu_sort), times.speed_up() > 0 ? short_number(times.speed_up()) + "x" : "",
         stated(system1, sizes.name, "speed-up") + "x", stated(system2, sizes.name, "speed-up") + "x",
         stated(system1, sizes.name, "CPU total"), stated(system1, sizes.name, "GPU total"),
         stated(system2, sizes.name, "CPU total"), stated(system2, sizes.name, "GPU total")});
}

}  // namespace

void run_singh(BenchRun& run) {
    BenchReport& report = run.report();
    report.title = "bench singh: seed 002, appendix A";
    report.data = "random bytes (the paper: random numbers from 0 to 1), k = 5";
    report.quotes = quotes_of("seed 002");
    const std::string distance = first_of(distance_kernels(), {"row_shared"});
    const std::string sort = first_of(selectors(), {"segmented_sort", "bitonic"});
    if (run.has_gpu() && sort != "segmented_sort")
        run.leave_out("segmented_sort",
                      "this build has no selector of this name: " + sort + " takes its place");
    run.expect(static_cast<std::int64_t>(singh_cases().size()) * (run.has_gpu() ? 4 : 2));

    BenchTable table;
    table.title = "one CPU thread (distances, std::sort) against the GPU (" +
                  (run.has_gpu() ? distance + ", " + sort : std::string("none")) + "), ms";
    table.columns = {"case",     "test",      "train",    "dim",      "CPU dist.",
                     "CPU sort", "GPU dist.", "GPU sort", "speed-up", "paper 1",
                     "paper 2",  "1: CPU s",  "1: GPU s", "2: CPU s", "2: GPU s"};
    Panel panel{"CPU time / GPU time", "case", "times faster", false, true, {}, {}};
    panel.lines = {{"here", {}}, {"paper, system 1", {}}, {"paper, system 2", {}}};
    double number = 1;
    bool partly = false;
    for (const SinghCase& sizes : singh_cases()) {
        const Times times = measure(run, sizes, distance, sort);
        partly = partly || times.cpu_queries < sizes.n_query;
        add_row(table, sizes, times);
        if (times.speed_up() > 0) panel.lines[0].points.push_back(point(number, times.speed_up()));
        panel.lines[1].points.push_back(point(number, find_figure(system1, sizes.name, "speed-up")->value()));
        panel.lines[2].points.push_back(point(number, find_figure(system2, sizes.name, "speed-up")->value()));
        ++number;
    }
    if (panel.lines[0].points.empty()) panel.lines.erase(panel.lines.begin());
    table.notes = {
        "paper 1 and 2: its systems, Core i7 2670QM with GT 520MX and Core i7 3720QM with GT 650M; their",
        "CPU and GPU times in seconds, distances and sorting, behind."};
    if (partly)
        table.notes.emplace_back(
            "CPU: where its time was short for all test points, that of some times their share; "
            "the JSON says how many.");
    report.tables.push_back(std::move(table));
    report.panels.push_back(std::move(panel));
}

}  // namespace knn
