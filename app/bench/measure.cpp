// The ways to measure that several experiments share: each compares its answers with the reference before it keeps a time.

#include <algorithm>

#include "app/bench/run.h"
#include "data/core/format.h"

namespace knn {

namespace {

/// Not for lp, whose powers are looked up.
bool countable(const Problem& problem) {
    return problem.measure.metric != Metric::lp;
}

void count_distances(Measurement& row, const Trial& trial) {
    const double n = static_cast<double>(row.n_query), dim = static_cast<double>(row.problem.dim);
    const double n_train = static_cast<double>(row.problem.n_train);
    row.bytes = trial.pixel_bytes * (n_train * dim + n * dim) + 4 * n * n_train;
    if (countable(row.problem)) row.operations = trial.operations * n * n_train * dim;
}

/// What each rank says of itself, by number.
std::vector<std::string> all_say(Ranks& ranks, const std::string& mine, const ProgressToken& token) {
    const std::vector<std::uint8_t> bytes(mine.begin(), mine.end());
    std::vector<std::string> all;
    for (const auto& theirs : gather_all(ranks, bytes, token.stop))
        all.emplace_back(theirs.begin(), theirs.end());
    return all;
}

/// The slowest of all ranks, after all of them have come here.
double slowest_ms(Ranks& ranks, double ms, const ProgressToken& token) {
    for (const std::string& theirs : all_say(ranks, shortest(ms), token))
        ms = std::max(ms, std::stod(theirs));
    return ms;
}

/// Why the first rank that cannot search does not; empty if all can.
std::string first_refusal(Ranks& ranks, const std::string& mine, const ProgressToken& token) {
    const std::vector<std::string> all = all_say(ranks, mine, token);
    for (std::size_t r = 0; r < all.size(); ++r)
        if (!all[r].empty()) return "rank " + std::to_string(r) + ": " + all[r];
    return "";
}

}  // namespace

bool agrees_with_nth_element(std::span<const std::uint32_t> row, std::span<const Neighbor> found,
                             std::ptrdiff_t begin) {
    std::vector<Neighbor> right(found.size());
    std::vector<std::uint64_t> scratch;
    cpu::serial_selectors().front().select(row, right, scratch);
    return std::equal(right.begin() + begin, right.end(), found.begin() + begin);
}

void count_selection(Measurement& row, int written) {
    row.bytes =
        static_cast<double>(row.n_query) * (4 * static_cast<double>(row.problem.n_train) + 8.0 * written);
}

void count_search(Measurement& row) {
    if (countable(row.problem))
        row.operations = 2.0 * static_cast<double>(row.n_query) * static_cast<double>(row.problem.n_train) *
                         static_cast<double>(row.problem.dim);
}

void BenchRun::prepare(Workload& work, std::int64_t max_checked) {
    const int k = work.max_k;
    Queries queries = work.queries(work.query.count);
    if (max_checked < queries.count()) {
        work.checked = sample(queries.count(), max_checked);
        const bool leaves_out = queries.leaves_out();
        queries = Queries::some_of(work.query, {work.checked.begin(), work.checked.end()});
        if (!leaves_out) queries.images = {};
    }
    work.expected = search_on_cpu(work.train, queries, k, work.measure, token_);
    report_.checked =
        (work.checked.empty() ? std::string("every answer") : with_commas(max_checked) + " of the answers") +
        " against the CPU engine";
    Plan serial;
    if (cpu::configure_serial(work.problem(k), serial)) return;
    report_.checked += ", which agrees with nth_element on a sample of queries";
    std::vector<std::uint32_t> scores(static_cast<std::size_t>(work.train.count));
    for (const std::int64_t i : sample(work.expected.n_query, sampled)) {
        const std::int64_t q = work.query_of(i);
        cpu::serial_distances(work.train, work.query.row(q), scores);
        if (work.leave_one_out) scores[static_cast<std::size_t>(q)] = excluded_distance;
        if (agrees_with_nth_element(scores, work.expected.row(i))) continue;
        Measurement wrong = row("search", "cpu", "cpu", work.problem(k));
        wrong.wrong = "query " + std::to_string(q) + " has other neighbors than by nth_element";
        keep(wrong);
        return;
    }
}

Measurement BenchRun::distance(const Workload& work, const std::string& name, double share, bool linear) {
    TrialOptions options = trial(share);
    options.linear = linear;
    const Trial timed = work.arrays->time_distance(name, options);
    return keep(row("distance", name, report_.gpu, work.problem(work.max_k)), timed, [&](Measurement& one) {
        for (const std::int64_t q : sample(one.n_query, sampled))
            if (one.wrong.empty()) one.wrong = work.mismatch(q, work.arrays->matrix_row(q));
        count_distances(one, timed);
    });
}

Measurement BenchRun::select(const Workload& work, const std::string& name, int k, double share) {
    const Trial timed = work.arrays->time_select(name, k, trial(share));
    return keep(row("select", name, report_.gpu, work.problem(k)), timed, [&](Measurement& one) {
        one.wrong = work.mismatch(work.arrays->neighbors(one.n_query));
        count_selection(one, k);
    });
}

BenchRun::Serial BenchRun::serial(const Workload& work, const std::string& selector, int k, double share,
                                  bool distances, bool selection) {
    const Problem problem = work.problem(k);
    const cpu::SerialTrial timed = cpu::time_serial(
        problem, work.train, work.query, *cpu::find_serial_selector(selector), trial(share), token_);
    const std::string wrong = work.mismatch(timed.neighbors);
    Serial both;
    if (distances)
        both.distance = keep(
            row("distance", serial_distances, one_cpu_thread, problem), timed.distance,
            [&](Measurement& one) {
                one.wrong = wrong;
                count_distances(one, timed.distance);
                const double n = static_cast<double>(one.n_query) * static_cast<double>(problem.n_train);
                one.bytes = n * static_cast<double>(problem.dim + 4);  // each query reads all training bytes
            });
    if (selection)
        both.select =
            keep(row("select", selector, one_cpu_thread, problem), timed.select, [&](Measurement& one) {
                one.wrong = wrong;
                count_selection(one, k);
            });
    return both;
}

Measurements BenchRun::parts(Workload& work, const PartNames& names, int k, double share) {
    prepare(work);
    Measurements all;
    if (!names.serial.empty()) {
        const Serial both = serial(work, names.serial, k, share);
        all = {{serial_distances, both.distance}, {names.serial, both.select}};
    }
    upload(work);
    if (work.arrays == nullptr) return all;
    for (const std::string& name : words_of(names.distances))
        all[name] = distance(work, name, share);
    work.arrays->fill(names.matrix);
    for (const std::string& name : words_of(names.selects))
        all[name] = select(work, name, k, share);
    work.arrays.reset();
    return all;
}

Plan BenchRun::configured(const SearchWay& way, Measurement& one) const {
    const Engine& engine = *way.engine;
    Plan plan{.engine = engine.name,
              .device = engine.on_gpu ? gpu_ : cpu_device(),
              .distance = way.distance,
              .select = way.select,
              .threads = options_.request.threads};
    if (engine.on_gpu && !has_gpu())
        one.left_out = needs_gpu();
    else if (const UnsupportedReason refusal = engine.configure(one.problem, plan))
        one.left_out = *refusal;
    if (way.spread == Placement::automatic) return plan;
    plan.spread = way.spread;
    if (ranks() != nullptr) {
        plan.ranks = ranks()->size();
        return plan;
    }
    plan.devices = gpus_;
    for (const Device& device : gpus_) {
        Plan own = plan;
        own.device = device;
        const UnsupportedReason refusal = engine.configure(one.problem, own);
        if (refusal && one.left_out.empty()) one.left_out = device_id(device) + ": " + *refusal;
    }
    return plan;
}

Measurement BenchRun::search(const Workload& work, const SearchWay& way, int k, double share, Results* all) {
    const bool spread = way.spread != Placement::automatic, on_gpu = way.engine->on_gpu;
    Measurement one = row("search", way.name,
                          spread   ? several()
                          : on_gpu ? gpu_or_none()
                                   : "cpu",
                          work.problem(k));
    const Plan plan = configured(way, one);
    Ranks* together = spread ? ranks() : nullptr;
    if (together != nullptr) one.left_out = first_refusal(*together, one.left_out, token_);
    if (!one.left_out.empty()) return keep(std::move(one));

    const Index index(work.training(), {.measure = work.measure, .vote = {.k = k}},
                      {way.engine, plan, "", together});
    one.open_ms = index.open_ms();
    Results found;
    std::string wrong;
    std::vector<double> kernels_ms;
    const auto classify = [&](std::int64_t n) {
        if (together != nullptr) slowest_ms(*together, 0, token_);  // all begin at the same time
        found = index.search(work.queries(n), {.token = token_});
        for (const Stage& stage : found.timeline.stages())
            if (stage.once) one.open_ms += stage.total_ms;
        kernels_ms.push_back(found.timeline.kernels_ms());
        if (wrong.empty()) wrong = work.mismatch(found.neighbors);
        // With the same time the ranks take the same decisions.
        return together != nullptr ? slowest_ms(*together, found.search_ms, token_) : found.search_ms;
    };
    const TrialOptions options = trial(share);
    Trial timed;
    if (all == nullptr) {
        timed = timed_trial(options, work.query.count, classify);
    } else {
        timed.n_query = work.query.count;
        for (int runs = options.runs(classify(timed.n_query)); runs > 0; --runs)
            timed.ms.push_back(classify(timed.n_query));
        *all = std::move(found);
    }
    return keep(std::move(one), timed, [&](Measurement& kept) {
        kept.wrong = wrong;
        if (on_gpu) kept.kernels_ms.assign(kernels_ms.end() - std::ssize(kept.ms), kernels_ms.end());
        count_search(kept);
    });
}

}  // namespace knn
