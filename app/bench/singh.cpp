// Seed 002, appendix A: nine sizes, one CPU thread against the GPU. As there, the CPU computes all distances
// and sorts each whole row; the GPU computes them with a test point in shared memory and sorts segments.

#include "app/bench/run.h"
#include "app/bench/table.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr int k = 5;  // appendix B.3
constexpr const char *distance = "row_shared", *distance512 = "row_shared512", *sort = "segmented_sort",
                     *indices = "index_sort";
constexpr const char *system1 = "seed 002, A.1", *system2 = "seed 002, A.2";

/// The nine sizes, the same for both of its systems.
struct Sizes {
    const char* name;
    int n_query, n_train, dim;
};
constexpr Sizes cases[] = {
    {"case 1", 1024, 512, 64},   {"case 2", 2048, 1024, 64},  {"case 3", 4096, 1024, 64},
    {"case 4", 4096, 2048, 64},  {"case 5", 4096, 1024, 128}, {"case 6", 4096, 1024, 256},
    {"case 7", 8192, 2048, 256}, {"case 8", 8192, 4096, 256}, {"case 9", 16384, 3072, 512},
};

PlotPoint point(double x, double y, bool hollow = false) {
    return {x, y, y, y, hollow};
}

/// The measurements of one case.
struct Times {
    BenchRun::Serial cpu;
    Measurement gpu_distance, gpu_distance512, gpu_sort, gpu_indices;

    /// Ratio of the times per query, one CPU thread to GPU.
    double speed_up() const {
        if (!cpu.select.good() || !gpu_distance.good() || !gpu_sort.good()) return 0;
        return (cpu.distance.us_per_query() + cpu.select.us_per_query()) /
               (gpu_distance.us_per_query() + gpu_sort.us_per_query());
    }
    /// 512 threads against 256, §5.
    std::string threads_ratio() const {
        if (!gpu_distance.good() || !gpu_distance512.good()) return "";
        return short_number(gpu_distance512.us_per_query() / gpu_distance.us_per_query());
    }
    bool partial() const { return cpu.select.partial() || gpu_distance.partial() || gpu_sort.partial(); }
};

Times measure(BenchRun& run, const Sizes& sizes) {
    Workload work(sizes.n_train, sizes.n_query, sizes.dim, k, 2);
    run.prepare(work);
    run.figure(sizes.name);
    Times times;
    times.cpu = run.serial(work, "serial_sort", k);
    run.upload(work);
    if (work.arrays == nullptr) return times;
    times.gpu_distance = run.distance(work, distance);
    times.gpu_distance512 = run.distance(work, distance512);
    work.arrays->fill(distance);
    times.gpu_sort = run.select(work, sort, k);
    times.gpu_indices = run.select(work, indices, k);
    return times;
}

void add_row(BenchTable& table, const Sizes& sizes, const Times& times) {
    table.rows.push_back(
        {sizes.name, with_commas(sizes.n_query), with_commas(sizes.n_train), std::to_string(sizes.dim),
         ms_cell(times.cpu.distance), ms_cell(times.cpu.select), ms_cell(times.gpu_distance),
         ms_cell(times.gpu_distance512), times.threads_ratio(), ms_cell(times.gpu_sort),
         ms_cell(times.gpu_indices), times.speed_up() > 0 ? short_number(times.speed_up()) + "x" : "",
         stated(system1, sizes.name, "speed-up") + "x", stated(system2, sizes.name, "speed-up") + "x",
         stated(system1, sizes.name, "CPU total"), stated(system1, sizes.name, "GPU total"),
         stated(system2, sizes.name, "CPU total"), stated(system2, sizes.name, "GPU total")});
}

}  // namespace

void run_singh(BenchRun& run) {
    BenchReport& report = run.report();
    report.data = "random bytes (the paper: random numbers from 0 to 1), k = 5";
    report.quotes = quotes_of("seed 002");
    if (!run.has_gpu()) {
        const Sizes& last = std::end(cases)[-1];
        const Problem problem{last.n_train, last.n_query, last.dim, k};
        run.need_gpu("distance", {distance, distance512}, problem);
        run.need_gpu("select", {sort, indices}, problem);
    }
    run.expect(std::ssize(cases) * (run.has_gpu() ? 6 : 2));

    BenchTable table;
    table.title = "one CPU thread (distances, std::sort) against the GPU (" +
                  (run.has_gpu() ? std::string(distance) + ", " + sort : "none") + "), ms";
    table.columns = {"case",      "test",        "train",     "dim",      "CPU dist.", "CPU sort",
                     "GPU dist.", "512 threads", "512 / 256", "GPU sort", "indices",   "speed-up",
                     "paper 1",   "paper 2",     "1: CPU s",  "1: GPU s", "2: CPU s",  "2: GPU s"};
    Panel panel;
    panel.title = "CPU time / GPU time";
    panel.x_label = "case";
    panel.y_label = "times faster";
    panel.log_x = false;
    panel.lines = {{"here", {}}, {"paper, system 1", {}}, {"paper, system 2", {}}};
    double number = 1;
    for (const Sizes& sizes : cases) {
        const Times times = measure(run, sizes);
        add_row(table, sizes, times);
        if (times.speed_up() > 0) {
            panel.lines[0].points.push_back(point(number, times.speed_up(), times.partial()));
            if (times.partial()) panel.notes = {"hollow: from the times of fewer test points than all."};
        }
        panel.lines[1].points.push_back(point(number, find_figure(system1, sizes.name, "speed-up")->value()));
        panel.lines[2].points.push_back(point(number, find_figure(system2, sizes.name, "speed-up")->value()));
        ++number;
    }
    if (panel.lines[0].points.empty()) panel.lines.erase(panel.lines.begin());
    table.notes = {
        "paper 1 and 2: its systems, Core i7 2670QM with GT 520MX and Core i7 3720QM with GT 650M; their",
        "CPU and GPU times in seconds, distances and sorting, behind. GPU dist.: blocks of 256 threads; the "
        "paper",
        "takes 512 in case 9 alone, and supposes that this is why its speed-up falls there. indices: they "
        "alone are",
        "sorted, as the paper proposes to save memory."};
    add_marked(report, std::move(table));
    if (panel.lines.size() == 3) report.panels.push_back(std::move(panel));  // not the paper's alone
}

}  // namespace knn
