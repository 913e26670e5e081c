#include "app/bench/workload.h"

#include <algorithm>

#include "app/bench/run.h"
#include "app/console/console.h"
#include "app/report/text.h"
#include "classifier/vote.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/vectors/sets.h"

namespace knn {

namespace {

std::int64_t limited(const char* option, std::int64_t wanted, std::int64_t count) {
    if (wanted > count)
        throw UsageError(std::string(option) + " " + std::to_string(wanted) + ": the data set has " +
                         std::to_string(count) + "; expected at most so many, or --dim for random images");
    return wanted > 0 ? wanted : count;
}

}  // namespace

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
    Workload work(bench.dim > 0 ? bench.n_train : 0, bench.n_query, bench.dim, largest_k,
                  1);  // empty without --dim
    if (bench.dim == 0) {
        const DataLocation location = locate_data(options.data);
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
        work.query = test.images().first(limited("--n-query", bench.n_query, test.count));
        work.labels = train.labels.span().first(static_cast<std::size_t>(work.train.count));
        work.text = work.dataset.name + ": ";
    }
    work.measure = measure_of(options.method.measure, work.train.type);
    const Problem problem = work.problem(largest_k);
    if (const UnsupportedReason refusal = refuse_problem(problem)) throw UsageError(*refusal);
    if (work.dataset.named_vectors) {
        check_elements(work.dataset.files[0].string(), work.train, work.measure, work.train.dim, 0);
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
    std::uint64_t x = (seed << 48) + (index + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

std::vector<std::int64_t> sample(std::int64_t n, std::int64_t max_count) {
    std::vector<std::int64_t> indices;
    const std::int64_t count = std::min(n, max_count);
    for (std::int64_t i = 0; i < count; ++i)
        indices.push_back(count > 1 ? i * (n - 1) / (count - 1) : 0);
    return indices;
}

}  // namespace knn
