/// Measures searches of MNIST by `accurate`, training set resident:
///
///     MNIST_KNN_DATA=... unit_tests --no-skip -tc='gpu: measured: accurate*'

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "classifier/engines.h"
#include "classifier/index.h"
#include "gpu/engines/engines.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/mnist.h"
#include "tests/support/skip.h"

namespace knn {

namespace {

/// Medians of five searches after three others, and the stages of the last.
void measure(const Index& index, const char* what, const Queries& queries) {
    std::vector<double> kernels, wall;
    Results found;
    for (int i = 0; i < 8; ++i) {
        found = index.search(queries);
        if (i < 3) continue;
        kernels.push_back(found.timeline.kernels_ms());
        wall.push_back(found.search_ms);
    }
    std::ranges::nth_element(kernels, kernels.begin() + 2);
    std::ranges::nth_element(wall, wall.begin() + 2);
    std::printf("%s: kernels %.3f ms, search %.3f ms\n", what, kernels[2], wall[2]);
    for (const Stage& stage : found.timeline.stages())
        std::printf("  %-10s %.3f ms\n", stage.name.c_str(), stage.total_ms);
}

}  // namespace

TEST_CASE("gpu: measured: accurate, training set resident" * doctest::skip()) {
    if (!test::have_gpu() || test::mnist_folder().empty()) return;
    const Dataset data = test::mnist();
    const Training training{data.train.images(), data.train.labels.span(), data.train.shape()};
    const auto accurate =
        std::ranges::find(methods(), std::string_view("accurate"), [](const auto& one) { return one.name; });
    const Method& method = accurate->method;
    Plan plan{.engine = "tensor", .device = gpu::devices().front()};
    const Engine& engine = *find_engine(plan.engine);
    REQUIRE(!engine.configure(method.problem(training, training.rows.count), plan));
    const Index index(training, method, {&engine, plan, ""});
    std::printf("opening: kernels %.3f ms, wall clock %.3f ms\n", index.opening().kernels_ms(),
                index.open_ms());
    measure(index, "10,000 queries", data.test.images());
    measure(index, "60,000 leave-one-out", Queries::all_of(training.rows));
}

}  // namespace knn
