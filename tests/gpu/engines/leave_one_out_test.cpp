/// Leave-one-out: queries that are training images, and not neighbors of themselves.

#include <doctest/doctest.h>

#include "tests/gpu/have_gpu.h"
#include "tests/gpu/searched.h"
#include "tests/support/images.h"

namespace knn {

namespace {

struct Strategies {
    const Engine& engine;
    std::string distance, select;
};

/// Each distance kernel, each selector and each tensor kernel.
std::vector<Strategies> all_strategies() {
    std::vector<Strategies> all;
    for (const Strategy& one : gpu::distance_kernels())
        all.push_back({test::classic, one.name, ""});
    for (const Strategy& one : gpu::selectors())
        all.push_back({test::classic, "", one.name});
    for (const Strategy& one : gpu::tensor_kernels())
        all.push_back({test::tensor, one.name, ""});
    return all;
}

/// Returns the number of strategies that supported it.
int check_all(const test::Rows& train, const Exclude& exclude, std::int64_t count, int k,
              const Measure& measure = {}, std::int64_t step = 1, std::int64_t batch = 0) {
    const test::Rows query = test::taken(train, exclude, count);
    test::Request problem{
        .train = train, .query = query, .k = k, .measure = measure, .batch = batch, .exclude = exclude};
    int ran = 0;
    for (const Strategies& one : all_strategies()) {
        problem.distance = one.distance;
        problem.select = one.select;
        if (test::refuse(one.engine, problem)) continue;
        ++ran;
        CAPTURE(problem);
        CHECK(test::wrong_queries(test::search(one.engine, problem).neighbors, problem, step) == 0);
    }
    return ran;
}

}  // namespace

GPU_TEST_CASE(
    "gpu: leave-one-out by every kernel, selector and metric: duplicates, samples, all others as neighbors") {
    const test::Rows train = test::random_rows(1'500, 50, 1);
    const int ran = check_all(train, {.first = 0}, 400, 7, {}, 11, 150);
    CHECK(ran == static_cast<int>(gpu::distance_kernels().size() + gpu::selectors().size()) -
                     !test::have_cublas() + test::tensor_kernels_of(test::capability(), train.dim));
    check_all(train, {.first = 333}, 200, 40, {}, 11);
    const test::Rows twins = test::repeated(test::random_rows(300, 30, 2, 3), 4);
    check_all(twins, {.first = 100}, 300, 5, {}, 11, 77);
    check_all(twins, {.first = 1'199}, 1, 5);
    check_all(test::random_rows(600, 20, 3, 1), {.first = 0}, 600, 9, {}, 29);

    for (const int k : {1, 2, 31, 32, 33, 128, 129, 1023, 1024}) {
        const test::Rows others = test::random_rows(k + 1, 12, 4, 4);
        check_all(others, {.first = 0}, std::min<std::int64_t>(k + 1, 200), k, {}, 37);
        check_all(others, {.first = k}, 1, k);
    }
    check_all(test::random_rows(3'000, 12, 5, 4), {.first = 1'000}, 150, 1024, {}, 37);

    const test::Rows large = test::random_rows(30'000, 40, 7, 9);
    for (const std::int64_t batch : {0, 300})
        for (const int k : {1, 5, 100})
            check_all(large, {.first = 0, .n = 30'000, .m = 700}, 700, k, {}, 150, batch);

    const test::Rows pairs = test::repeated(test::random_rows(200, 16, 6, 4), 2);
    for (const Measure& measure : {Measure{Metric::l1, 2}, Measure{Metric::lp, 0.5}, Measure{Metric::lp, 3},
                                   Measure{Metric::cosine, 2}, Measure{Metric::pearson, 2}})
        if (measure.metric == Metric::l1 || measure.metric == Metric::lp || test::have_cublas())
            CHECK(check_all(pairs, {.first = 50}, 200, 6, measure, 13) >=
                  10);  // every selector, and a kernel
    // 255 and 65,535 as the largest score: all bits of a narrow radix sort.
    for (const std::int64_t dim : {1, 257}) {
        test::Rows black_and_white = test::filled(6, dim, 255);
        std::fill_n(black_and_white.pixels.begin(), 2 * dim, std::uint8_t{0});
        check_all(black_and_white, {.first = 0}, 6, 5, {Metric::l1, 2});
    }
}

// For compute-sanitizer.
GPU_TEST_CASE("gpu: small leave-one-out") {
    const test::Rows train = test::repeated(test::random_rows(150, 20, 1, 5), 2);
    check_all(train, {.first = 10}, 200, 6, {}, 13, 130);
    check_all(train, {.first = 0}, 3, 299);
}

}  // namespace knn
