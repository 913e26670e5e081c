// `bench` without --case: every distance kernel with one selector, every selector with one distance kernel,
// and every engine, on one data set.

#include <algorithm>

#include "app/bench/cases.h"
#include "app/bench/data.h"
#include "app/bench/section.h"
#include "app/bench/spread.h"
#include "app/commands/ranks.h"
#include "cpu/serial/serial.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr const char* experiment = "compare";

/// The names of the requested GPU strategies.
std::vector<std::string> wanted(const BenchRun& run, const std::vector<Strategy>& all) {
    std::vector<std::string> names;
    for (const Strategy& one : all)
        if (one.on_gpu && run.wants(one.name)) names.push_back(one.name);
    return names;
}

std::string both(const Measurement& a, const Measurement& b) {
    return a.good() && b.good() ? short_number(a.us_per_query() + b.us_per_query()) : "";
}

/// Lists by name what a machine without a GPU leaves out.
void leave_out_gpu(BenchRun& run, const Problem& problem) {
    run.need_gpu(experiment, "distance", wanted(run, distance_kernels()), problem);
    run.need_gpu(experiment, "select", wanted(run, selectors()), problem);
    for (const char* option : {"distance", "select"})
        if (run.options().given.contains(option))
            run.leave_out(std::string("--") + option, "the rows that it is for run on a GPU");
}

/// The selector that runs after each distance kernel.
std::string select_behind(const BenchRun& run) {
    return run.options().wish.select.empty() ? "bitonic_topk" : run.options().wish.select;
}

/// Fills the matrix for the selectors: with the kernel of --distance, else the first that supports the
/// metric, preferring `float4`. Returns its name; if there is none, `why` is the reason of the first.
std::string fill(BenchRun& run, BenchArrays& arrays, Refusal& why) {
    std::vector<std::string> names = {"float4"};
    for (const Strategy& kernel : distance_kernels())
        names.push_back(kernel.name);
    const std::string& named = run.options().wish.distance;
    if (!named.empty()) names = {named};
    for (const std::string& name : names) {
        const Refusal refusal = arrays.fill(name);
        if (!refusal) return name;
        if (!why) why = "there are no distances by " + name + ": " + *refusal;
    }
    return "";
}

void compare_distances(BenchRun& run, const Workload& work, BenchArrays& arrays, int k) {
    const std::string select = select_behind(run);
    Section section(run, "distance kernels (us/query with " + select + " behind each)", "distance",
                    {"+ " + select});
    for (const std::string& name : wanted(run, distance_kernels())) {
        const Measurement one = run.distance(work, arrays, experiment, name, run.trial());
        if (!one.good()) {
            section.add(one);
            continue;
        }
        // Rows that this kernel did not compute are garbage; selections must not be checked on them.
        arrays.fill(name);
        const Measurement behind = run.select(work, arrays, experiment, select, k, run.trial(0.2));
        section.add(one, {both(one, behind)});
    }
    section.finish();
}

void compare_selectors(BenchRun& run, const Workload& work, BenchArrays& arrays, int k) {
    const std::vector<std::string> names = wanted(run, selectors());
    if (names.empty()) return;
    Refusal why;
    const std::string distance = fill(run, arrays, why);
    if (distance.empty()) {
        for (const std::string& name : names)
            run.not_run(experiment, "select", name, work.problem(k), *why);
        return;
    }
    const Measurement before = run.distance(work, arrays, experiment, distance, run.trial(0.2));
    arrays.fill(distance);
    Section section(run,
                    "selectors, k = " + std::to_string(k) + " (us/query with " + distance + " before each)",
                    "selector", {"+ " + distance});
    for (const std::string& name : names) {
        const Measurement one = run.select(work, arrays, experiment, name, k, run.trial());
        section.add(one, {both(one, before)});
    }
    section.finish();
}

void compare_on_gpu(BenchRun& run, const Workload& work, int k) {
    const std::unique_ptr<BenchArrays> arrays = run.arrays(work);
    if (arrays == nullptr) return leave_out_gpu(run, work.problem(k));
    if (arrays->n_query() < work.query().count)
        run.leave_out(
            "queries " + std::to_string(arrays->n_query()) + " to " + std::to_string(work.query().count - 1),
            "the whole matrix would not fit in device memory");
    compare_distances(run, work, *arrays, k);
    compare_selectors(run, work, *arrays, k);
}

/// The serial selectors: the baseline, and others that --only names.
std::vector<std::string> wanted_serial(const BenchRun& run) {
    std::vector<std::string> names;
    for (const cpu::SerialSelector& one : cpu::serial_selectors()) {
        const bool is_baseline = &one == &cpu::serial_selectors().front();
        if (is_baseline ? run.wants(one.name) || run.wants(serial_distances)
                        : has(run.bench().only, one.name))
            names.emplace_back(one.name);
    }
    return names;
}

void compare_on_cpu(BenchRun& run, const Workload& work, int k) {
    Section section(run, "one CPU thread, one query after another, k = " + std::to_string(k), "part");
    bool distances = run.wants(serial_distances);
    for (const std::string& selector : wanted_serial(run)) {
        using Listed = BenchRun::Listed;
        const Listed listed = !distances            ? Listed::select
                              : run.wants(selector) ? Listed::both
                                                    : Listed::distance;
        const BenchRun::Serial serial = run.serial(work, experiment, selector, k, run.trial(), listed);
        if (listed != Listed::select) section.add(serial.distance);
        if (listed != Listed::distance) section.add(serial.select);
        distances = false;
    }
    section.finish();
}

void compare_engines(BenchRun& run, const Workload& work, int k) {
    Section section(run, "engines, the training set resident, k = " + std::to_string(k), "engine",
                    {open_heading, kernels_heading});
    for (const SearchWay& way : search_ways()) {
        if (!run.wants_engine(way)) continue;
        const Measurement one = run.search(work, experiment, way, k, run.trial());
        section.add(one, {open_cell(one), kernels_cell(one)});
    }
    section.note(open_note);
    section.note(kernels_note);
    section.note(search_operations_note);
    if (run.has_gpu() && run.bench().dim > 0)
        section.note("random images are in pageable memory: their upload is slower than a data set's.");
    section.finish();
}

/// The time of `tensor` without copies and launch overhead.
void compare_kernels(BenchRun& run, const Workload& work, int k) {
    if (!run.has_gpu() || !run.wants_engine(search_way("tensor"))) return;
    Section section(run, "the kernels of tensor, all on the device, k = " + std::to_string(k), "engine");
    section.add(run.kernels(work, experiment, k, run.trial()));
    section.note(
        "launched as one CUDA graph, from the queries to the votes; the training set is prepared before.");
    section.finish();
}

}  // namespace

void run_compare(BenchRun& run) {
    const int k = run.options().method.vote.k;
    const BenchData data = bench_data(run, k);
    agree_on({data.work->train(), data.work->query()}, data.work->training().labels);
    if (!run.leads()) return compare_spread(run, *data.work, experiment, k);
    BenchReport& report = run.report();
    report.data = data.text;
    report.title = "bench: distance kernels, selectors and engines side by side, k = " + std::to_string(k) +
                   metric_words(data.work->measure);
    const auto n_distances = static_cast<std::int64_t>(wanted(run, distance_kernels()).size());
    const auto n_selectors = static_cast<std::int64_t>(wanted(run, selectors()).size());
    const auto n_ways = static_cast<std::int64_t>(search_ways().size());
    run.expect((run.has_gpu() ? 2 : 1) * n_distances + n_selectors + (run.has_gpu() ? 4 : 3) + n_ways +
               spread_rows(run));
    run.prepare(*data.work);
    compare_on_gpu(run, *data.work, k);
    compare_on_cpu(run, *data.work, k);
    compare_engines(run, *data.work, k);
    compare_spread(run, *data.work, experiment, k);
    compare_kernels(run, *data.work, k);
}

}  // namespace knn
