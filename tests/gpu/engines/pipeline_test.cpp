#include "gpu/engines/pipeline.h"

#include <doctest/doctest.h>

#include <atomic>

#include "cpu/search.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/battery.h"

namespace knn {

namespace {

void check_battery(const std::string& distance, const std::string& select) {
    test::check_engine(
        "distance '" + distance + "', selector '" + select + "'",
        [&](SearchRequest request) {
            request.distance = distance;
            request.select = select;
            return gpu::search(request, {});
        },
        [&](const Problem& problem) { return gpu::refuse(problem, distance, select); });
}

}  // namespace

TEST_CASE("gpu: every distance kernel passes the battery") {
    if (!test::have_gpu()) return;
    for (const gpu::StrategyInfo& distance : gpu::distance_kernels())
        check_battery(distance.name, "");
}

TEST_CASE("gpu: every selector passes the battery") {
    if (!test::have_gpu()) return;
    for (const gpu::StrategyInfo& select : gpu::selectors())
        check_battery("", select.name);
}

TEST_CASE("gpu: many batches in flight give what one batch gives, and what the CPU gives") {
    if (!test::have_gpu()) return;
    const test::Rows train = test::random_rows(20'000, 100, 1, 6), query = test::random_rows(999, 100, 2, 6);
    std::vector<std::uint8_t> labels(20'000);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint8_t>(i * 7 % 256);
    SearchRequest request;
    request.train = {train.pixels.data(), train.n, train.dim};
    request.query = {query.pixels.data(), query.n, query.dim};
    request.train_labels = labels;
    request.k = 33;
    request.weights = Weights::distance;
    request.tie = Tie::nearest;
    const SearchResult cpu = cpu::search(request, {});
    for (const std::int64_t batch : {1, 10, 333, 998, 999, 100'000}) {
        CAPTURE(batch);
        request.batch = batch;
        const SearchResult gpu = gpu::search(request, {});
        CHECK(gpu.neighbors.rows == cpu.neighbors.rows);
        CHECK(gpu.votes == cpu.votes);
    }
}

// Each path of each kernel once, small enough for compute-sanitizer's racecheck: rows of one block, of a
// cluster of 1, 2 and 4 blocks, and of a workspace; images of one tile, of several, and with the carry into
// integers.
TEST_CASE("gpu: small problems on every path") {
    if (!test::have_gpu()) return;
    struct Size {
        std::int64_t n_train, dim;
        int k;
    };
    for (const Size& size : {Size{600, 70, 5},
                             {1'100, 5, 40},
                             {3'000, 1'100, 3},
                             {5'000, 4, 5},
                             {9'000, 4, 5},
                             {20'000, 4, 5},
                             {40'000, 4, 5},
                             {140'000, 4, 5}}) {
        CAPTURE(size.n_train);
        const test::Rows train = test::random_rows(size.n_train, size.dim, 1, 3);
        const test::Rows query = test::random_rows(2, size.dim, 2, 3);
        const std::vector<std::uint8_t> labels(static_cast<std::size_t>(size.n_train), 3);
        SearchRequest request;
        request.train = {train.pixels.data(), train.n, train.dim};
        request.query = {query.pixels.data(), query.n, query.dim};
        request.train_labels = labels;
        request.k = size.k;
        const SearchResult cpu = cpu::search(request, {});
        const SearchResult gpu = gpu::search(request, {});
        CHECK(gpu.neighbors.rows == cpu.neighbors.rows);
        CHECK(gpu.votes == cpu.votes);
    }
}

namespace {

/// One small problem with these strategies; if they refuse it, a message says why.
void check_small_problem(const std::string& distance, const std::string& select) {
    static const test::Rows train = test::random_rows(700, 70, 1, 3), query = test::random_rows(3, 70, 2, 3);
    static const std::vector<std::uint8_t> labels(700, 3);
    SearchRequest request;
    request.train = {train.pixels.data(), train.n, train.dim};
    request.query = {query.pixels.data(), query.n, query.dim};
    request.train_labels = labels;
    request.k = 40;
    static const std::vector<Neighbor> expected = cpu::search(request, {}).neighbors.rows;
    request.distance = distance;
    request.select = select;
    CAPTURE(distance);
    CAPTURE(select);
    if (const Refusal why = gpu::refuse(request.problem(), distance, select)) {
        MESSAGE("not run: " << *why);
        return;
    }
    CHECK(gpu::search(request, {}).neighbors.rows == expected);
}

}  // namespace

TEST_CASE("gpu: small problem, every distance kernel and selector") {
    if (!test::have_gpu()) return;
    for (const gpu::StrategyInfo& distance : gpu::distance_kernels())
        check_small_problem(distance.name, "");
    for (const gpu::StrategyInfo& select : gpu::selectors())
        check_small_problem("", select.name);
}

TEST_CASE("gpu: every pair of distance kernel and selector on one problem") {
    if (!test::have_gpu()) return;
    for (const gpu::StrategyInfo& distance : gpu::distance_kernels())
        for (const gpu::StrategyInfo& select : gpu::selectors())
            check_small_problem(distance.name, select.name);
}

TEST_CASE("gpu: without a name, every metric gets a kernel that computes it") {
    if (!test::have_gpu()) return;
    const test::Rows rows = test::random_rows(300, 20, 3);
    const std::vector<std::uint8_t> labels(300, 7);
    SearchRequest request;
    request.train = request.query = {rows.pixels.data(), rows.n, rows.dim};
    request.train_labels = labels;
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::lp, Metric::cosine, Metric::pearson}) {
        request.metric = metric;
        request.p = 3;
        if (const Refusal why = gpu::refuse(request.problem(), "", "")) {
            MESSAGE("not run: " << *why);
            continue;
        }
        const SearchResult result = gpu::search(request, {});
        if (metric == Metric::l2) CHECK(result.distance == "float4");
        for (std::uint32_t i = 0; i < 300; ++i)  // random images: each is its own nearest
            CHECK(result.neighbors.row(i)[0].index == i);
    }
}

TEST_CASE("gpu: the timeline names the stages of classic in order") {
    if (!test::have_gpu()) return;
    const test::Rows rows = test::random_rows(100, 20, 3);
    const std::vector<std::uint8_t> labels(100, 7);
    SearchRequest request;
    request.train = request.query = {rows.pixels.data(), rows.n, rows.dim};
    request.train_labels = labels;
    request.batch = 40;
    const SearchResult result = gpu::search(request, {});
    std::vector<std::string> names;
    for (const Stage& stage : result.timeline.stages()) {
        names.push_back(stage.name);
        CHECK(stage.total_ms > 0);
        CHECK(stage.launches == (stage.name == "upload" || stage.name == "expand" ? 4 : 3));
    }
    CHECK(names == std::vector<std::string>{"upload", "expand", "distance", "sort", "vote", "download"});
    CHECK(result.search_ms >= result.timeline.kernels_ms());
    CHECK(result.batch == 40);
}

TEST_CASE("gpu: a stop is answered between batches") {
    if (!test::have_gpu()) return;
    const test::Rows rows = test::random_rows(1'000, 20, 3);
    const std::vector<std::uint8_t> labels(1'000, 7);
    SearchRequest request;
    request.train = request.query = {rows.pixels.data(), rows.n, rows.dim};
    request.train_labels = labels;
    request.batch = 10;
    std::atomic<bool> stop = false;
    std::int64_t seen = 0;
    const Watch watch{[&](std::int64_t done, std::int64_t) {
                          seen = done;
                          stop = done >= 200;
                      },
                      &stop};
    CHECK_THROWS_AS(gpu::search(request, watch), Interrupted);
    CHECK(seen >= 200);
    CHECK(seen < 300);
}

TEST_CASE("gpu: an unknown strategy, a refused problem and a missing device are errors of their own") {
    if (!test::have_gpu()) return;
    const test::Rows rows = test::random_rows(10, 4, 3);
    const std::vector<std::uint8_t> labels(10, 1);
    SearchRequest request;
    request.train = request.query = {rows.pixels.data(), rows.n, rows.dim};
    request.train_labels = labels;
    request.distance = "flaot4";
    CHECK_THROWS_WITH_AS(gpu::search(request, {}), doctest::Contains("float4"), UsageError);
    request.distance.clear();
    request.k = 11;
    CHECK_THROWS_AS(gpu::search(request, {}), UsageError);
    request.k = 5;
    request.device = 99;
    CHECK_THROWS_WITH_AS(gpu::search(request, {}), doctest::Contains("99"), DeviceError);
}

TEST_CASE("gpu: host memory can be filled before it is pinned, from several threads") {
    if (!test::have_gpu()) return;
    const auto memory = gpu::host_memory(0);
    std::byte* early = static_cast<std::byte*>(memory->allocate(100'000));
    early[99'999] = std::byte{42};
    memory->pin();
    std::byte* late = static_cast<std::byte*>(memory->allocate(5));
    late[4] = std::byte{1};
    memory->pin();
    CHECK(early[99'999] == std::byte{42});
    memory->deallocate(early, 100'000);
    memory->deallocate(late, 5);
}

}  // namespace knn
