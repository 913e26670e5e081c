// Several GPUs of one process against plain loops. On a machine with one GPU it is named several times.

#include <doctest/doctest.h>

#include "tests/gpu/searched.h"
#include "tests/support/images.h"
#include "tests/support/sharded.h"

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

struct Spread {
    std::size_t devices = 2;
    Placement by = Placement::shard;
    std::int64_t memory = 0, batch = 0;
};

Plan plan_for(const Engine& engine, const Problem& problem, const Spread& spread) {
    Plan plan{.engine = engine.name, .device = devices(1).front()};
    plan.batch = spread.batch;
    REQUIRE(!engine.configure(problem, plan));
    if (spread.devices > 1) plan.devices = devices(spread.devices);
    plan.placement = spread.by;
    plan.memory = spread.memory;
    return plan;
}

}  // namespace

GPU_TEST_CASE("gpu: several devices and parts find what plain loops find") {
    // Few values: duplicates and equal distances within parts and across them; sizes that do not divide.
    const test::Rows points = test::repeated(test::random_rows(677, 30, 3, 3), 3),
                     twins = test::repeated(test::random_rows(1'500, 30, 3, 4), 2);
    std::vector<test::Searched> all = {
        {points, test::random_rows(211, 30, 4, 3), {1, 33, 700}},  // 700: more than a part has
        {test::random_rows(5, 12, 3, 3),
         test::random_rows(9, 12, 4, 3),
         {1, 5}}};  // more devices than images
    for (const auto& [exclude, n] : {std::pair<Exclude, std::int64_t>{{.first = 0}, 3'000},
                                     {{.first = 700}, 900},
                                     {{0, 3'000, 170}, 170}})
        all.push_back({twins, test::taken(twins, exclude, n), {1, 10, 300}, exclude});
    for (const test::Searched& searched : all) {
        const std::int64_t bytes = std::ssize(searched.points.pixels);
        const Neighbors expected = searched.expected();
        for (const int k : searched.ks)
            for (const Engine* engine : test::engines_here())
                for (const std::size_t count : {1, 2, 5, 8})
                    for (const Placement by : test::both_placements)
                        for (const std::int64_t memory : {std::int64_t{0}, bytes > 1'000 ? bytes / 3 : 0})
                            for (const std::int64_t batch : {0, 50}) {
                                const Problem problem{searched.points.n, searched.queries.n,
                                                      searched.points.dim, k};
                                const Plan plan = plan_for(*engine, problem, {count, by, memory, batch});
                                test::check_found(*engine, searched, expected, k, plan);
                            }
    }
}

GPU_TEST_CASE("gpu: votes and evidence of several devices are those of one") {
    const test::Rows points = test::random_rows(3'000, 40, 5, 4),
                     queries = test::random_rows(1'111, 40, 6, 4);
    const std::vector<std::uint8_t> labels = test::labels_for(3'000);
    for (const Engine* engine : test::engines_here()) {
        const auto classified = [&](const Spread& spread) {
            const Plan plan = plan_for(*engine, {points.n, queries.n, points.dim, 7}, spread);
            Index classifier(Training{test::view(points), labels}, {.vote = {.k = 7}}, {engine, plan, ""});
            return classifier.search(test::view(queries));
        };
        const Results one = classified({1, Placement::automatic});
        for (const Placement by : test::both_placements)
            for (const std::int64_t batch : {0, 100})
                test::check_same(classified({3, by, 0, batch}), one);
    }
}

// A part is uploaded while another is searched, here by many launches: a small copy may come after the kernel that reads
// it, if nothing makes the kernel wait.
GPU_TEST_CASE("gpu: parts are transformed by the tables of their own transform, many times") {
    const test::Rows points = test::random_rows(5'390, 784, 3, 256),
                     queries = test::random_rows(184, 784, 4, 256);
    const std::vector<std::uint8_t> labels(5'390);
    const auto found_by = [&](const char* name, double sigma) {
        const Engine& engine = *find_engine(name);
        Method method{.vote = {.k = 825}};
        method.transform.steps = {{TransformKind::blur, sigma}};
        const Training training{.rows = test::view(points), .labels = labels, .shape = {28, 28}};
        Plan plan{.engine = name, .device = engine.on_gpu ? devices(1).front() : cpu_device()};
        if (engine.on_gpu) {
            plan.select = "bitonic_single";
            plan.batch = 129;
            plan.memory = std::ssize(points.pixels) / 3;
        }
        REQUIRE(!engine.configure(method.problem(training, queries.n), plan));
        Index classifier(training, method, {&engine, plan, ""});
        return classifier.search(test::view(queries)).neighbors.rows;
    };
    constexpr double sigmas[] = {1, 1.1};  // tables of one size: what was there before is the other's
    const Uninitialized<Neighbor> expected[] = {found_by("cpu", sigmas[0]), found_by("cpu", sigmas[1])};
    for (int i = 0; i < 100; ++i)
        CHECK(found_by("classic", sigmas[i % 2]) == expected[i % 2]);
}

GPU_TEST_CASE("gpu: links are told for each pair, and NCCL or why there is none") {
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
