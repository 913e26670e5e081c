// The k-nearest-neighbor graph: the k nearest of each training image among all the others.

#include "classifier/graph.h"
#include "app/bench/cases.h"
#include "app/bench/data.h"
#include "app/bench/section.h"
#include "classifier/part_search.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

constexpr int usual_k = 10;
constexpr std::int64_t checked_points = 1000;  // so that the CPU engine does not search all of them twice

int k_of(const Options& options) {
    return options.given.contains("-k") ? options.method.vote.k : usual_k;
}

}  // namespace

void run_graph(BenchRun& run) {
    const int k = k_of(run.options());
    const BenchData data = bench_data(run, 1);
    const Rows& points = data.work->train();
    require_others(k, points.count);
    Workload work(points, points, data.work->training().labels, k);
    work.measure = data.work->measure;
    work.exclude = {.first = 0};
    BenchReport& report = run.report();
    report.title += ", k = " + std::to_string(k) + metric_words(work.measure);
    report.data = data.dataset.name + ": " + with_commas(points.count) + " training " +
                  noun(points.count, "image") + " of " + with_commas(points.dim) + ' ' +
                  noun(points.dim, "pixel") + ", each a query among all of them";
    const std::vector<std::string>& names = find_case("graph")->names;
    run.expect(static_cast<std::int64_t>(names.size()));
    run.prepare(work, checked_points);

    Section section(run, "whole searches, the points resident", "engine", {open_heading, kernels_heading});
    for (const std::string& name : names) {
        if (!run.wants(name)) continue;
        const Measurement one = run.search(work, "graph", search_way(name), k, run.trial());
        section.add(one, {open_cell(one), kernels_cell(one)});
    }
    section.note(open_note);
    section.note(kernels_note);
    section.note(search_operations_note);
    section.finish();
}

}  // namespace knn
