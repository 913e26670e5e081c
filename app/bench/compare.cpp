// `bench` without --case: every distance kernel with one selector, every selector with one distance kernel,
// and every engine, on one data set.

#include <algorithm>

#include "app/bench/cases.h"
#include "app/bench/data.h"
#include "app/bench/section.h"
#include "app/report/format.h"
#include "cpu/serial.h"

namespace knn {

namespace {

constexpr const char* experiment = "compare";

/// The names of the GPU's strategies that the user wants.
std::vector<std::string> wanted(const BenchRun& run, const std::vector<Strategy>& all) {
    std::vector<std::string> names;
    for (const Strategy& one : all)
        if (one.on_gpu && run.wants(one.name)) names.push_back(one.name);
    return names;
}

/// `preferred` where the table has it, else the table's first.
std::string chosen(const std::string& given, const std::vector<Strategy>& all, const char* preferred) {
    if (!given.empty()) return given;
    for (const Strategy& one : all)
        if (one.name == preferred) return one.name;
    return all.empty() ? "" : all.front().name;
}

std::string both(const Measurement& a, const Measurement& b) {
    return a.good() && b.good() ? short_number(a.us_a_query() + b.us_a_query()) : "";
}

/// What a machine without GPU does without, by name.
void leave_out_gpu(BenchRun& run) {
    for (const std::vector<Strategy>& table : {distance_kernels(), selectors()})
        for (const std::string& name : wanted(run, table))
            run.leave_out(name, "it runs on a GPU");
}

void compare_on_gpu(BenchRun& run, const Workload& work, const std::string& distance,
                    const std::string& select, int k) {
    const std::unique_ptr<Stand> stand = run.stand(work);
    if (stand == nullptr) return leave_out_gpu(run);
    if (stand->n_query() < work.query().count)
        run.leave_out(
            "queries " + std::to_string(stand->n_query()) + " to " + std::to_string(work.query().count - 1),
            "the matrix of all would not fit the device's memory");
    Section distances(run, "distance kernels (us/query with " + select + " behind each)", "distance",
                      {"+ " + select});
    for (const std::string& name : wanted(run, distance_kernels())) {
        const Measurement one = run.distance(work, *stand, experiment, name, run.trial());
        if (!one.good()) {
            distances.add(one);
            continue;
        }
        // Rows that this kernel did not reach are garbage; a selection must not be judged by them.
        TrialOptions brief = run.trial(0.2);
        stand->fill(name);
        Measurement behind = run.select(work, *stand, experiment, select, k, brief);
        distances.add(one, {both(one, behind)});
    }
    distances.finish();

    if (const Refusal refusal = stand->fill(distance)) {
        run.leave_out("selectors", distance + ": " + *refusal);
        return;
    }
    const std::vector<std::string> names = wanted(run, selectors());
    Measurement before;
    if (!names.empty()) before = run.distance(work, *stand, experiment, distance, run.trial(0.2));
    stand->fill(distance);
    Section selection(run,
                      "selectors, k = " + std::to_string(k) + " (us/query with " + distance + " before each)",
                      "selector", {"+ " + distance});
    for (const std::string& name : names) {
        const Measurement one = run.select(work, *stand, experiment, name, k, run.trial());
        selection.add(one, {both(one, before)});
    }
    selection.finish();
}

void compare_on_cpu(BenchRun& run, const Workload& work, int k) {
    const std::string baseline = cpu::serial_selectors().front().name;
    if (!run.wants(baseline)) return;
    Section section(run, "one CPU thread, one query after another, k = " + std::to_string(k), "part");
    const BenchRun::Serial serial = run.serial(work, experiment, baseline, k, run.trial());
    section.add(serial.distance);
    section.add(serial.select);
    section.finish();
}

void compare_engines(BenchRun& run, const Workload& work, int k) {
    Section section(run, "engines, upload to votes, k = " + std::to_string(k), "engine");
    const std::string& named = run.options().search.engine;
    for (const SearchWay& way : search_ways()) {
        const bool asked = !run.options().search.engine_named || named == "auto" || named == way.engine->name;
        if (!asked || !run.wants(way.name)) continue;
        section.add(run.search(work, experiment, way, k, run.trial()));
    }
    section.note(search_operations_note);
    if (run.has_gpu() && run.bench().dim > 0)
        section.note("random images lie in pageable memory: their upload is slower than a data set's.");
    section.finish();
}

}  // namespace

void run_compare(BenchRun& run) {
    const int k = run.options().search.k;
    const BenchData data = bench_data(run, k);
    BenchReport& report = run.report();
    report.data = data.text;
    report.title = "bench: distance kernels, selectors and engines side by side, k = " + std::to_string(k);
    const std::string distance = chosen(run.options().search.distance, distance_kernels(), "float4");
    const std::string select = chosen(run.options().search.select, selectors(), "bitonic_topk");
    const auto n_distances = static_cast<std::int64_t>(wanted(run, distance_kernels()).size());
    const auto n_selectors = static_cast<std::int64_t>(wanted(run, selectors()).size());
    run.expect((run.has_gpu() ? 2 * n_distances + n_selectors + 1 : 0) + 2 +
               static_cast<std::int64_t>(search_ways().size()));
    run.prepare(*data.work);
    compare_on_gpu(run, *data.work, distance, select, k);
    compare_on_cpu(run, *data.work, k);
    compare_engines(run, *data.work, k);
}

}  // namespace knn
