// The ways to measure that several experiments share: each compares its answers with the reference before it keeps a time.

#include <algorithm>

#include "app/bench/run.h"
#include "app/console/console.h"
#include "app/report/text.h"
#include "classifier/vote.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/splitmix64.h"
#include "data/vectors/sets.h"

namespace knn {

namespace {

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

void fill_random(std::int64_t q, std::span<std::uint32_t> row) {
    for (std::size_t t = 0; t < row.size(); ++t)
        row[t] = static_cast<std::uint32_t>(random_value(static_cast<std::uint64_t>(q), t) >> 32);
}

/// Whether these are the neighbors by this selector, as far as `finds` says.
bool agrees_with(const cpu::SerialSelector& selector, std::span<const std::uint32_t> row,
                 std::span<const Neighbor> found, Finds finds) {
    std::vector<Neighbor> right(found.size());
    std::vector<std::uint64_t> scratch;
    selector.select(row, right, scratch);
    if (finds == Finds::kth_value) return right.back().distance == found.back().distance;
    return std::ranges::equal(right, found);
}

/// Rows of which every distance is compared.
constexpr std::int64_t sampled = 8;

/// The first of a sample of rows of which a selector found other neighbors than these steps; empty if there is none.
/// row_of(i): the row's distances.
template <class RowOf>
std::string difference(const cpu::SerialSelector& steps, const Neighbors& found, Finds finds, RowOf row_of) {
    for (const std::int64_t i : sample(found.n_query, sampled))
        if (!agrees_with(steps, row_of(i), found.row(i), finds))
            return "row " + std::to_string(i) + " has other neighbors than by the steps of " + steps.name;
    return "";
}

UnsupportedReason first_refusal(Ranks& ranks, const UnsupportedReason& mine, const ProgressToken& token) {
    const std::vector<std::string> all = all_say(ranks, mine.value_or(""), token);
    for (std::size_t r = 0; r < all.size(); ++r)
        if (!all[r].empty()) return "rank " + std::to_string(r) + ": " + all[r];
    return {};
}

std::int64_t limited(const char* option, std::int64_t wanted, std::int64_t count) {
    if (wanted > count)
        throw UsageError(std::string(option) + " " + std::to_string(wanted) + ": the data set has " +
                         std::to_string(count) + "; expected at most so many, or --dim for random images");
    return wanted > 0 ? wanted : count;
}

}  // namespace

void BenchRun::prepare(Workload& work, std::int64_t max_checked) {
    const int k = work.max_k;
    Queries queries = work.queries(work.query.count);
    if (max_checked < queries.count()) {
        work.checked = sample(queries.count(), max_checked);
        queries = Queries::some_of(work.query, {work.checked.begin(), work.checked.end()});
    }
    work.expected = search_on_cpu(work.train, queries, k, work.measure, token);
    report.checked =
        (work.checked.empty() ? std::string("every answer") : with_commas(max_checked) + " of the answers") +
        " against the CPU engine";
    if (!work.train.are_bytes()) return;
    Plan serial;
    if (cpu::configure_serial(work.problem(k), serial)) return;
    report.checked += ", which agrees with nth_element on a sample of queries";
    const auto row_of = [&](std::int64_t i) {
        token.throw_if_stopped();
        return work.right_row(work.query_of(i));
    };
    const std::string wrong =
        difference(cpu::serial_selectors().front(), work.expected, Finds::nearest, row_of);
    if (!wrong.empty())
        keep("search", "cpu", "cpu", work.problem(k), {.ms = {0}}, [&](std::int64_t) { return wrong; });
}

Measurement BenchRun::distance(const Workload& work, const std::string& name, const TrialOptions& limits) {
    const Trial timed = work.arrays->time_distance(name, limits);
    return keep("distance", name, report.gpu, work.problem(work.max_k), timed, [&](std::int64_t n) {
        std::string wrong;
        for (const std::int64_t q : sample(n, sampled))
            if (wrong.empty()) wrong = work.mismatch(q, work.arrays->matrix_row(q));
        return wrong;
    });
}

Measurement BenchRun::select(const Workload& work, const std::string& name, int k,
                             const TrialOptions& limits) {
    const Trial timed = work.arrays->time_select(name, k, limits);
    Measurement& one = keep("select", name, report.gpu, work.problem(k), timed, [&](std::int64_t) {
        if (timed.finds == Finds::nearest && work.has_images()) return work.mismatch(timed.found);
        const cpu::SerialSelector& steps =
            timed.finds == Finds::wrong ? *cpu::find_wrong_sort(name) : cpu::serial_selectors().front();
        return difference(steps, timed.found, timed.finds,
                          [&](std::int64_t q) { return work.arrays->matrix_row(q); });
    });
    if (one.good()) one.right = work.count_right(timed.found);
    return one;
}

Measurement BenchRun::upload_images(const Workload& work, const std::string& memory,
                                    const TrialOptions& limits) {
    return keep("upload", memory, report.gpu, work.problem(work.max_k),
                work.arrays->time_upload(memory == "pinned", limits));
}

Measurement BenchRun::program(const Workload& work, const Program& program, int k, TrialOptions limits) {
    limits.all_queries = true;  // each run uploads the training set once, whatever the number of queries
    const Trial timed =
        gpu_bench()->time_program(gpu_.number, program, work.train, work.query, k, limits, token);
    Measurement& one = keep("search", program.name, report.gpu, work.problem(k), timed,
                            [&](std::int64_t) { return work.mismatch(timed.found); });
    if (one.good()) one.right = work.count_right(timed.found);
    one.stages = timed.stages;
    return one;
}

std::vector<Measurement> BenchRun::serial(const Workload& work, const std::string& selector, int k,
                                          const TrialOptions& limits, bool distances, bool selection) {
    const Problem problem = work.problem(k);
    const cpu::SerialRows rows = !work.has_images()   ? cpu::SerialRows{fill_random}
                                 : work.leave_one_out ? cpu::half_of_rows(work.train)
                                                      : cpu::serial_rows(work.train, work.query);
    const cpu::SerialTrial timed =
        cpu::time_serial(problem, rows, *cpu::find_serial_selector(selector), limits, token);
    const auto check = [&](std::int64_t) {
        if (work.has_images()) return work.mismatch(timed.select.found);
        const std::string other = selector == "serial_sort" ? "nth_element" : "serial_sort";
        return difference(*cpu::find_serial_selector(other), timed.select.found, Finds::nearest,
                          [&](std::int64_t q) {
                              std::vector<std::uint32_t> row(static_cast<std::size_t>(problem.n_train));
                              fill_random(q, row);
                              return row;
                          });
    };
    std::vector<Measurement> kept;
    if (distances)
        kept.push_back(keep("distance", serial_distances, one_cpu_thread, problem, timed.distance, check));
    if (selection) kept.push_back(keep("select", selector, one_cpu_thread, problem, timed.select, check));
    return kept;
}

Plan BenchRun::configured(const SearchWay& way, const Problem& problem, UnsupportedReason& refusal) const {
    const Engine& engine = *way.engine;
    Plan plan{.engine = engine.name,
              .device = engine.on_gpu ? gpu_ : cpu_device(),
              .distance = way.distance,
              .select = way.select,
              .threads = options.request.threads,
              .sketch = way.sketch};
    refusal = engine.on_gpu && !has_gpu() ? needs_gpu() : engine.configure(problem, plan);
    if (way.placement == Placement::automatic) return plan;
    plan.placement = way.placement;
    if (ranks != nullptr) {
        plan.ranks = ranks->size();
        return plan;
    }
    plan.devices = gpus_;
    for (const Device& device : gpus_) {
        Plan own = plan;
        own.device = device;
        const UnsupportedReason why = engine.configure(problem, own);
        if (why && !refusal) refusal = device_id(device) + ": " + *why;
    }
    return plan;
}

Measurement BenchRun::search(const Workload& work, const SearchWay& way, int k, const TrialOptions& limits) {
    const bool spread = way.placement != Placement::automatic, on_gpu = way.engine->on_gpu;
    const std::string on = spread ? several() : on_gpu ? gpu_or_none() : "cpu";
    const Problem problem = work.problem(k);
    Trial timed;
    const Plan plan = configured(way, problem, timed.refusal);
    Ranks* together = spread ? ranks : nullptr;
    if (together != nullptr) timed.refusal = first_refusal(*together, timed.refusal, token);
    if (timed.refusal) return keep("search", way.name, on, problem, timed);

    const Index index(work.training(), {.measure = work.measure, .vote = {.k = k}},
                      {way.engine, plan, "", together});
    double open_ms = index.open_ms();
    Results found;
    std::string wrong;
    std::vector<double> kernels_ms;
    timed = timed_trial(limits, work.query.count, [&](std::int64_t n) {
        if (together != nullptr) slowest_ms(*together, 0, token);  // all begin at the same time
        found = index.search(work.queries(n), {.token = token});
        for (const Stage& stage : found.timeline.stages())
            if (stage.once) open_ms += stage.total_ms;
        kernels_ms.push_back(found.timeline.kernels_ms());
        if (wrong.empty()) wrong = work.mismatch(found.neighbors);
        // With the same time the ranks take the same decisions.
        return together != nullptr ? slowest_ms(*together, found.search_ms, token) : found.search_ms;
    });
    Measurement& one = keep("search", way.name, on, problem, timed, [&](std::int64_t) { return wrong; });
    one.open_ms = open_ms;
    if (one.good()) one.right = work.count_right(found.neighbors);
    one.stages = std::move(found.timeline);
    if (on_gpu) one.kernels_ms.assign(kernels_ms.end() - std::ssize(one.ms), kernels_ms.end());
    return one;
}

Workload::Workload(std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int largest_k,
                   std::uint64_t seed)
    : text("random bytes: "),
      pixels(static_cast<std::size_t>((n_train + n_query) * dim)),
      train{pixels.data(), n_train, dim},
      query{pixels.data() + n_train * dim, n_query, dim},
      no_labels(static_cast<std::size_t>(n_train)),
      labels(no_labels),
      max_k(largest_k) {
    constexpr std::size_t bytes = 8;  // of one random number
    for (std::size_t i = 0; i < pixels.size(); i += bytes) {
        if (i % (std::size_t{1} << 22) == 0) stop_if_asked();  // the first touch of memory may take long
        const std::uint64_t value = random_value(seed, i);
        for (std::size_t b = 0; b < bytes && i + b < pixels.size(); ++b)
            pixels.data()[i + b] = static_cast<std::uint8_t>(value >> (8 * b));
    }
}

std::string Workload::mismatch(const Neighbors& found) const {
    const auto shown = [](const Neighbor& one) {
        return "image " + std::to_string(one.index) + " at " + std::to_string(one.distance);
    };
    for (std::int64_t row = 0; row < expected.n_query && query_of(row) < found.n_query; ++row) {
        const std::int64_t q = query_of(row);
        const auto mine = found.row(q), right = expected.row(row);
        for (std::size_t i = 0; i < std::min(mine.size(), right.size()); ++i)
            if (mine[i] != right[i])
                return "query " + std::to_string(q) + ", rank " + std::to_string(i + 1) + ": " +
                       shown(mine[i]) + "; expected " + shown(right[i]);
    }
    return "";
}

std::string Workload::mismatch(std::int64_t of_query, std::span<const std::uint32_t> row) const {
    const std::vector<std::uint32_t> right = right_row(of_query);
    for (std::size_t t = 0; t < right.size(); ++t)
        if (row[t] != right[t])
            return "query " + std::to_string(of_query) + ", training image " + std::to_string(t) + ": " +
                   std::to_string(row[t]) + "; expected " + std::to_string(right[t]);
    return "";
}

std::int64_t Workload::count_right(const Neighbors& found) const {
    const std::span<const std::uint8_t> truth = dataset.test.labels.span();
    if (truth.empty() || leave_one_out) return 0;
    std::int64_t right = 0;
    for (std::int64_t q = 0; q < found.n_query; ++q)
        right +=
            vote(found.row(q), labels, {.k = found.k}).label == truth[static_cast<std::size_t>(q)] ? 1 : 0;
    return right;
}

std::vector<std::uint32_t> Workload::right_row(std::int64_t of_query) const {
    std::vector<std::uint32_t> row(static_cast<std::size_t>(train.count));
    if (measure.metric == Metric::l2 && train.are_bytes()) {
        cpu::serial_distances(train, query.row(of_query), row);
        if (leave_one_out) row[static_cast<std::size_t>(of_query)] = excluded_distance;
        return row;
    }
    for (std::int64_t begin = 0; begin < train.count; begin += max_device_k) {
        const std::int64_t n = std::min<std::int64_t>(max_device_k, train.count - begin);
        const Neighbors piece =
            search_on_cpu(train.slice(begin, n), query.slice(of_query, 1), static_cast<int>(n), measure);
        for (const Neighbor& found : piece.rows)
            row[static_cast<std::size_t>(begin + found.index)] = found.distance;
    }
    return row;
}

Workload load_workload(BenchRun& run, int largest_k) {
    const Options& options = run.options;
    const BenchOptions& bench = options.bench;
    constexpr std::uint64_t seed = 1;
    Workload work(0, 0, 0, largest_k, seed);
    Problem problem{bench.n_train, bench.n_query, bench.dim, largest_k, options.method.measure};
    if (bench.dim == 0) {
        const DataLocation location = locate_sets(options);
        work.memory = host_memory(first_engine(run.has_gpu()), run.gpu());
        work.dataset = load_data(location, {.threads = threads_or_all(options.request.threads),
                                            .free_bytes = available_bytes(),
                                            .memory = work.memory->resource()});
        if (!bench.which.empty() && bench.which != "graph" && !work.dataset.are_images())
            throw DataError(not_images(work.dataset) + " for --case " + bench.which);
        work.memory->pin();
        note(data_notice(location));
        const LabeledImages &train = work.dataset.train, &test = work.dataset.test;
        work.train = train.images().first(limited("--n-train", bench.n_train, train.count));
        work.query = location.training_only
                         ? work.train
                         : test.images().first(limited("--n-query", bench.n_query, test.count));
        work.labels = train.labels.span().first(static_cast<std::size_t>(work.train.count));
        work.text = work.dataset.name + ": ";
        problem = work.problem(largest_k);
    }
    problem.measure = measure_of(options.method.measure, work.train.type);
    if (const UnsupportedReason refusal = refuse_problem(problem)) throw UsageError(*refusal);
    if (bench.dim > 0) {
        const std::int64_t n = bench.n_train + bench.n_query;
        require_memory(n * bench.dim, [&] {
            return "drawing " + counted(n, "random image") + " of " + counted(bench.dim, "pixel");
        });
        work = Workload(bench.n_train, bench.n_query, bench.dim, largest_k, seed);
    }
    work.measure = problem.measure;
    if (work.dataset.named_vectors) {
        check_elements(work.dataset.files[0].string(), work.train, work.measure, work.train.dim, 0);
        if (work.dataset.test.count > 0)
            check_elements(work.dataset.files[2].string(), work.query, work.measure, work.query.dim, 0);
    }
    const std::string row = row_noun(work.dataset);
    work.text += with_commas(problem.n_train) + " training and " + counted(problem.n_query, "test " + row) +
                 " of " + size_words(work);
    return work;
}

std::string metric_words(const Measure& measure) {
    return measure.metric == Metric::l2 ? "" : ", metric " + metric_text(measure);
}

std::string size_words(const Workload& work) {
    return work.dataset.are_images() ? counted(work.train.dim, "pixel") : row_text(work.dataset);
}

std::string training_words(const Workload& work) {
    return work.dataset.name + ": " + counted(work.train.count, "training " + row_noun(work.dataset)) +
           " of " + size_words(work);
}

std::uint64_t random_value(std::uint64_t seed, std::uint64_t index) {
    return splitmix64((seed << 48) + (index + 1) * splitmix64_step);
}

std::vector<std::int64_t> sample(std::int64_t n, std::int64_t max_count) {
    std::vector<std::int64_t> indices;
    const std::int64_t count = std::min(n, max_count);
    for (std::int64_t i = 0; i < count; ++i)
        indices.push_back(count > 1 ? i * (n - 1) / (count - 1) : 0);
    return indices;
}

}  // namespace knn
