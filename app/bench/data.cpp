#include "app/bench/data.h"
#include "app/console/notes.h"

#include "app/bench/run.h"
#include "data/core/errors.h"
#include "data/core/format.h"
#include "data/core/words.h"

namespace knn {

namespace {

std::int64_t limited(const char* option, std::int64_t wanted, std::int64_t count) {
    if (wanted > count)
        throw UsageError(std::string(option) + " " + std::to_string(wanted) + ": the data set has " +
                         std::to_string(count) + "; expected at most so many, or --dim for random images");
    return wanted > 0 ? wanted : count;
}

}  // namespace

std::string sizes_text(const Problem& problem) {
    return with_commas(problem.n_train) + " training and " + with_commas(problem.n_query) + " test " +
           noun(problem.n_query, "image") + " of " + with_commas(problem.dim) + ' ' +
           noun(problem.dim, "pixel");
}

std::string metric_words(const Measure& measure) {
    if (measure.metric == Metric::l2) return "";
    return std::string(", metric ") + name(measure.metric) +
           (measure.metric == Metric::lp ? " with p = " + shortest(measure.p) : "");
}

BenchData bench_data(BenchRun& run, int k_limit) {
    const Options& options = run.options();
    const BenchOptions& bench = options.bench;
    BenchData data;
    if (bench.dim > 0) {
        data.work = std::make_unique<Workload>(bench.n_train, bench.n_query, bench.dim, k_limit, 1);
        data.text = "random bytes: ";
    } else {
        const DataLocation location = locate(options.data);
        data.memory = run.host_memory();
        data.dataset = load(location, data.memory->resource());
        data.memory->pin();
        note(data_notice(location));
        const Dataset& set = data.dataset;
        const std::int64_t n_train = limited("--n-train", bench.n_train, set.train.count);
        const std::int64_t n_query = limited("--n-query", bench.n_query, set.test.count);
        data.work = std::make_unique<Workload>(
            set.train.images().first(n_train), set.test.images().first(n_query),
            set.train.labels.span().first(static_cast<std::size_t>(n_train)), k_limit);
        data.text = set.name + ": ";
    }
    data.work->measure = options.method.measure;
    const Problem problem = data.work->problem(k_limit);
    if (const Refusal refusal = refuse_problem(problem)) throw UsageError(*refusal);
    data.text += sizes_text(problem);
    return data;
}

}  // namespace knn
