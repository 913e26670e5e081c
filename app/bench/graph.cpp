// The k-nearest-neighbor graph: each training image looks for its k nearest among all the others. A search
// asks for k + 1 of them, and the image itself is taken out.

#include <algorithm>
#include <chrono>

#include "app/bench/cases.h"
#include "app/bench/data.h"
#include "app/bench/section.h"
#include "app/report/format.h"

namespace knn {

namespace {

constexpr int usual_k = 10;
constexpr std::int64_t checked_points = 1000;  // so that the CPU engine does not search all of them twice

int k_of(const Options& options) {
    return options.given.contains("-k") ? options.search.k : usual_k;
}

void check_k(int k, std::int64_t n) {
    const std::int64_t most = std::min<std::int64_t>(n, max_k) - 1;
    if (n < 2)
        throw UsageError("a graph of " + std::to_string(n) +
                         " image: it has no neighbor; expected at least 2 training images");
    if (k > most)
        throw UsageError("-k " + std::to_string(k) + ": too many of " + with_commas(n) +
                         " images for a search that finds the image itself too; expected at most " +
                         std::to_string(most));
}

double ms_of_edges(const Neighbors& found) {
    const auto begin = std::chrono::steady_clock::now();
    const Neighbors edges = nearest_others(found);
    const auto end = std::chrono::steady_clock::now();
    return edges.rows.empty() ? 0 : std::chrono::duration<double, std::milli>(end - begin).count();
}

}  // namespace

Neighbors nearest_others(const Neighbors& found) {
    Neighbors edges(found.n_query, found.k - 1);
    for (std::int64_t point = 0; point < found.n_query; ++point) {
        const auto nearest = found.row(point);
        const auto itself = std::find_if(nearest.begin(), nearest.end() - 1,
                                         [&](const Neighbor& one) { return one.index == point; });
        const auto out = std::copy(nearest.begin(), itself, edges.row(point).begin());
        std::copy(itself + 1, nearest.end(), out);
    }
    return edges;
}

void run_graph(BenchRun& run) {
    const int k = k_of(run.options());
    const BenchData data = bench_data(run, 1);
    const ImageRows& points = data.work->train();
    check_k(k, points.count);
    Workload work(points, points, data.work->request(1, 1).train_labels, k + 1);
    work.measure = data.work->measure;
    BenchReport& report = run.report();
    report.title += ", k = " + std::to_string(k) + metric_words(work.measure);
    report.data = data.dataset.name + ": " + with_commas(points.count) + " training images of " +
                  with_commas(points.dim) + " pixels, each a query among all of them";
    const std::vector<std::string>& names = find_case("graph")->names;
    run.expect(static_cast<std::int64_t>(names.size()));
    run.prepare(work, checked_points);

    Section section(run, "whole searches, upload to votes, of k + 1 = " + std::to_string(k + 1), "engine",
                    {kernels_heading, "edges ms"});
    for (const std::string& name : names) {
        if (!run.wants(name)) continue;
        SearchResult found;
        run.search(work, "graph", search_way(name), k + 1, run.trial(), &found);
        Measurement& one = run.report().measurements.back();
        if (one.good()) one.edges_ms = ms_of_edges(found.neighbors);
        section.add(one, {kernels_cell(one), one.good() ? short_number(one.edges_ms) : ""});
    }
    section.note("edges: taking each point itself out of its k + 1 nearest, on one CPU thread.");
    section.note(kernels_note);
    section.note(search_operations_note);
    section.finish();
}

}  // namespace knn
