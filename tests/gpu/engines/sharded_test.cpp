// Several GPUs of one process against plain loops. On a machine with one GPU it is named several times.

#include "classifier/sharded.h"

#include <doctest/doctest.h>

#include "classifier/index.h"
#include "tests/gpu/have_gpu.h"
#include "tests/support/images.h"
#include "tests/support/leave_out.h"
#include "tests/support/oracle.h"

namespace knn {

namespace {

/// As many as wanted: the machine's GPUs in turn.
std::vector<Device> devices(std::size_t count) {
    const std::vector<Device> here = gpu::devices();
    std::vector<Device> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(here[i % here.size()]);
    return all;
}

std::vector<const Engine*> engines_here() {
    std::vector<const Engine*> all = {find_engine("classic")};
    if (test::capability() >= 80) all.push_back(find_engine("tensor"));
    return all;
}

struct Spread {
    std::size_t devices = 2;
    SpreadBy by = SpreadBy::training;
    std::int64_t memory = 0, batch = 0;
};

Plan plan_for(const Engine& engine, const Problem& problem, const Spread& spread) {
    Plan plan{.engine = engine.name, .device = devices(1).front()};
    plan.batch = spread.batch;
    REQUIRE(!engine.settle(problem, plan));
    if (spread.devices > 1) plan.devices = devices(spread.devices);
    plan.spread = spread.by;
    plan.memory = spread.memory;
    return plan;
}

Rows view(const test::Rows& rows) {
    return {rows.pixels.data(), rows.n, rows.dim};
}

Uninitialized<Neighbor> right(const test::Rows& points, const test::Rows& queries, int k) {
    Uninitialized<Neighbor> all;
    for (const auto& row : test::nearest(points, queries, k))
        for (const auto& [distance, index] : row)
            all.push_back({static_cast<std::uint32_t>(distance), static_cast<std::uint32_t>(index)});
    return all;
}

Uninitialized<Neighbor> found_by(const Engine& engine, const test::Rows& points, const test::Rows& queries,
                                 int k, const Spread& spread) {
    Timeline timeline;
    const Plan plan = plan_for(engine, {points.n, queries.n, points.dim, k}, spread);
    Sharded sharded(engine, {view(points), {}}, {}, plan, nullptr, timeline);
    std::vector<int> told(static_cast<std::size_t>(queries.n));
    Neighbors found(queries.n, k);
    const TopK wanted{.queries = view(queries), .k = k, .on_batch = [&](const ResultBatch& batch) {
                          for (std::size_t i = 0; i < batch.neighbors.size() / static_cast<std::size_t>(k);
                               ++i)
                              ++told[static_cast<std::size_t>(batch.first) + i];
                      }};
    sharded.top_k(wanted, {found.rows}, queries.n, timeline, {});
    for (const int times : told)
        CHECK(times == 1);
    return found.rows;
}

constexpr SpreadBy both[] = {SpreadBy::queries, SpreadBy::training};

}  // namespace

TEST_CASE("gpu: several devices and parts find what plain loops find") {
    if (!test::have_gpu()) return;
    // Few values: duplicates and equal distances within parts and across them; sizes that do not divide.
    const test::Rows points = test::repeated(test::random_rows(677, 30, 3, 3), 3);
    const test::Rows queries = test::random_rows(211, 30, 4, 3);
    for (const int k : {1, 33, 700}) {  // 700: more than a part has
        const Uninitialized<Neighbor> expected = right(points, queries, k);
        for (const Engine* engine : engines_here())
            for (const std::size_t count : {1, 2, 5})
                for (const SpreadBy by : both)
                    for (const std::int64_t memory : {0, 20'000})  // of 60,930 bytes
                        for (const std::int64_t batch : {0, 50}) {
                            CAPTURE(engine->name);
                            CAPTURE(k);
                            CAPTURE(count);
                            CAPTURE(by);
                            CAPTURE(memory);
                            CAPTURE(batch);
                            CHECK(found_by(*engine, points, queries, k, {count, by, memory, batch}) ==
                                  expected);
                        }
    }
}

TEST_CASE("gpu: leave-one-out in parts finds what a search of all finds") {
    if (!test::have_gpu()) return;
    const test::Rows points = test::repeated(test::random_rows(1'500, 30, 3, 4), 2);
    const std::pair<Exclude, std::int64_t> cases[] = {
        {{.first = 0}, 3'000}, {{.first = 700}, 900}, {{0, 3'000, 170}, 170}};
    for (const Engine* engine : engines_here())
        for (const auto& [exclude, n] : cases)
            for (const int k : {1, 10, 300}) {
                const test::Rows queries = test::taken(points, exclude, n);
                const Rows rows = view(n == points.n ? points : queries);
                const auto found = [&, exclude = exclude, n = n](const Spread& spread) {
                    Timeline timeline;
                    const Plan plan = plan_for(*engine, {points.n, n, points.dim, k}, spread);
                    Neighbors neighbors(n, k);
                    Sharded(*engine, {view(points), {}}, {}, plan, nullptr, timeline)
                        .top_k({.queries = test::queries_of(rows, exclude, view(points)), .k = k},
                               {neighbors.rows}, n, timeline, {});
                    return neighbors.rows;
                };
                const auto whole = found({.devices = 1});
                for (const std::size_t devices : {1, 2})
                    for (const SpreadBy by : both) {
                        CAPTURE(engine->name);
                        CAPTURE(exclude.first);
                        CAPTURE(k);
                        CAPTURE(devices);
                        CAPTURE(by);
                        CHECK(found({devices, by, 40'000}) == whole);  // of 90,000 bytes
                    }
            }
}

TEST_CASE("gpu: more devices than images") {
    if (!test::have_gpu()) return;
    const test::Rows points = test::random_rows(5, 12, 3, 3), queries = test::random_rows(9, 12, 4, 3);
    for (const Engine* engine : engines_here())
        for (const SpreadBy by : both)
            for (const int k : {1, 5})
                CHECK(found_by(*engine, points, queries, k, {8, by}) == right(points, queries, k));
}

TEST_CASE("gpu: votes and evidence of several devices are those of one") {
    if (!test::have_gpu()) return;
    const test::Rows points = test::random_rows(3'000, 40, 5, 4),
                     queries = test::random_rows(1'111, 40, 6, 4);
    std::vector<std::uint8_t> labels(3'000);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint8_t>(i * 7 % 10);
    for (const Engine* engine : engines_here()) {
        const auto classified = [&](const Spread& spread) {
            const Plan plan = plan_for(*engine, {points.n, queries.n, points.dim, 7}, spread);
            Index classifier(Training{view(points), labels}, {.vote = {.k = 7}}, {engine, plan, ""});
            return classifier.search(view(queries));
        };
        const Results one = classified({1, SpreadBy::automatic});
        for (const SpreadBy by : both)
            for (const std::int64_t batch : {0, 100}) {
                const Results found = classified({3, by, 0, batch});
                CHECK(found.neighbors.rows == one.neighbors.rows);
                CHECK(found.votes == one.votes);
                REQUIRE(found.evidence.size() == one.evidence.size());
                for (std::size_t q = 0; q < one.evidence.size(); ++q) {
                    CHECK(found.evidence[q].distance == one.evidence[q].distance);
                    CHECK(found.evidence[q].margin == one.evidence[q].margin);
                }
            }
    }
}

// A part is uploaded while another is searched, here by many launches: a small copy may come after the kernel that reads
// it, if nothing makes the kernel wait.
TEST_CASE("gpu: parts are transformed by the tables of their own transform, many times") {
    if (!test::have_gpu()) return;
    const test::Rows points = test::random_rows(5'390, 784, 3, 256),
                     queries = test::random_rows(184, 784, 4, 256);
    const std::vector<std::uint8_t> labels(5'390);
    const auto found_by = [&](const char* name, double sigma) {
        const Engine& engine = *find_engine(name);
        Method method{.vote = {.k = 825}};
        method.transform.steps = {{TransformKind::blur, sigma}};
        const Training training{.rows = view(points), .labels = labels, .shape = {28, 28}};
        Plan plan{.engine = name, .device = engine.on_gpu ? devices(1).front() : cpu_device()};
        if (engine.on_gpu) {
            plan.select = "bitonic_single";
            plan.batch = 129;
            plan.memory = std::ssize(points.pixels) / 3;
        }
        REQUIRE(!engine.settle(method.problem(training, queries.n), plan));
        Index classifier(training, method, {&engine, plan, ""});
        return classifier.search(view(queries)).neighbors.rows;
    };
    constexpr double sigmas[] = {1, 1.1};  // tables of one size: what was there before is the other's
    const Uninitialized<Neighbor> expected[] = {found_by("cpu", sigmas[0]), found_by("cpu", sigmas[1])};
    for (int i = 0; i < 100; ++i)
        CHECK(found_by("classic", sigmas[i % 2]) == expected[i % 2]);
}

TEST_CASE("gpu: links are told for each pair, and NCCL or why there is none") {
    if (!test::have_gpu()) return;
    const std::size_t n = gpu::devices().size();
    const std::vector<DeviceLink> links = gpu::links();
    REQUIRE(links.size() == n * (n - 1) / 2);
    for (const DeviceLink& link : links) {
        CHECK(link.from < link.to);
        CHECK(link.to < static_cast<int>(n));
        CHECK(link.performance_rank >= 0);
    }
    std::string why_none;
    CHECK(gpu::nccl_version(why_none).empty() == !why_none.empty());
}

}  // namespace knn
