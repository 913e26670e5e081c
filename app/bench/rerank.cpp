// The distances of re-ranking by themselves: every re-ranker orders the same candidates, by its kernels and by the plain
// loops that define it. No pair is given up early: all candidates get their distances.

#include <algorithm>

#include "app/bench/cases.h"
#include "app/bench/data.h"
#include "app/bench/section.h"
#include "cpu/rerank/rerank.h"
#include "cpu/search.h"
#include "data/core/clock.h"
#include "data/core/format.h"
#include "data/rerank/distance.h"

namespace knn {

namespace {

constexpr std::int64_t max_checked = 100;
constexpr std::int64_t max_plain = 8;  // queries on the CPU, half a second for 96 candidates each
constexpr const char* plain_mark = ", plain loops";

/// One query after another, as the distance is defined.
Neighbors plain_order(const RerankWork& work, const Descriptors& queries, const Descriptors& train,
                      const std::vector<std::int64_t>& which) {
    Neighbors all(std::ssize(which), work.candidates.k);
    for (std::int64_t i = 0; i < all.n_query; ++i) {
        const std::int64_t q = which[static_cast<std::size_t>(i)];
        const auto row = all.row(i);
        std::copy_n(work.candidates.row(q).begin(), all.k, row.begin());
        for (Neighbor& one : row)
            one.distance = rerank_distance(train.layout, queries.row(q), train.row(one.index));
        std::sort(row.begin(), row.end());
    }
    return all;
}

/// The first difference; empty if there is none. Row i of `right` belongs to query which[i].
std::string mismatch(const Neighbors& found, const Neighbors& right, const std::vector<std::int64_t>& which) {
    for (std::int64_t i = 0; i < right.n_query; ++i) {
        const std::int64_t q = which[static_cast<std::size_t>(i)];
        const auto is = found.row(q), expected = right.row(i);
        if (!std::equal(is.begin(), is.end(), expected.begin()))
            return "query " + std::to_string(q) + " has other candidates first than by plain loops";
    }
    return "";
}

void measure(BenchRun& run, const std::vector<RerankWork>& all, const std::string& title,
             const std::string& on, bool with_plain) {
    Section section(run, title, "re-ranker", {"ns/pair"});
    const auto add = [&](const RerankWork& work, bool plain) {
        const Measurement one = run.rerank(work, plain, on, run.trial());
        section.add(one, {one.good() ? short_number(1e3 * one.us_per_query() / work.candidates.k) : ""});
    };
    for (const RerankWork& work : all) {
        add(work, false);
        if (with_plain) add(work, true);
    }
    section.finish();
}

}  // namespace

Neighbors BenchRun::candidates(const Workload& work, ImageShape shape, int count) {
    Training training = work.training();
    training.shape = shape;
    Method method;
    method.transform.steps = {{TransformKind::gradients, 0}};
    method.vote.k = count;
    const Problem problem = method.problem(training, work.query().count);
    Classifier classifier(training, method, resolve_on_cpu(problem, options_.wish.threads), watch_);
    Timeline timeline;
    return classifier.search(work.query(), timeline, watch_);
}

Measurement BenchRun::rerank(const RerankWork& work, bool plain, const std::string& on,
                             const TrialOptions& options) {
    const Neighbors& candidates = work.candidates;
    Measurement measured =
        started(report_.experiment, "rerank", name(work.rerank.kind) + std::string(plain ? plain_mark : ""),
                on, {work.train.count, work.queries.count, work.train.dim, candidates.k});
    const int threads = on == one_cpu_thread ? 1 : options_.wish.threads;
    const Descriptors queries = cpu::describe(work.rerank, work.queries, work.shape, 0, watch_.stop);
    const Descriptors train = cpu::describe(work.rerank, work.train, work.shape, 0, watch_.stop);
    const auto by_kernels = [&](std::int64_t n) {
        Neighbors some(n, candidates.k);
        std::copy_n(candidates.rows.begin(), some.rows.size(), some.rows.begin());
        return cpu::rerank(some, queries, train, {}, some.k, threads, watch_);
    };
    const bool on_gpu = has_gpu() && on == report_.gpu;
    Neighbors found;
    if (on_gpu) {
        take(measured, gpu_bench()->time_rerank(gpu_.number, work, plain, options, watch_, found));
    } else {
        const std::int64_t most = plain ? std::min(max_plain, candidates.n_query) : candidates.n_query;
        take(measured, timed_trial(options, most, [&](std::int64_t count) {
                 const auto begin = Clock::now();
                 found = plain ? plain_order(work, queries, train, sample(count, count)) : by_kernels(count);
                 return ms_since(begin);
             }));
    }
    const std::int64_t n = measured.n_query;
    const std::vector<std::int64_t> which = sample(n, max_checked);
    // The plain loops of the CPU are the definition, so they are compared with the kernels.
    measured.wrong = plain && !on_gpu ? mismatch(found, by_kernels(n), sample(n, n))
                                      : mismatch(found, plain_order(work, queries, train, which), which);
    return keep(std::move(measured));
}

void run_rerank(BenchRun& run) {
    const BenchData data = bench_data(run, 1);
    const Workload& work = *data.work;
    const ImageShape shape = data.dataset.train.shape();
    const Rerank usual;
    const auto count = static_cast<int>(std::min<std::int64_t>(usual.candidates, work.train().count));
    BenchReport& report = run.report();
    report.data = data.text + ", the nearest " + std::to_string(count) + " by gradients as candidates";
    report.checked =
        std::to_string(max_checked) +
        " queries of each row against the definition in plain loops, and these loops against the kernels";
    const Neighbors candidates = run.candidates(work, shape, count);
    std::vector<RerankWork> all;
    for (const RerankInfo& known : rerankers()) {
        Rerank rerank = usual;
        rerank.kind = known.kind;
        if (rerank.has_descriptors()) all.push_back({rerank, shape, work.train(), work.query(), candidates});
    }
    const int threads = cpu::threads_or_all(run.options().wish.threads);
    run.expect(std::ssize(all) * (2 + (threads > 1) + 2 * run.has_gpu()));
    if (run.has_gpu()) measure(run, all, "the GPU, descriptors and candidates on it", report.gpu, true);
    measure(run, all, "one CPU thread, " + cpu::instruction_set(), one_cpu_thread, true);
    if (threads > 1) measure(run, all, std::to_string(threads) + " CPU threads", "cpu", false);
}

}  // namespace knn
