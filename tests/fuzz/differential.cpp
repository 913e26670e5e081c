/// Random problems on every instruction set of this processor, on the serial search and on the oracles: features, neighbors
/// and votes, byte for byte. An input is a seed, the problem's size and the number of threads.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cpu/host/host.h"
#include "cpu/kernels/kernels.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "cpu/transform/transform.h"
#include "data/core/errors.h"
#include "tests/fuzz/expected.h"
#include "tests/fuzz/input.h"

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
    const Rows rows{train.pixels.data(), train.n, train.dim};
    std::vector<std::uint32_t> distances(static_cast<std::size_t>(train.n));
    cpu::serial_distances(rows, query.pixels.data(), distances);
    const test::Rows first{{query.pixels.begin(), query.pixels.begin() + query.dim}, 1, query.dim};
    const auto expected = test::nearest(train, first, problem.method.vote.k, {});
    std::vector<std::uint64_t> scratch;
    for (const cpu::SerialSelector& selector : cpu::serial_selectors()) {
        std::vector<Neighbor> best(k);
        selector.select(distances, best, scratch);
        for (std::size_t i = 0; i < k; ++i)
            require(best[i].distance == expected[0][i].first && best[i].index == expected[0][i].second,
                    selector.name);
    }
}

void check(const test::RandomProblem& problem, int threads) {
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
    if (!knn::takes_long(problem)) knn::check(problem, threads);
    return 0;
}
