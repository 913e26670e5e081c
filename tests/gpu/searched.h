#pragma once
/// Whole searches with a GPU engine, for tests: configure, open, search.

#include <memory>
#include <utility>
#include <vector>

#include "gpu/engines/engines.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/points.h"

namespace knn::test {

struct GpuEngine {
    UnsupportedReason (*configure)(const Problem&, Plan&);
    std::unique_ptr<DeviceIndex> (*open)(const Training&, const Measure&, const Plan&, Timeline&);
};
inline constexpr GpuEngine classic{gpu::configure_classic, gpu::open_classic};
inline constexpr GpuEngine tensor{gpu::configure_tensor, gpu::open_tensor};

/// Those that the first GPU supports.
inline std::vector<GpuEngine> engines_here() {
    return capability() >= 80 ? std::vector{classic, tensor} : std::vector{classic};
}

/// The images of a problem, which own their pixels, and how to search them.
struct GpuProblem {
    const Rows& train;
    const Rows& query;
    std::vector<std::uint8_t> labels = {};  ///< empty: no vote
    VotingRule rule = {};
    Measure measure = {};
    Exclude exclude = {};
    std::int64_t batch = 0;
    std::string distance = {}, select = {};

    knn::Rows train_rows() const { return view(train); }
    knn::Rows query_rows() const { return view(query); }
    /// Of its own or of other rows.
    Queries queries() const { return queries_of(query_rows(), exclude, train_rows()); }
    bool votes() const { return !labels.empty() && device_can_vote(measure.metric, rule); }
    Problem problem() const { return {train.n, query.n, train.dim, rule.k, measure}; }
    Plan plan() const {
        Plan plan;
        plan.distance = distance;
        plan.select = select;
        plan.batch = batch;
        return plan;
    }
};

struct Searched {
    Voted answers;
    Timeline timeline;
    Plan plan;
};

inline UnsupportedReason refuse(const GpuEngine& engine, const GpuProblem& problem) {
    Plan plan = problem.plan();
    return engine.configure(problem.problem(), plan);
}

/// The problems that the engine supports.
inline std::unique_ptr<DeviceIndex> opened(const GpuEngine& engine, const GpuProblem& problem,
                                           Timeline& timeline) {
    Plan plan = problem.plan();
    if (const UnsupportedReason why = engine.configure(problem.problem(), plan)) throw UsageError(*why);
    return engine.open({problem.train_rows(), problem.labels}, problem.measure, plan, timeline);
}

inline Searched searched(const GpuEngine& engine, const GpuProblem& problem,
                         const ProgressToken& token = {}) {
    Searched result;
    result.plan = problem.plan();
    if (const UnsupportedReason why = engine.configure(problem.problem(), result.plan))
        throw UsageError(*why);
    const auto index = opened(engine, problem, result.timeline);
    const Queries queries = problem.queries();
    Voted& answers = result.answers;
    answers.neighbors = Neighbors(queries.count(), problem.rule.k);
    if (problem.votes()) answers.votes.resize(static_cast<std::size_t>(queries.count()));
    result.plan.batch = index->top_k(
        {.queries = queries, .k = problem.rule.k, .vote = problem.votes() ? &problem.rule : nullptr},
        {answers.neighbors.rows, answers.votes}, result.timeline, token);
    return result;
}

/// A query's neighbors according to the oracle.
inline Vote vote_of(std::span<const Neighbor> row, const std::vector<std::uint8_t>& labels,
                    const VotingRule& rule, const Measure& measure) {
    std::vector<std::pair<std::int64_t, std::int64_t>> neighbors;
    for (const Neighbor& neighbor : row)
        neighbors.emplace_back(neighbor.distance, neighbor.index);
    const auto [label, share] = vote(neighbors, labels, rule.weights, rule.tie, measure);
    return {static_cast<std::uint8_t>(label), share};
}

/// Of every `step`-th query.
inline std::int64_t wrong_queries(const Neighbors& found, const GpuProblem& problem, std::int64_t step = 1) {
    return wrong_queries(found.rows, problem.train, problem.query, problem.rule.k, problem.exclude,
                         problem.measure, step);
}

inline std::int64_t wrong_votes(const Voted& answers, const GpuProblem& problem) {
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < answers.neighbors.n_query; ++q)
        wrong += !(answers.votes.at(static_cast<std::size_t>(q)) ==
                   vote_of(answers.neighbors.row(q), problem.labels, problem.rule, problem.measure));
    return wrong;
}

}  // namespace knn::test
