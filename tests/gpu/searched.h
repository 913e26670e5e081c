#pragma once
/// Whole searches by an engine of the GPU, for tests: settled, opened, searched.

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/engines/engines.h"
#include "tests/support/oracle.h"

namespace knn::test {

struct GpuEngine {
    Refusal (*settle)(const Problem&, Plan&);
    std::unique_ptr<Searcher> (*open)(const Training&, const Measure&, const Plan&, Timeline&);
};
inline constexpr GpuEngine classic{gpu::settle_classic, gpu::open_classic};
inline constexpr GpuEngine tensor{gpu::settle_tensor, gpu::open_tensor};

/// The images of a problem, which own their pixels, and how to search them.
struct GpuProblem {
    const Rows& train;
    const Rows& query;
    std::vector<std::uint8_t> labels = {};  ///< empty: nobody votes
    VotingRule rule = {};
    Measure measure = {};
    Exclude exclude = {};
    std::int64_t batch = 0;
    std::string distance = {}, select = {};

    knn::Rows train_rows() const { return {train.pixels.data(), train.n, train.dim}; }
    knn::Rows query_rows() const { return {query.pixels.data(), query.n, query.dim}; }
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
    Answers answers;
    Timeline timeline;
    Plan plan;
};

inline Refusal refuse(const GpuEngine& engine, const GpuProblem& problem) {
    Plan plan = problem.plan();
    return engine.settle(problem.problem(), plan);
}

/// What the engine does not refuse.
inline std::unique_ptr<Searcher> opened(const GpuEngine& engine, const GpuProblem& problem,
                                        Timeline& timeline) {
    Plan plan = problem.plan();
    if (const Refusal why = engine.settle(problem.problem(), plan)) throw UsageError(*why);
    return engine.open({problem.train_rows(), problem.labels}, problem.measure, plan, timeline);
}

inline Searched searched(const GpuEngine& engine, const GpuProblem& problem, const Watch& watch = {}) {
    Searched result;
    const auto searcher = opened(engine, problem, result.timeline);
    if (searcher->votes(problem.rule))
        result.answers = searcher->search_and_vote(problem.query_rows(), problem.rule, problem.exclude,
                                                   result.timeline, watch);
    else
        result.answers.neighbors =
            searcher->search(problem.query_rows(), problem.rule.k, problem.exclude, result.timeline, watch);
    result.plan = searcher->plan();
    return result;
}

/// The vote of one query by the definition, one class after another; not for lp by distance.
inline Vote vote_of(std::span<const Neighbor> row, const std::vector<std::uint8_t>& labels,
                    const VotingRule& rule, const Measure& measure) {
    std::vector<double> sums(256, 0.0);
    std::vector<int> first(256, -1);
    for (std::size_t rank = 0; rank < row.size(); ++rank) {
        double weight = 1;
        if (rule.weights == Weights::distance) {
            const double distance = distance_of(measure, row[rank].distance);
            const double square = measure.metric == Metric::l2 ? distance : distance * distance;
            if (row[0].distance == 0)
                weight = distance == 0 ? 1 : 0;
            else
                weight = 1 / square;
        }
        const std::uint8_t label = labels[row[rank].index];
        if (weight > 0 && first[label] < 0) first[label] = static_cast<int>(rank);
        sums[label] += weight;
    }
    double total = 0;
    int best = -1;
    for (int label = 0; label < 256; ++label) {
        const auto at = static_cast<std::size_t>(label);
        total += sums[at];
        if (sums[at] == 0) continue;
        const auto before = static_cast<std::size_t>(best);
        if (best < 0 || sums[at] > sums[before] ||
            (sums[at] == sums[before] && rule.tie == Tie::nearest && first[at] < first[before]))
            best = label;
    }
    return {static_cast<std::uint8_t>(best), sums[static_cast<std::size_t>(best)] / total};
}

/// Every `step`-th query's k nearest, without the image that `exclude` says, against the oracle. The number of
/// queries that are wrong.
inline std::int64_t wrong_queries(const Neighbors& found, const GpuProblem& problem, std::int64_t step = 1) {
    std::int64_t wrong = found.n_query == problem.query.n && found.k == problem.rule.k ? 0 : 1;
    for (std::int64_t q = 0; q < found.n_query && wrong == 0; q += step) {
        Rows one{{}, 1, problem.query.dim};
        const auto begin = problem.query.pixels.begin() + q * one.dim;
        one.pixels.assign(begin, begin + one.dim);
        const std::int64_t itself = problem.exclude.index_of(q);
        auto expected =
            nearest(problem.train, one, problem.rule.k + (itself >= 0 ? 1 : 0), problem.measure).front();
        std::erase_if(expected, [&](const auto& neighbor) { return neighbor.second == itself; });
        expected.resize(static_cast<std::size_t>(problem.rule.k));
        const auto row = found.row(q);
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (row[i].distance != expected[i].first || row[i].index != expected[i].second) {
                ++wrong;
                break;
            }
    }
    return wrong;
}

inline std::int64_t wrong_votes(const Answers& answers, const GpuProblem& problem) {
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < answers.neighbors.n_query; ++q)
        wrong += !(answers.votes.at(static_cast<std::size_t>(q)) ==
                   vote_of(answers.neighbors.row(q), problem.labels, problem.rule, problem.measure));
    return wrong;
}

}  // namespace knn::test
