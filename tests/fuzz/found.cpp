#include "tests/fuzz/found.h"

#include "classifier/engines.h"
#include "classifier/index.h"

namespace knn::test {

std::optional<Found> found(const RandomProblem& problem, Plan plan) {
    const Engine& engine = *find_engine(plan.engine);
    const Training training = problem.training();
    if (engine.settle(problem.method.problem(training, problem.query_rows().count), plan))
        return std::nullopt;
    const Index index(training, problem.method, {.engine = &engine, .plan = plan, .notice = ""});
    Results answer = index.search(queries_of(problem.query_rows(), problem.exclude, training.rows));
    return Found{std::move(answer.neighbors), {answer.votes.begin(), answer.votes.end()}};
}

std::string difference(const Found& expected, const Found& here) {
    if (here.neighbors.rows.size() != expected.neighbors.rows.size() ||
        here.votes.size() != expected.votes.size())
        return "another number of neighbors or votes";
    for (std::size_t i = 0; i < expected.neighbors.rows.size(); ++i) {
        const Neighbor &a = expected.neighbors.rows[i], &b = here.neighbors.rows[i];
        if (a != b)
            return "neighbor " + std::to_string(i) + ": " + std::to_string(a.index) + " at " +
                   std::to_string(a.distance) + " expected, " + std::to_string(b.index) + " at " +
                   std::to_string(b.distance) + " here";
    }
    for (std::size_t i = 0; i < expected.votes.size(); ++i)
        if (expected.votes[i] != here.votes[i]) return "vote " + std::to_string(i);
    return "";
}

}  // namespace knn::test
