// Seed 002, appendix A: nine sizes, one CPU thread against the GPU. As there, the CPU computes all distances
// and sorts each whole row; the GPU computes them with a test point in shared memory and sorts segments.

#include "app/bench/run.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr int case_k = 5;  // appendix B.3
constexpr const char *kernel256 = "row_shared", *kernel512 = "row_shared512", *row_sort = "segmented_sort",
                     *row_indices = "index_sort";
constexpr const char *cpu_parts = "serial serial_sort", *gpu_parts = "row_shared segmented_sort";
constexpr const char *system1 = "seed 002, A.1", *system2 = "seed 002, A.2";

/// The nine sizes, the same for both of its systems.
struct CaseSizes {
    const char* name;
    int n_query, n_train, dim;
};
constexpr CaseSizes cases[] = {
    {"case 1", 1024, 512, 64},   {"case 2", 2048, 1024, 64},  {"case 3", 4096, 1024, 64},
    {"case 4", 4096, 2048, 64},  {"case 5", 4096, 1024, 128}, {"case 6", 4096, 1024, 256},
    {"case 7", 8192, 2048, 256}, {"case 8", 8192, 4096, 256}, {"case 9", 16384, 3072, 512},
};

PlotPoint point(double x, double y, bool hollow = false) {
    return {x, y, y, y, hollow};
}

void add_row(BenchTable& table, const BenchReport& report, const CaseSizes& sizes) {
    const auto ms = [&](const char* parts) { return time_of(report, sizes.name, parts).ms; };
    const auto cell = [&](const char* part) { return time_of(report, sizes.name, part).cell; };
    table.rows.push_back(
        {sizes.name, with_commas(sizes.n_query), with_commas(sizes.n_train), std::to_string(sizes.dim),
         cell(serial_distances), cell("serial_sort"), cell(kernel256), cell(kernel512),
         ratio_cell(ms(kernel512), ms(kernel256)),  // §5
         cell(row_sort), cell(row_indices), ratio_cell(ms(cpu_parts), ms(gpu_parts), "x"),
         stated(system1, sizes.name, "speed-up") + "x", stated(system2, sizes.name, "speed-up") + "x",
         stated(system1, sizes.name, "CPU total"), stated(system1, sizes.name, "GPU total"),
         stated(system2, sizes.name, "CPU total"), stated(system2, sizes.name, "GPU total")});
}

}  // namespace

void run_singh(BenchRun& run) {
    BenchReport& report = run.report;
    report.data = "random bytes (the paper: random numbers from 0 to 1), k = 5";
    report.quotes = quotes_of("seed 002");
    const BenchRun::PartNames parts = {"serial_sort", "row_shared row_shared512", kernel256,
                                       "segmented_sort index_sort"};
    if (!run.has_gpu()) {
        const CaseSizes& last = std::end(cases)[-1];
        const Problem problem{last.n_train, last.n_query, last.dim, case_k};
        run.not_run("distance", words_of(parts.distances), problem);
        run.not_run("select", words_of(parts.selects), problem);
    }
    run.expect(std::ssize(cases) * (run.has_gpu() ? 6 : 2));

    BenchTable table;
    table.title = "one CPU thread (distances, std::sort) against the GPU (" +
                  (run.has_gpu() ? std::string(kernel256) + ", " + row_sort : "none") + "), ms";
    table.columns = {"case",      "test",        "train",     "dim",      "CPU dist.", "CPU sort",
                     "GPU dist.", "512 threads", "512 / 256", "GPU sort", "indices",   "speed-up",
                     "paper 1",   "paper 2",     "1: CPU s",  "1: GPU s", "2: CPU s",  "2: GPU s"};
    Panel panel = {"CPU time / GPU time", "case", "times faster", false};
    panel.lines = {{"here", {}}, {"paper, system 1", {}}, {"paper, system 2", {}}};
    double number = 1;
    for (const CaseSizes& sizes : cases) {
        Workload work(sizes.n_train, sizes.n_query, sizes.dim, case_k, 2);
        run.figure(sizes.name);
        run.parts(work, parts, case_k);
        add_row(table, report, sizes);
        const TotalTime slow = time_of(report, sizes.name, cpu_parts),
                        fast = time_of(report, sizes.name, gpu_parts);
        if (slow.ms > 0 && fast.ms > 0) {
            const bool partial = slow.cell.ends_with(partial_mark) || fast.cell.ends_with(partial_mark);
            panel.lines[0].points.push_back(point(number, slow.ms / fast.ms, partial));
            if (partial) panel.notes = {"hollow: from the times of fewer test points than all."};
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
