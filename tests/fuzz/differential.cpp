/// Random problems on every instruction set of this processor, on the serial search and on the oracles: features, neighbors
/// and votes, byte for byte. An input is a seed, the problem's size, the number of threads and what sketches have.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "cpu/host/host.h"
#include "cpu/kernels/kernels.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "cpu/transform/transform.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/random_problem.h"
#include "tests/support/points.h"
#include "tests/support/reranked.h"
#include "tests/support/transform_oracle.h"

// What the oracles answer: features, all pairs, re-ranking and votes in plain loops.
namespace knn::test {

namespace {

/// As data/rerank/density.h defines them.
std::vector<std::uint32_t> factors_of(const std::vector<std::int64_t>& sums) {
    std::vector<std::int64_t> sorted = sums;
    std::sort(sorted.begin(), sorted.end());
    const std::int64_t median = std::max<std::int64_t>(sorted[(sorted.size() - 1) / 2], 1);
    std::vector<std::uint32_t> factors;
    for (const std::int64_t sum : sums) {
        const std::int64_t bounded = std::min(std::max(sum, (median + 15) / 16), 16 * median);
        const __int128 ratio = (__int128{median} << 28) / bounded;
        factors.push_back(static_cast<std::uint32_t>(floor_root(4 * __int128{floor_root(ratio << 28)})));
    }
    return factors;
}

/// The candidates in the order of the re-ranker.
Neighbors reranked_by_oracle(const RandomProblem& problem, const Rows& train, const Neighbors& candidates) {
    const RerankSpec& rerank = problem.method.rerank;
    const std::vector<RerankMaps> images = maps_of(problem.train, problem.shape),
                                  queries = maps_of(problem.query, problem.shape);
    std::vector<std::uint32_t> factors;
    if (rerank.density && train.n >= 2) {
        const auto k = static_cast<int>(std::min<std::int64_t>(16, train.n - 1));
        const Neighbors others = right(train, train, k, {.first = 0}, problem.method.measure);
        const Neighbors nearest =
            reranked(others, {}, std::min(k, 3), [&](std::size_t i, std::uint32_t image) {
                return rerank_distance(images[i], images[image], rerank.kind);
            }).nearest;
        std::vector<std::int64_t> sums;
        for (std::int64_t i = 0; i < train.n; ++i) {
            sums.push_back(0);
            for (const Neighbor& neighbor : nearest.row(i))
                sums.back() += neighbor.distance;
        }
        factors = factors_of(sums);
    }
    return reranked(candidates, factors, candidates.k,
                    [&](std::size_t i, std::uint32_t image) {
                        return rerank_distance(queries[i], images[image], rerank.kind);
                    })
        .nearest;
}

/// Of the loops over pixels in the re-ranker's oracle.
double rerank_work(const RandomProblem& problem, int candidates) {
    const RerankSpec& rerank = problem.method.rerank;
    const auto n_train = static_cast<double>(problem.labels.size());
    const double pairs =
        static_cast<double>(problem.query_rows().count) * candidates + (rerank.density ? n_train * 16 : 0);
    constexpr double moves = 25, context = 9, points = 0.25;
    return pairs * static_cast<double>(problem.shape.dim()) * moves * context * points;
}

/// The rows that are compared: features, or the pixels without a transform (`fitted` is null).
Rows compared_rows(const knn::Rows& images, const FittedTransform* fitted) {
    if (fitted != nullptr) return features_of(*fitted, images);
    return {{images.pixels, images.pixels + images.count * images.dim}, images.count, images.dim};
}

/// `train`, `query`: compared_rows. None by `spread`, or if the loops of re-ranking would take long.
std::optional<Found> expected(const RandomProblem& problem, const Rows& train, const Rows& query) {
    const Method& method = problem.method;
    const VotingRule& rule = method.vote;
    const bool reranks = method.rerank.kind != RerankKind::none;
    const std::int64_t others = train.n - (problem.exclude.any() ? 1 : 0);
    const bool all_vote = rule.votes == VoteKind::class_mean;
    const auto wanted = reranks || all_vote ? std::max(rule.k, method.rerank.candidates) : rule.k;
    const auto candidates = static_cast<int>(std::min<std::int64_t>(wanted, others));
    // Its plain loops are in tests/classifier/spread_fit_test.cpp: here the kernels are compared with one another.
    if (method.rerank.kind == RerankKind::spread) return std::nullopt;
    constexpr double most_work = 5e6;
    if (reranks && rerank_work(problem, candidates) > most_work) return std::nullopt;

    Neighbors voters = right(train, query, candidates, problem.exclude, method.measure);
    if (reranks) voters = reranked_by_oracle(problem, train, voters);
    Found found{voters.first(rule.k), {}};
    const Measure measure = reranks ? Measure{} : method.measure;
    for (std::int64_t q = 0; q < query.n; ++q)
        found.votes.push_back(
            all_vote ? class_mean_vote(voters.row(q), problem.labels, rule.k, rule.tie)
                     : vote(found.neighbors.row(q), problem.labels, rule.weights, rule.tie, measure));
    return found;
}

}  // namespace

}  // namespace knn::test

namespace knn {

namespace {

using test::Found, test::found, test::require;

/// Shows both with the problem, and ends the process.
void require_equal(const test::RandomProblem& problem, const Found& expected, const Found& here,
                   const std::string& where) {
    const std::string differs = test::difference(expected, here);
    if (differs.empty()) return;
    std::fprintf(stderr, "%s\n%s: %s\n", problem.text().c_str(), where.c_str(), differs.c_str());
    std::abort();
}

/// The density of re-ranking needs all pairs of training images; the transform `pca` a matrix of dim × dim.
bool takes_long(const test::RandomProblem& problem) {
    const Method& method = problem.method;
    if (method.reranks() && method.rerank.density && problem.labels.size() > 300) return true;
    for (const TransformStep& step : method.transform.steps)
        if (step.kind == TransformKind::pca && problem.shape.dim() > 150) return true;
    return false;
}

/// Every selector of the serial search, on rows of distances of one query.
void check_serial_selectors(const test::RandomProblem& problem, const test::Rows& train,
                            const test::Rows& query) {
    const auto k = static_cast<std::size_t>(problem.method.vote.k);
    std::vector<std::uint32_t> distances(static_cast<std::size_t>(train.n));
    cpu::serial_distances(train, query.pixels.data(), distances);
    const test::Rows first{{query.pixels.begin(), query.pixels.begin() + query.dim}, 1, query.dim};
    const Neighbors expected = test::nearest(train, first, problem.method.vote.k, {});
    std::vector<std::uint64_t> scratch;
    for (const cpu::SerialSelector& selector : cpu::serial_selectors()) {
        std::vector<Neighbor> best(k);
        selector.select(distances, best, scratch);
        require(std::ranges::equal(best, expected.rows), selector.name);
    }
}

void check(const test::RandomProblem& problem, int threads, SketchColumns sketch) {
    const std::vector<std::string> sets = cpu::instruction_sets();
    const auto use = [](const std::string& set) { ::setenv("MNIST_KNN_ISA", set.c_str(), 1); };
    std::unique_ptr<FittedTransform> fitted;
    use(sets.front());
    if (!problem.method.transform.is_raw())
        fitted = std::make_unique<FittedTransform>(
            cpu::fit(problem.method.transform, problem.train_rows(), problem.shape, threads));
    const test::Rows train = test::compared_rows(problem.train_rows(), fitted.get());
    const test::Rows query = test::compared_rows(problem.query_rows(), fitted.get());

    std::optional<Found> expected = test::expected(problem, train, query);
    for (const std::string& set : sets) {
        use(set);
        if (fitted != nullptr)
            require(cpu::features(*fitted, problem.train_rows(), threads) == train.pixels,
                    "features are the oracle's");
        Plan plan{.engine = "cpu", .device = cpu::device(), .batch = problem.batch, .threads = threads};
        plan.sketch = sketch;
        const std::optional<Found> here = found(problem, plan);
        require(here.has_value(), "the engine cpu takes every problem");
        if (!expected) expected = here;
        require_equal(problem, *expected, *here, set);
    }
    Plan serial{.engine = "cpu", .device = cpu::device(), .select = "nth_element"};
    if (const std::optional<Found> here = found(problem, serial))
        require_equal(problem, *expected, *here, "serial");
    if (problem.method.measure.metric == Metric::l2) check_serial_selectors(problem, train, query);
}

}  // namespace

}  // namespace knn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    knn::test::Input input(data, size);
    const std::uint64_t seed = input.number(8);
    const std::int64_t work = std::int64_t{20'000} << input.byte() % 8;
    const int threads = 1 + input.byte() % 3;
    const knn::test::RandomProblem problem = knn::test::random_problem(seed, work);
    const auto sketch = static_cast<knn::SketchColumns>(input.byte() % 4);
    if (!knn::takes_long(problem)) knn::check(problem, threads, sketch);
    return 0;
}
