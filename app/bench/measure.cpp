// The ways to measure: each compares its answers with the reference before it keeps a time.

#include <algorithm>
#include <cstring>
#include <limits>

#include "app/bench/run.h"
#include "classifier/classifier.h"
#include "cpu/search.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr std::int64_t sampled = 8;  // queries of which every distance is compared

/// Not for lp, whose powers are looked up.
bool countable(const Problem& problem) {
    return problem.measure.metric != Metric::lp;
}

void count_distances(Measurement& measured, const Trial& trial) {
    const double n = static_cast<double>(measured.n_query), dim = static_cast<double>(measured.problem.dim);
    const double n_train = static_cast<double>(measured.problem.n_train);
    measured.bytes = trial.pixel_bytes * (n_train * dim + n * dim) + 4 * n * n_train;
    if (countable(measured.problem)) measured.operations = trial.operations * n * n_train * dim;
}

/// Nominal operations, for every engine: a multiplication and an addition per pair and pixel.
void count_search(Measurement& measured) {
    const Problem& problem = measured.problem;
    if (!countable(problem)) return;
    measured.operations = 2.0 * static_cast<double>(measured.n_query) * static_cast<double>(problem.n_train) *
                          static_cast<double>(problem.dim);
}

/// Whether these are the neighbors by nth_element; `begin`: the first rank that is compared.
bool agrees_with_nth_element(std::span<const std::uint32_t> row, std::span<const Neighbor> found,
                             std::ptrdiff_t begin = 0) {
    std::vector<Neighbor> right(found.size());
    std::vector<std::uint64_t> scratch;
    cpu::serial_selectors().front().select(row, right, scratch);
    return std::equal(right.begin() + begin, right.end(), found.begin() + begin);
}

/// `written`: neighbors of each query.
void count_selection(Measurement& measured, int written) {
    measured.bytes = static_cast<double>(measured.n_query) *
                     (4 * static_cast<double>(measured.problem.n_train) + 8.0 * written);
}

/// The slowest of all ranks, after all of them have come here.
double slowest_ms(Ranks& ranks, double ms, const Watch& watch) {
    std::uint8_t mine[sizeof ms];
    std::memcpy(mine, &ms, sizeof ms);
    for (const auto& theirs : gather_all(ranks, mine, watch.stop)) {
        double one = 0;
        std::memcpy(&one, theirs.data(), sizeof one);
        ms = std::max(ms, one);
    }
    return ms;
}

/// Why the first rank that cannot search does not; empty if all can.
std::string first_refusal(Ranks& ranks, const std::string& mine, const Watch& watch) {
    const std::vector<std::uint8_t> bytes(mine.begin(), mine.end());
    const auto all = gather_all(ranks, bytes, watch.stop);
    for (std::size_t r = 0; r < all.size(); ++r)
        if (!all[r].empty())
            return "rank " + std::to_string(r) + ": " + std::string(all[r].begin(), all[r].end());
    return "";
}

}  // namespace

void BenchRun::prepare(Workload& work, std::int64_t max_checked) {
    const int k = work.max_k();
    Rows queries = work.query();
    Exclude exclude = work.exclude;
    std::vector<std::uint8_t> pixels;
    if (max_checked < work.query().count) {
        work.checked = sample(work.query().count, max_checked);
        for (const std::int64_t q : work.checked)
            pixels.insert(pixels.end(), queries.row(q), queries.row(q) + queries.dim);
        exclude = {exclude.first, queries.count - 1, max_checked - 1};  // spaced as in `sample`
        queries = {pixels.data(), max_checked, queries.dim};
    }
    work.expected = search_on_cpu(work.train(), queries, k, work.measure, exclude, watch_);
    report_.checked =
        (work.checked.empty() ? std::string("every answer") : with_commas(max_checked) + " of the answers") +
        " against the CPU engine";
    Plan serial;
    if (cpu::settle_serial(work.problem(k), serial)) return;
    report_.checked += ", which agrees with nth_element on a sample of queries";
    std::vector<std::uint32_t> row(static_cast<std::size_t>(work.train().count));
    for (const std::int64_t row_index : sample(work.expected.n_query, sampled)) {
        const std::int64_t q = work.query_of(row_index);
        cpu::serial_distances(work.train(), work.query().row(q), row);
        if (work.exclude.any()) row[static_cast<std::size_t>(work.exclude.index_of(q))] = excluded_distance;
        if (agrees_with_nth_element(row, work.expected.row(row_index))) continue;
        Measurement wrong = started(report_.experiment, "search", "cpu", "cpu", work.problem(k));
        wrong.wrong = "query " + std::to_string(q) + " has other neighbors than by nth_element";
        keep(wrong);
        return;
    }
}

Measurement BenchRun::distance(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                               const std::string& name, const TrialOptions& options) {
    Measurement measured = started(experiment, "distance", name, report_.gpu, work.problem(work.max_k()));
    const Trial trial = arrays.time_distance(name, options);
    take(measured, trial);
    if (measured.ms.empty()) return keep(std::move(measured));
    for (const std::int64_t q : sample(measured.n_query, sampled))
        if (measured.wrong.empty()) measured.wrong = work.mismatch(q, arrays.matrix_row(q));
    count_distances(measured, trial);
    return keep(std::move(measured));
}

Measurement BenchRun::select(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                             const std::string& name, int k, const TrialOptions& options) {
    Measurement measured = started(experiment, "select", name, report_.gpu, work.problem(k));
    take(measured, arrays.time_select(name, k, options));
    if (measured.ms.empty()) return keep(std::move(measured));
    measured.wrong = work.mismatch(arrays.neighbors(measured.n_query));
    count_selection(measured, measured.problem.k);
    return keep(std::move(measured));
}

Measurement BenchRun::upload(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                             bool pinned) {
    Measurement measured = started(experiment, "upload", pinned ? "pinned" : "pageable", report_.gpu,
                                   work.problem(work.max_k()));
    take(measured, arrays.time_upload(pinned, trial()));
    measured.bytes = 4 * static_cast<double>(work.train().count + work.query().count) *
                     static_cast<double>(work.train().dim);
    return keep(std::move(measured));
}

Measurement BenchRun::select_random(BenchArrays& arrays, const Problem& problem,
                                    const std::string& experiment, const std::string& name,
                                    const TrialOptions& options, bool only_kth) {
    Measurement measured = started(experiment, "select", name, report_.gpu, problem);
    take(measured, arrays.time_select(name, problem.k, options));
    if (measured.ms.empty()) return keep(std::move(measured));
    const Neighbors found = arrays.neighbors(measured.n_query);
    for (const std::int64_t q : sample(measured.n_query, sampled))
        if (!agrees_with_nth_element(arrays.matrix_row(q), found.row(q), only_kth ? problem.k - 1 : 0))
            measured.wrong = "row " + std::to_string(q) + " has other neighbors than by nth_element";
    count_selection(measured, only_kth ? 1 : problem.k);
    return keep(std::move(measured));
}

Measurement BenchRun::unpadded(const Workload& work, BenchArrays& arrays, const std::string& experiment,
                               int k, const TrialOptions& options, Neighbors& found) {
    Measurement measured = started(experiment, "select", "bitonic_unpadded", report_.gpu, work.problem(k));
    take(measured, arrays.time_select(measured.name, k, options));
    if (measured.ms.empty()) return keep(std::move(measured));
    found = arrays.neighbors(measured.n_query);
    std::vector<Neighbor> right(static_cast<std::size_t>(k));
    std::vector<std::uint64_t> scratch;
    for (const std::int64_t q : sample(measured.n_query, sampled)) {
        cpu::unpadded_bitonic(arrays.matrix_row(q), right, scratch);
        if (!std::equal(right.begin(), right.end(), found.row(q).begin()))
            measured.wrong = "row " + std::to_string(q) + " is not what its steps give on the CPU";
    }
    count_selection(measured, k);
    return keep(std::move(measured));
}

Measurement BenchRun::before(const Workload& work, const std::string& experiment, int k,
                             const TrialOptions& options, Neighbors& found) {
    Measurement measured = started(experiment, "search", "before", report_.gpu, work.problem(k));
    take(measured,
         gpu_bench()->time_before(gpu_.number, work.train(), work.query(), k, options, watch_, found));
    if (measured.ms.empty()) return keep(std::move(measured));
    measured.wrong = work.mismatch(found);
    count_search(measured);
    return keep(std::move(measured));
}

BenchRun::Serial BenchRun::serial(const Workload& work, const std::string& experiment,
                                  const std::string& selector, int k, const TrialOptions& options,
                                  Listed listed) {
    Serial both{started(experiment, "distance", serial_distances, one_cpu_thread, work.problem(k)),
                started(experiment, "select", selector, one_cpu_thread, work.problem(k))};
    const cpu::SerialTrial trial = cpu::time_serial(work.problem(k), work.train(), work.query(),
                                                    *cpu::find_serial_selector(selector), options, watch_);
    take(both.distance, trial.distance);
    take(both.select, trial.select);
    if (!both.select.ms.empty()) {
        (listed == Listed::distance ? both.distance : both.select).wrong = work.mismatch(trial.neighbors);
        count_distances(both.distance, trial.distance);
        // Each query reads all training bytes.
        const double pairs =
            static_cast<double>(both.distance.n_query) * static_cast<double>(work.train().count);
        both.distance.bytes = pairs * static_cast<double>(work.train().dim + 4);
        count_selection(both.select, k);
    }
    if (listed != Listed::select) keep(both.distance);
    if (listed != Listed::distance) keep(both.select);
    return both;
}

Measurement BenchRun::serial_random(const Problem& problem, const std::string& experiment,
                                    const TrialOptions& options) {
    const cpu::SerialSelector& baseline = cpu::serial_selectors().front();
    Measurement measured = started(experiment, "select", baseline.name, one_cpu_thread, problem);
    const auto fill = [](std::int64_t q, std::span<std::uint32_t> row) {
        for (std::size_t t = 0; t < row.size(); ++t)
            row[t] = static_cast<std::uint32_t>(random_value(static_cast<std::uint64_t>(q), t) >> 32);
    };
    const cpu::SerialTrial trial = cpu::time_serial_select(problem, fill, baseline, options, watch_);
    take(measured, trial.select);
    count_selection(measured, measured.problem.k);
    return keep(std::move(measured));
}

Plan BenchRun::settled(const SearchWay& way, Measurement& measured) const {
    const Engine& engine = *way.engine;
    Plan plan{.engine = engine.name,
              .device = engine.on_gpu ? gpu_ : cpu_device(),
              .distance = way.distance,
              .select = way.select,
              .threads = options_.wish.threads};
    if (engine.on_gpu && !has_gpu())
        measured.left_out = "it runs on a GPU, and " + why_no_gpu_;
    else if (const Refusal refusal = engine.settle(measured.problem, plan))
        measured.left_out = *refusal;
    if (way.spread == SpreadBy::automatic) return plan;
    plan.spread = way.spread;
    if (ranks() != nullptr) {
        plan.ranks = ranks()->size();
        return plan;
    }
    plan.devices = gpus_;
    for (const Device& device : gpus_) {
        Plan own = plan;
        own.device = device;
        const Refusal refusal = engine.settle(measured.problem, own);
        if (refusal && measured.left_out.empty()) measured.left_out = device_id(device) + ": " + *refusal;
    }
    return plan;
}

Measurement BenchRun::search(const Workload& work, const std::string& experiment, const SearchWay& way, int k,
                             const TrialOptions& options, Classified* result, bool all_queries) {
    const std::string on = way.spread != SpreadBy::automatic ? several()
                           : !way.engine->on_gpu             ? "cpu"
                           : has_gpu()                       ? report_.gpu
                                                             : "gpu";
    Measurement measured = started(experiment, "search", way.name, on, work.problem(k));
    const Plan plan = settled(way, measured);
    Ranks* together = way.spread != SpreadBy::automatic ? ranks() : nullptr;
    if (together != nullptr) measured.left_out = first_refusal(*together, measured.left_out, watch_);
    if (!measured.left_out.empty()) return keep(std::move(measured));

    Classifier classifier(work.training(), {.measure = work.measure, .vote = {.k = k}},
                          {way.engine, plan, "", together});
    measured.open_ms = classifier.open_ms();
    const auto classify = [&](std::int64_t n) {
        if (together != nullptr) slowest_ms(*together, 0, watch_);  // all begin at the same time
        Classified one = classifier.classify(work.query().first(n), watch_, work.exclude);
        // The ranks take the same decisions on it.
        if (together != nullptr) one.search_ms = slowest_ms(*together, one.search_ms, watch_);
        return one;
    };
    TrialOptions limits = options;
    if (all_queries) limits.budget_ms = std::numeric_limits<double>::infinity();
    Classified found;
    const std::int64_t n = measured.n_query = limits.affordable(work.query().count, [&](std::int64_t tried) {
        found = classify(tried);
        for (const Stage& stage : found.timeline.stages())
            if (stage.once) measured.open_ms += stage.total_ms;
        return found.search_ms;
    });
    measured.wrong = work.mismatch(found.neighbors);
    for (int run = options.runs(found.search_ms); run > 0; --run) {
        found = classify(n);
        measured.ms.push_back(found.search_ms);
        if (way.engine->on_gpu) measured.kernels_ms.push_back(found.timeline.kernels_ms());
    }
    if (measured.wrong.empty()) measured.wrong = work.mismatch(found.neighbors);
    count_search(measured);
    if (result != nullptr) *result = std::move(found);
    return keep(std::move(measured));
}

Measurement BenchRun::kernels(const Workload& work, const std::string& experiment, int k,
                              const TrialOptions& options) {
    const SearchWay tensor = search_way("tensor");
    Measurement measured = started(experiment, "kernels", tensor.name, report_.gpu, work.problem(k));
    const Plan plan = settled(tensor, measured);
    if (!measured.left_out.empty()) return keep(std::move(measured));
    Neighbors found;
    take(measured, gpu_bench()->time_kernels(plan, work.training(), work.query(), k, options, watch_, found));
    if (measured.ms.empty()) return keep(std::move(measured));
    measured.wrong = work.mismatch(found);
    count_search(measured);
    return keep(std::move(measured));
}

}  // namespace knn
