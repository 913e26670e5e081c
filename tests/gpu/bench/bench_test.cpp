#include "gpu/bench/bench.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "cpu/rerank/rerank.h"
#include "gpu/distance/distance.h"
#include "gpu/engines/engines.h"
#include "gpu/select/select.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/points.h"
#include "tests/support/transform_oracle.h"

namespace knn {

namespace {

using test::view;

const ProgressToken token;

std::unique_ptr<BenchArrays> arrays_of(const test::Rows& train, const test::Rows& query, int k,
                                       const Measure& measure = {}) {
    return gpu::bench_arrays(0, {train.n, query.n, train.dim, k, measure}, view(train), view(query), token);
}

/// Of the queries, how many have other distances than the right ones.
std::int64_t wrong_rows(BenchArrays& arrays, const std::vector<std::uint32_t>& right, std::int64_t n_query) {
    const std::int64_t n_train = std::ssize(right) / n_query;
    std::int64_t wrong = 0;
    for (std::int64_t q = 0; q < n_query; ++q)
        wrong += !std::equal(right.begin() + q * n_train, right.begin() + (q + 1) * n_train,
                             arrays.matrix_row(q).begin());
    return wrong;
}

void check_nearest(const Neighbors& found, const test::Rows& train, const test::Rows& query) {
    const test::Rows some = test::taken(query, {.first = 0}, found.n_query);
    CHECK(test::wrong_queries(found.rows, train, some, found.k) == 0);
}

TrialOptions runs(int repeat) {
    TrialOptions options;
    options.repeat = repeat;
    return options;
}

}  // namespace

GPU_TEST_CASE("gpu: small problems by every kernel of the table and of bench alone, on both layouts") {
    std::vector<std::string> names;
    for (const gpu::DistanceKernel& kernel : gpu::bench_distance_table())
        if (!kernel.half) names.emplace_back(kernel.name);
    for (const Strategy& one : gpu::distance_kernels())
        names.push_back(one.name);
    TrialOptions options = runs(2);
    for (const std::int64_t dim : {1, 4, 17, 784, 1025, 1300})
        for (const std::int64_t n_query : {1, 15, 33, 70}) {
            const std::int64_t n_train = 3 * n_query + 40;
            test::Rows train = test::random_rows(n_train, dim, 3, 2),
                       query = test::random_rows(n_query, dim, 4, 2);
            const auto arrays = arrays_of(train, query, 5);
            REQUIRE(arrays->n_query() == n_query);
            const std::vector<std::uint32_t> right = test::scores(train, query);
            for (const std::string& name : names)
                for (const bool linear : {false, true}) {
                    options.linear = linear;
                    const Trial trial = arrays->time_distance(name, options);
                    if (trial.refusal) continue;
                    INFO(name, ": ", n_query, " queries of ", dim, linear ? ", linear" : "");
                    CHECK(trial.n_query == n_query);
                    CHECK(trial.ms.size() == 2);
                    CHECK(wrong_rows(*arrays, right, n_query) == 0);
                }
        }
}

GPU_TEST_CASE("gpu: small problems whose queries are the training points, each pair computed once") {
    int contests = 0;
    for (const std::int64_t dim : {1, 17, 128, 300})
        for (const std::int64_t n : {1, 15, 16, 17, 33, 96, 200})
            for (const std::int64_t n_query : {n, (n + 1) / 2}) {
                const test::Rows train = test::random_rows(n, dim, 3, 2);
                test::Rows query = train;
                query.n = n_query;
                std::vector<std::uint32_t> right = test::scores(train, query);
                for (std::int64_t q = 0; q < n_query; ++q)
                    right[static_cast<std::size_t>(q * n + q)] = 0xffffffff;
                const auto arrays = arrays_of(train, query, 1);
                for (const gpu::DistanceKernel& kernel : gpu::bench_distance_table()) {
                    if (!kernel.half) continue;
                    const std::string name = kernel.name;
                    INFO(name, ": ", n_query, " of ", n, " images of ", dim);
                    const Trial trial = arrays->time_distance(name, {});
                    if (trial.refusal && name == "half_contest") continue;
                    contests += name == "half_contest" ? 1 : 0;
                    CHECK(trial.n_query == n_query);
                    CHECK(wrong_rows(*arrays, right, n_query) == 0);
                }
            }
    CHECK(contests == 3);
}

GPU_TEST_CASE("gpu: the programs of seed 003 find the neighbors, and say where their time goes") {
    for (const Program& program : programs)
        for (const std::int64_t dim : {1, 6, 784}) {
            CAPTURE(std::string(program.name));
            const test::Rows train = test::random_rows(1'500, dim, 1, 4),
                             query = test::random_rows(9, dim, 2, 4);
            const Trial trial = gpu::time_program(0, program, view(train), view(query), 7, runs(2), {});
            CHECK(trial.ms.size() == 2);
            REQUIRE(trial.n_query == 9);
            REQUIRE(trial.found.n_query == 9);
            check_nearest(trial.found, train, query);
            REQUIRE(trial.stages.stages().size() == 4);
            double sum = 0;
            for (const Stage& stage : trial.stages.stages()) {
                const std::int64_t launches = stage.name == "transfer"   ? 1 + 2 * 9
                                              : stage.name != "allocate" ? 9
                                              : program.allocates_once   ? 1
                                                                         : 9;
                CHECK(stage.launches == launches);
                sum += stage.total_ms;
            }
            CHECK(sum <= trial.ms.back());
        }
}

GPU_TEST_CASE("gpu: the contest program takes whole tiles of 128 pixels alone") {
    for (const auto& [n, n_query, dim] :
         {std::array{24, 16, 128}, std::array{32, 17, 128}, std::array{16, 16, 127}}) {
        const test::Rows train = test::random_rows(n, dim, 3), query = test::random_rows(n_query, dim, 4);
        CHECK(arrays_of(train, query, 1)->time_distance("half_contest", {}).refusal);
    }
    const test::Rows train = test::random_rows(16, 128, 3), query = test::random_rows(17, 128, 4);
    CHECK(arrays_of(train, query, 1)->time_distance("half_plain", {}).refusal);  // more queries than points
}

GPU_TEST_CASE("gpu: arrays have the metric of their problem, and refuse kernels that lack it") {
    const test::Rows train = test::random_rows(60, 9, 1, 3), query = test::random_rows(5, 9, 2, 3);
    for (const Measure& measure : {Measure{Metric::l1}, Measure{Metric::lp, 3}, Measure{Metric::cosine}}) {
        const auto arrays = arrays_of(train, query, 4, measure);
        const std::vector<std::uint32_t> right = test::scores(train, query, measure);
        int able = 0;
        for (const Strategy& one : gpu::distance_kernels()) {
            CAPTURE(one.name);
            if (arrays->time_distance(one.name, {}).refusal) {
                CHECK(arrays->fill(one.name));
                continue;
            }
            ++able;
            CHECK(wrong_rows(*arrays, right, 5) == 0);
        }
        CHECK(able > 0);
        CHECK(arrays->time_distance("ladder_scalar", {}).refusal);  // it supports only l2
    }
}

GPU_TEST_CASE("gpu: small problems by every selector on the arrays of bench") {
    const test::Rows train = test::random_rows(500, 6, 1, 3), query = test::random_rows(40, 6, 2, 3);
    const auto arrays = arrays_of(train, query, 9);
    CHECK(!arrays->fill(gpu::distance_kernels().front().name));
    for (const Strategy& selector : gpu::selectors()) {
        const Trial trial = arrays->time_select(selector.name, 9, {});
        if (trial.refusal) continue;
        CAPTURE(selector.name);
        check_nearest(trial.found, train, query);
    }
    for (const gpu::Selector* selector : gpu::bench_selector_table()) {
        const Trial trial = arrays->time_select(selector->name, 9, {});
        CAPTURE(std::string(selector->name));
        CHECK(!trial.refusal);
        CHECK(trial.finds == selector->finds);
        // A row of the matrix, and its neighbors.
        CHECK(trial.peak_bytes >= trial.n_query * (500 * 4 + 9 * 8));
        CHECK(trial.peak_bytes < std::int64_t{1} << 26);
        const Neighbors& found = trial.found;
        if (trial.finds == Finds::nearest) check_nearest(found, train, query);
        if (trial.finds != Finds::kth_value) continue;
        const Neighbors right = test::right(train, query, 9);
        for (std::int64_t q = 0; q < trial.n_query; ++q)
            CHECK(found.row(q)[8].distance == right.row(q)[8].distance);
    }
    CHECK(arrays->time_select("no such", 9, {}).refusal);
    CHECK(arrays->time_distance("no such", {}).refusal);
}

GPU_TEST_CASE("gpu: a large upload has arrived before the kernels start") {
    const test::Rows train = test::random_rows(2'000, 1'000, 1), query = test::random_rows(12'000, 1'000, 2);
    const auto arrays = arrays_of(train, query, 1);
    CHECK(!arrays->fill("float4"));
    const test::Rows last{{query.pixels.end() - 1'000, query.pixels.end()}, 1, 1'000};
    CHECK(arrays->matrix_row(11'999) == test::scores(train, last));
}

TENSOR_TEST_CASE("gpu: the kernels of a whole search are timed, and find the neighbors") {
    const test::Rows train = test::random_rows(3'000, 50, 1, 5), query = test::random_rows(300, 50, 2, 5);
    const std::vector<std::uint8_t> labels(3'000, 4);
    Plan plan;
    REQUIRE(!gpu::configure_tensor({3'000, 300, 50, 6}, plan));
    const Trial trial = gpu::time_kernels(plan, {view(train), labels}, view(query), 6, runs(5), {});
    CHECK(trial.ms.size() == 5);
    CHECK(trial.n_query == 300);
    REQUIRE(trial.found.n_query == 300);
    check_nearest(trial.found, train, query);
}

GPU_TEST_CASE("gpu: a transform is timed, and has the features of its definition") {
    const test::Rows images = test::random_rows(300, 784, 3);
    for (const TransformKind kind : {TransformKind::raw, TransformKind::gradients, TransformKind::hog}) {
        FittedTransform transform{.spec = {}, .image = {28, 28}, .steps = {}};
        if (kind != TransformKind::raw) append_step(transform, {kind, 0});
        const Trial trial = gpu::time_transform(0, transform, view(images), runs(5), {});
        CHECK(trial.ms.size() == 5);
        CHECK(trial.n_query == 300);
        CHECK(trial.features == test::features_of(transform, view(images)).pixels);
    }
}

GPU_TEST_CASE("gpu: re-ranking is timed, and orders as the CPU does") {
    const test::Rows train = test::random_rows(200, 784, 3), queries = test::random_rows(30, 784, 4);
    Neighbors candidates(30, 24);
    for (std::int64_t q = 0; q < 30; ++q)
        for (int i = 0; i < 24; ++i)
            candidates.row(q)[static_cast<std::size_t>(i)] = {0,
                                                              static_cast<std::uint32_t>((q + 8 * i) % 200)};
    for (const RerankKind kind : {RerankKind::distortion, RerankKind::cells, RerankKind::both})
        for (const bool plain : {false, true}) {
            RerankSpec rerank;
            rerank.kind = kind;
            const RerankWork work{rerank, {28, 28}, view(train), view(queries), candidates};
            const Trial trial = gpu::time_rerank(0, work, plain, runs(3), {});
            CHECK(trial.ms.size() == 3);
            CHECK(trial.n_query == 30);
            const Neighbors right = cpu::rerank(candidates, cpu::describe(rerank, work.queries, work.shape),
                                                cpu::describe(rerank, work.train, work.shape), {}, 24);
            CHECK(trial.found.rows == right.rows);
        }
}

GPU_TEST_CASE("gpu: limits that a card can have") {
    const Limits limits = gpu::measure_limits(0);
    const Device device = gpu::devices().front();
    CHECK(limits.copy_gb_per_s > 0.3 * device.peak_gb_per_s);
    CHECK(limits.copy_gb_per_s < 1.05 * device.peak_gb_per_s);
    CHECK(limits.multiply_add_gflop_per_s > 0.5 * device.peak_gflop_per_s);
    CHECK(limits.multiply_add_gflop_per_s < 1.05 * device.peak_gflop_per_s);
    CHECK(limits.pinned_upload_gb_per_s > limits.pageable_upload_gb_per_s / 2);
}

}  // namespace knn
