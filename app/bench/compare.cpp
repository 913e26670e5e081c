// `bench` without --case: every distance kernel with one selector, every selector with one distance kernel,
// and every engine, on one data set. --case graph: the k nearest of each training image among all the others.
// --case sketches: the same searches by all pixels and by sketches.

#include "app/bench/run.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "app/commands/ranks.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr const char
    *open_note = "open: uploading and arranging the training set, once for all searches.",
    *kernels_note = "kernels: the work on the GPU of one search, without the copies.",
    *operations_note =
        "GFLOP/s: one multiplication and one addition per pair of images and pixel, for every engine.";

void add_searches(BenchRun& run, const std::string& title, const Workload& work,
                  const std::vector<SearchWay>& ways, int k, const std::vector<std::string>& notes) {
    std::vector<std::string> columns = {"open ms"};
    if (run.has_gpu()) columns.emplace_back("kernels ms");
    Section section(run.report, title, "engine", columns);
    for (const SearchWay& way : ways) {
        const Measurement one = run.search(work, way, k, run.trial());
        std::vector<std::string> more = {one.good() ? short_number(one.open_ms) : ""};
        if (run.has_gpu()) more.emplace_back();
        if (!one.kernels_ms.empty())
            more.back() = short_number(one.of_all(summary_of(one.kernels_ms).median)) +
                          (one.partial() ? partial_mark : "");
        section.add(one, more);
    }
    section.finish(notes);
}

std::vector<std::string> notes_of_searches(const BenchRun& run) {
    if (!run.has_gpu()) return {open_note, operations_note};
    return {open_note, kernels_note, operations_note};
}

std::string both(const Measurement& a, const Measurement& b) {
    return a.good() && b.good() ? short_number(a.us_per_query() + b.us_per_query()) : "";
}

void leave_out_gpu(BenchRun& run, const Problem& problem) {
    run.not_run("distance", gpu_names(distance_kernels(), run.options.bench), problem);
    run.not_run("select", gpu_names(selectors(), run.options.bench), problem);
    for (const char* option : {"distance", "select"})
        if (run.options.given.contains(option))
            run.report.leave_out(std::string("--") + option, "the rows that it is for run on a GPU");
}

/// Fills the matrix for the selectors: with the kernel of --distance, else the first that supports the
/// metric, preferring `float4`. Returns its name; if there is none, `why` is the reason of the first.
std::string fill(BenchRun& run, BenchArrays& arrays, UnsupportedReason& why) {
    std::vector<std::string> names = {"float4"};
    for (const Strategy& kernel : distance_kernels())
        names.push_back(kernel.name);
    const std::string& named = run.options.request.distance;
    if (!named.empty()) names = {named};
    for (const std::string& name : names) {
        const UnsupportedReason refusal = arrays.fill(name);
        if (!refusal) return name;
        if (!why) why = "there are no distances by " + name + ": " + *refusal;
    }
    return "";
}

void compare_distances(BenchRun& run, const Workload& work, int k) {
    const std::string& named = run.options.request.select;
    const std::string select = named.empty() ? "bitonic_topk" : named;
    Section section(run.report, "distance kernels (us/query with " + select + " behind each)", "distance",
                    {"+ " + select});
    for (const std::string& name : gpu_names(distance_kernels(), run.options.bench)) {
        const Measurement one = run.distance(work, name, run.trial());
        std::string sum;
        if (one.good()) {
            // Rows that this kernel did not compute are garbage; selections must not be checked on them.
            work.arrays->fill(name);
            sum = both(one, run.select(work, select, k, run.trial(0.2)));
        }
        section.add(one, {sum});
    }
    section.finish();
}

void compare_selectors(BenchRun& run, const Workload& work, int k) {
    const std::vector<std::string> names = gpu_names(selectors(), run.options.bench);
    if (names.empty()) return;
    UnsupportedReason why;
    const std::string distance = fill(run, *work.arrays, why);
    if (distance.empty()) return run.not_run("select", names, work.problem(k), *why);
    const Measurement before = run.distance(work, distance, run.trial(0.2));
    work.arrays->fill(distance);
    Section section(run.report,
                    "selectors, k = " + std::to_string(k) + " (us/query with " + distance + " before each)",
                    "selector", {"+ " + distance});
    for (const std::string& name : names) {
        const Measurement one = run.select(work, name, k, run.trial());
        section.add(one, {both(one, before)});
    }
    section.finish();
}

void compare_on_gpu(BenchRun& run, Workload& work, int k) {
    run.upload(work);
    if (work.arrays == nullptr) return leave_out_gpu(run, work.problem(k));
    const std::int64_t n = work.arrays->n_query();
    if (n < work.query.count)
        run.report.leave_out("queries " + std::to_string(n) + " to " + std::to_string(work.query.count - 1),
                             "the whole matrix would not fit in device memory");
    compare_distances(run, work, k);
    compare_selectors(run, work, k);
    work.arrays.reset();
}

/// The baseline `nth_element`, and other serial selectors if --only names them. The distances before are listed once.
void compare_on_cpu(BenchRun& run, const Workload& work, int k) {
    Section section(run.report, "one CPU thread, one query after another, k = " + std::to_string(k), "part");
    const auto serial_selectors = cpu::serial_selectors();
    const BenchOptions& bench = run.options.bench;
    bool distances = is_wanted(bench, serial_distances);
    for (const cpu::SerialSelector& one : serial_selectors) {
        const bool named = has(bench.only, one.name), baseline = &one == &serial_selectors[0];
        const bool selection = named || (baseline && is_wanted(bench, one.name));
        if (!selection && !(baseline && distances)) continue;
        for (const Measurement& row : run.serial(work, one.name, k, run.trial(), distances, selection))
            section.add(row);
        distances = false;
    }
    section.finish();
}

void compare_engines(BenchRun& run, const Workload& work, int k) {
    std::vector<SearchWay> ways = search_ways();
    std::erase_if(ways, [&](const SearchWay& way) { return !run.wants_engine(way); });
    std::vector<std::string> notes = notes_of_searches(run);
    if (run.has_gpu() && run.options.bench.dim > 0)
        notes.emplace_back("random images are in pageable memory: their upload is slower than a data set's.");
    add_searches(run, "engines, the training set resident, k = " + std::to_string(k), work, ways, k, notes);
}

/// Both ways to use several devices, or several ranks, which answer alike, whatever devices they have. Among ranks the
/// CPU shares the work too.
void compare_spread(BenchRun& run, const Workload& work, int k) {
    if (run.several().empty()) return;
    const bool ranks = run.ranks != nullptr;
    std::vector<SearchWay> ways;
    for (SearchWay way : search_ways()) {
        const bool shares =
            way.engine->on_gpu ? !ranks || run.options.request.device.kind != DeviceKind::cpu : ranks;
        if (!run.wants_engine(way) || !shares) continue;
        const std::string engine = way.name;
        for (const Placement spread : {Placement::replicate, Placement::shard}) {
            way.placement = spread;
            way.name = engine + " by " + name(spread);
            ways.push_back(way);
        }
    }
    std::vector<std::string> notes = {
        "by queries: each has the training set and some queries; by training: the other way round."};
    if (run.has_gpu()) notes.emplace_back("kernels: each stage as it was where it took longest.");
    if (ranks) notes.emplace_back("all other tables: rank 0 alone, with its share of this host's threads.");
    add_searches(run, "engines on " + run.several() + ", k = " + std::to_string(k), work, ways, k, notes);
}

/// The time of `tensor` without copies and launch overhead.
void compare_kernels(BenchRun& run, const Workload& work, int k, std::span<const SearchWay> ways) {
    Section section(run.report, "the kernels of tensor, all on the device, k = " + std::to_string(k),
                    "engine");
    for (const SearchWay& way : ways) {
        Trial timed;
        const Plan plan = run.configured(way, work.problem(k), timed.refusal);
        if (!timed.refusal)
            timed = gpu_bench()->time_kernels(plan, work.training(), work.query, k, run.trial(), run.token);
        section.add(run.keep("kernels", way.name, run.report.gpu, work.problem(k), timed,
                             [&](std::int64_t) { return work.mismatch(timed.found); }));
    }
    section.finish(
        {"launched as one CUDA graph, from the queries to the votes; the training set is prepared before."});
}

bool has_tensor(BenchRun& run, const Workload& work) {
    return run.has_gpu() && run.wants_engine(search_way("tensor")) && work.train.are_bytes();
}

}  // namespace

void run_compare(BenchRun& run) {
    const int k = run.options.method.vote.k;
    Workload work = load_workload(run, k);
    agree_on({work.train, work.labels}, work.query);
    if (!run.leads()) return compare_spread(run, work, k);
    run.report.data = work.text;
    run.report.title =
        "bench: distance kernels, selectors and engines side by side, k = " + std::to_string(k) +
        metric_words(work.measure);
    const std::int64_t n_distances = std::ssize(gpu_names(distance_kernels(), run.options.bench)),
                       n_selectors = std::ssize(gpu_names(selectors(), run.options.bench)),
                       n_ways = std::ssize(search_ways());
    run.expect((run.has_gpu() ? 2 : 1) * n_distances + n_selectors + (run.has_gpu() ? 4 : 3) +
               (run.several().empty() ? 1 : 3) * n_ways);
    run.prepare(work);
    if (work.train.are_bytes()) {
        compare_on_gpu(run, work, k);
        compare_on_cpu(run, work, k);
    } else {
        run.report.leave_out("kernels and serial programs",
                             "they compare bytes, and these rows are not uint8");
    }
    compare_engines(run, work, k);
    compare_spread(run, work, k);
    if (has_tensor(run, work)) compare_kernels(run, work, k, std::array{search_way("tensor")});
}

void run_graph(BenchRun& run) {
    constexpr int usual_k = 10;
    constexpr std::int64_t checked_points = 1000;  // so that the CPU engine does not search all of them twice
    const int k = run.options.given.contains("-k") ? run.options.method.vote.k : usual_k;
    Workload work = load_workload(run, 1);
    require_others(k, work.train.count);
    work.query = work.train;
    work.max_k = k;
    work.leave_one_out = true;
    run.report.title += ", k = " + std::to_string(k) + metric_words(work.measure);
    run.report.data = training_words(work) + ", each a query among all of them";
    std::vector<SearchWay> ways;
    for (const std::string& name : words_of(find_case("graph")->names))
        if (is_wanted(run.options.bench, name)) ways.push_back(search_way(name));
    run.expect(std::ssize(ways));
    run.prepare(work, checked_points);
    add_searches(run, "whole searches, the points resident", work, ways, k, notes_of_searches(run));
}

void run_sketches(BenchRun& run) {
    const int k = run.options.method.vote.k;
    Workload work = load_workload(run, k);
    run.report.title += ", k = " + std::to_string(k);
    run.report.data = work.text;
    std::vector<SearchWay> ways;
    for (const char* engine : {"tensor", "cpu"}) {
        const SearchWay way = search_way(engine);
        if (!run.wants_engine(way)) continue;
        for (const SketchColumns columns : {SketchColumns::off, SketchColumns::c64, SketchColumns::c128}) {
            ways.push_back(way);
            ways.back().sketch = columns;
            ways.back().name +=
                columns == SketchColumns::off ? ", direct" : std::string(", ") + name(columns) + " columns";
        }
    }
    std::vector<SearchWay> kernels;
    if (has_tensor(run, work))
        std::ranges::copy_if(ways, std::back_inserter(kernels),
                             [](const SearchWay& way) { return way.engine->on_gpu; });
    run.expect(std::ssize(ways) + std::ssize(kernels));
    run.prepare(work);
    if (!kernels.empty()) compare_kernels(run, work, k, kernels);
    Section section(run.report, "whole searches, the training set resident", "search",
                    {"open ms", "products ms", "exact ms", "exact of a million"});
    for (const SearchWay& way : ways) {
        const Measurement one = run.search(work, way, k, run.trial());
        double products = 0, exact = 0;
        std::string share;
        for (const Stage& stage : one.stages.stages()) {
            if (stage.name == "distance" || stage.name == "search") products = one.of_all(stage.total_ms);
            if (stage.name != "refine") continue;
            exact = one.of_all(stage.total_ms);
            share = short_number(1e6 * static_cast<double>(stage.launches) /
                                 (static_cast<double>(one.n_query) * static_cast<double>(work.train.count)));
        }
        const auto shown = [&](double ms) { return one.good() && ms > 0 ? short_number(ms) : ""; };
        section.add(one, {shown(one.open_ms), shown(products), shown(exact), share});
    }
    section.finish(
        {"exact: pairs that their sketches do not exclude; the engine tensor has them in its products.",
         "open: with tensor, sketches too; cpu makes them in the first search."});
}

}  // namespace knn
