#include "gpu/engines/engines.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "tests/gpu/have_gpu.h"
#include "tests/gpu/searched.h"
#include "tests/support/battery.h"
#include "tests/support/rerank_images.h"

namespace knn {

namespace {

/// The battery with these strategies, l2 and these other measures.
void check_battery(const char* engine, const std::string& distance, const std::string& select,
                   const std::vector<Measure>& measures) {
    const auto named = [&](test::Request request) {
        request.distance = distance;
        request.select = select;
        return request;
    };
    test::check_engine(
        std::string(engine) + " with " + distance + select,
        [&](const test::Request& request) { return test::search(*find_engine(engine), named(request)); },
        [&](const test::Request& request) { return test::refuse(*find_engine(engine), named(request)); },
        measures);
}

/// The battery's other measures with one of these metrics.
std::vector<Measure> measures_of(std::initializer_list<Metric> metrics) {
    std::vector<Measure> some;
    for (const Measure& measure : test::other_measures())
        if (std::find(metrics.begin(), metrics.end(), measure.metric) != metrics.end())
            some.push_back(measure);
    return some;
}

/// What one index answers with a vote on the device.
std::pair<Neighbors, std::vector<Vote>> voted(DeviceIndex& index, const test::Request& request,
                                              Timeline& timeline) {
    const VotingRule rule = request.method().vote;
    Neighbors neighbors(request.query.count, rule.k);
    std::vector<Vote> votes(static_cast<std::size_t>(neighbors.n_query));
    index.top_k({.queries = request.queries(), .k = rule.k, .vote = &rule}, {neighbors.rows, votes}, timeline,
                {});
    return {neighbors, votes};
}

constexpr std::size_t n_distances = 10, n_selectors = 15;  // of the tables

}  // namespace

GPU_TEST_CASE("gpu: every distance kernel passes the battery") {
    REQUIRE(gpu::distance_kernels().size() == n_distances);
    for (const Strategy& distance : gpu::distance_kernels())
        if (distance.name == "float4")
            check_battery("classic", distance.name, "", measures_of({Metric::l1}));
        else if (distance.name != "gemm")
            check_battery("classic", distance.name, "", measures_of({Metric::l1, Metric::lp}));
        else if (test::have_cublas())
            check_battery("classic", distance.name, "", measures_of({Metric::cosine, Metric::pearson}));
        else
            test::skip(test::no_cublas);
}

GPU_TEST_CASE("gpu: every selector passes the battery") {
    REQUIRE(gpu::selectors().size() == n_selectors);
    for (const Strategy& select : gpu::selectors())
        check_battery("classic", "", select.name,
                      test::have_cublas() ? test::other_measures() : measures_of({Metric::l1, Metric::lp}));
}

TENSOR_TEST_CASE("gpu: every tensor kernel passes the battery") {
    int ran = 0;
    for (const Strategy& kernel : gpu::tensor_kernels()) {
        const test::Rows one = test::random_rows(1, 1, 1);
        const test::Request problem{.train = one, .query = one, .k = 1, .distance = kernel.name};
        if (const UnsupportedReason why = test::refuse(test::tensor, problem)) {
            MESSAGE(*why);
            continue;
        }
        ++ran;
        check_battery("tensor", kernel.name, "", {});
    }
    CHECK(ran == test::tensor_kernels_of(test::capability(), 1));
}

GPU_TEST_CASE("gpu: many batches in flight give what one batch gives") {
    const test::Rows train = test::random_rows(20'000, 101, 1, 6), query = test::random_rows(999, 101, 2, 6);
    const std::vector<std::uint8_t> labels = test::labels_for(20'000, 256);
    for (const Engine* engine : test::engines_here()) {
        test::Request problem{.train = train,
                              .query = query,
                              .train_labels = labels,
                              .k = 33,
                              .weights = Weights::distance,
                              .tie = Tie::nearest};
        const Results whole = test::search(*engine, problem);
        CHECK(test::wrong_queries(whole.neighbors, problem, 97) == 0);
        CHECK(test::wrong_votes(whole.neighbors, whole.votes, problem) == 0);
        for (const std::int64_t batch : {1, 2, 10, 333, 998, 999, 100'000}) {
            CAPTURE(batch);
            problem.batch = batch;
            const Results parts = test::search(*engine, problem);
            CHECK(parts.neighbors.rows == whole.neighbors.rows);
            CHECK(parts.votes == whole.votes);
            CHECK(parts.plan.batch <= batch);
        }
    }
}

GPU_TEST_CASE(
    "gpu: one searcher answers searches of any k and size, of its own images too, with and without a vote") {
    struct Search {
        std::int64_t n;
        int k;
        bool own = false;  ///< training images are searched for
        Exclude exclude = {};
    };
    const Exclude itself{.first = 0};
    std::vector<Search> searches = {{700, 5},
                                    {1, 5},
                                    {1, 9},
                                    {700, 9},
                                    {700, 9, true, itself},
                                    {2, 9, true, itself},
                                    {130, 1024, true, itself},
                                    {257, 40},
                                    {700, 1, true, itself},
                                    {0, 3},
                                    {700, 5}};
    for (const int k : {1, 10, 11, 3, 10})  // the whole set, between other searches of it
        for (const Exclude& exclude : {itself, Exclude{.first = 0, .n = 3, .m = 3}, Exclude{}}) {
            searches.push_back({5'000, k, true, exclude});
            searches.push_back({40, k});
        }
    for (const std::int64_t n_train : {257, 700, 5'000}) {
        const test::Rows train = test::random_rows(n_train, 60, 8, 12),
                         other = test::random_rows(700, 60, 9, 12);
        const std::vector<std::uint8_t> labels = test::labels_for(n_train);
        for (const Engine* engine : test::engines_here())
            for (const std::int64_t batch : {0, 300}) {
                const test::Request whole{
                    .train = train, .query = other, .train_labels = labels, .batch = batch};
                Timeline timeline;
                const auto searcher = test::opened(*engine, whole, timeline);
                for (const Search& next : searches) {
                    if (next.k >= n_train) continue;
                    const test::Rows& from = next.own ? train : other;
                    const test::Rows some = test::taken(from, {.first = 0}, std::min(next.n, from.n));
                    // A set that is searched with itself is the same memory.
                    test::Request part = whole;
                    part.query = next.own && next.n >= from.n ? train : some;
                    part.k = next.k;
                    part.exclude = next.exclude;
                    CAPTURE(part);
                    const Neighbors found = nearest_of(*searcher, part.queries(), next.k, timeline, {});
                    CHECK(test::wrong_queries(found, part, 1 + part.query.count / 20) == 0);
                    const auto [neighbors, votes] = voted(*searcher, part, timeline);
                    CHECK(neighbors.rows == found.rows);
                    CHECK(test::wrong_votes(found, votes, part) == 0);
                }
            }
    }
}

TENSOR_TEST_CASE("gpu: a small search does not wait for another search of the same index") {
    const test::Rows train = test::random_rows(5'000, 60, 8, 12), query = test::random_rows(9, 60, 9, 12);
    const test::Request large{.train = train, .query = train, .k = 7}, small{.train = train, .query = query};
    Timeline timeline;
    const auto index = test::opened(test::tensor, small, timeline);
    std::promise<void> begun, done;
    std::future_status waited = std::future_status::timeout;
    Neighbors of_large(large.train.count, large.k);
    std::thread other([&] {
        Timeline own;
        bool is_first = true;
        const auto hold = [&](const ResultBatch&) {
            if (!std::exchange(is_first, false)) return;
            begun.set_value();
            waited = done.get_future().wait_for(std::chrono::seconds(20));
        };
        index->top_k({.queries = large.queries(), .k = large.k, .on_batch = hold}, {of_large.rows}, own, {});
    });
    begun.get_future().wait();
    const Neighbors found = nearest_of(*index, small.queries(), small.k, timeline, {});
    done.set_value();
    other.join();
    CHECK(waited == std::future_status::ready);
    CHECK(test::wrong_queries(found, small) == 0);
    CHECK(test::wrong_queries(of_large, large, 97) == 0);
}

GPU_TEST_CASE("gpu: eight threads get the answers of one") {
    const test::Labeled train{{12, 9}, 3'000, 5, [](int i) { return i * 7 % 10; }};
    const std::vector<std::uint8_t> pixels = test::rerank_images(2'500, train.shape, 6);
    const Queries queries = Rows{pixels.data(), 2'500, train.shape.dim()};
    const std::pair<std::int64_t, int> sizes[] = {{1, 5}, {2, 33}, {40, 5}, {300, 1}, {2'500, 9}, {70, 128}};
    for (const Engine* engine : test::engines_here())
        for (const char* transform : {"raw", "deskew"}) {
            CAPTURE(engine->name);
            CAPTURE(transform);
            const Method method{.transform = parse_transform("--transform", transform)};
            Plan plan{.engine = engine->name, .device = {.kind = Device::Kind::gpu}};
            REQUIRE(!engine->configure(method.problem(train.training(), 2'500), plan));
            const Index index(train.training(), method, {engine, plan, ""});
            std::vector<Results> expected;
            for (const auto& [n, k] : sizes)
                expected.push_back(index.search(queries.slice(0, n), {.k = k}));
            std::atomic<int> wrong = 0;
            {
                std::vector<std::jthread> threads;
                for (std::size_t t = 0; t < 8; ++t)
                    threads.emplace_back([&, t] {
                        for (std::size_t i = 0; i < 30; ++i) {
                            const std::size_t j = (i + t) % std::size(sizes);
                            const auto [n, k] = sizes[j];
                            const Results found = index.search(queries.slice(0, n), {.k = k});
                            wrong += found.neighbors.rows != expected[j].neighbors.rows ||
                                     found.votes != expected[j].votes;
                        }
                    });
            }
            CHECK(wrong == 0);
        }
}

GPU_TEST_CASE("gpu: without labels there is no vote, and no more neighbors than other images") {
    const test::Rows rows = test::random_rows(50, 8, 1);
    Timeline timeline;
    const test::Request problem{.train = rows, .query = rows};
    for (const Engine* engine : test::engines_here()) {
        const auto unlabeled = test::opened(*engine, problem, timeline);
        CHECK_THROWS_AS(voted(*unlabeled, problem, timeline), DeviceError);
        CHECK_THROWS_AS(nearest_of(*unlabeled, Queries::all_of(rows), 50, timeline, {}),
                        std::invalid_argument);
        CHECK(test::wrong_queries(nearest_of(*unlabeled, problem.queries(), 5, timeline, {}), problem) == 0);
    }
}

// Each path of each kernel once, small enough for compute-sanitizer's racecheck: rows of one block, of a
// cluster of 1, 2 and 4 blocks, and of a workspace; images of one tile, of several, and with the carry into
// integers.
GPU_TEST_CASE("gpu: small problems on every path") {
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
        const std::vector<std::uint8_t> labels = test::labels_for(size.n_train);
        const test::Request problem{.train = train, .query = query, .train_labels = labels, .k = size.k};
        const Results found = test::search(test::classic, problem);
        CHECK(test::wrong_queries(found.neighbors, problem) == 0);
        CHECK(test::wrong_votes(found.neighbors, found.votes, problem) == 0);
    }
}

namespace {

/// One small problem with these strategies; if they refuse it, prints why. Returns whether it ran.
bool check_small_problem(const std::string& distance, const std::string& select) {
    static const test::Rows train = test::random_rows(700, 70, 1, 3), query = test::random_rows(3, 70, 2, 3);
    const test::Request problem{
        .train = train, .query = query, .k = 40, .distance = distance, .select = select};
    CAPTURE(problem);
    if (const UnsupportedReason why = test::refuse(test::classic, problem)) {
        MESSAGE("not run: " << *why);
        return false;
    }
    CHECK(test::wrong_queries(test::search(test::classic, problem).neighbors, problem) == 0);
    return true;
}

}  // namespace

GPU_TEST_CASE("gpu: small problem, every distance kernel and selector") {
    int ran = 0;
    for (const Strategy& distance : gpu::distance_kernels())
        ran += check_small_problem(distance.name, "");
    for (const Strategy& select : gpu::selectors())
        ran += check_small_problem("", select.name);
    CHECK(ran == static_cast<int>(n_distances + n_selectors) - !test::have_cublas());
}

GPU_TEST_CASE("gpu: every pair of distance kernel and selector on one problem") {
    int ran = 0;
    for (const Strategy& distance : gpu::distance_kernels())
        for (const Strategy& select : gpu::selectors())
            ran += check_small_problem(distance.name, select.name);
    CHECK(ran == static_cast<int>((n_distances - !test::have_cublas()) * n_selectors));
}

GPU_TEST_CASE("gpu: the timeline names the stages of each engine in order, and their kinds") {
    const test::Rows rows = test::random_rows(1'000, 20, 3);
    const std::vector<std::uint8_t> labels = test::labels_for(1'000);
    const test::Request problem{.train = rows, .query = rows, .train_labels = labels, .batch = 400};
    const auto check_stages = [](const Results& result, const std::vector<std::string>& expected) {
        std::vector<std::string> names;
        for (const Stage& stage : result.timeline.stages()) {
            names.push_back(stage.name);
            const bool copies = stage.name == "upload" || stage.name == "download";
            CHECK(stage.kind == (copies ? StageKind::copy : StageKind::kernel));
            CHECK(stage.total_ms > 0);
            CHECK(stage.launches == (stage.name == "upload" || stage.name == "expand" ? 4
                                     : stage.name == "arrange"                        ? 1
                                                                                      : 3));
        }
        CHECK(names == expected);
        CHECK(result.plan.batch == 400);
        CHECK(result.plan.threads == 1);
    };
    const Results classic = test::search(test::classic, problem);
    check_stages(classic, {"upload", "expand", "distance", "sort", "vote", "download"});
    CHECK(classic.plan.distance == "float4");
    if (!test::have_tensor_cores()) return;
    const Results fused = test::search(test::tensor, problem);
    check_stages(
        fused, {"upload", "arrange", "prepare", "sample", "search", "fold", "fallback", "vote", "download"});
    CHECK(fused.plan.select == "fused");
}

GPU_TEST_CASE("gpu: a stop is answered between batches, and the searcher can be used again") {
    const test::Rows rows = test::random_rows(1'000, 20, 3);
    for (const Engine* engine : test::engines_here()) {
        const test::Request problem{.train = rows, .query = rows, .batch = 10};
        Timeline timeline;
        const auto searcher = test::opened(*engine, problem, timeline);
        std::atomic<bool> stop = false;
        std::int64_t seen = 0;
        const ProgressToken token{[&](std::int64_t done, std::int64_t) {
                                      seen = done;
                                      stop = done >= 200;
                                  },
                                  &stop};
        CHECK_THROWS_AS(nearest_of(*searcher, problem.queries(), 5, timeline, token), Interrupted);
        CHECK(seen >= 200);
        CHECK(seen < 300);
        CHECK(test::wrong_queries(nearest_of(*searcher, problem.queries(), 5, timeline, {}), problem, 50) ==
              0);
    }
}

GPU_TEST_CASE("gpu: more queries at once than a grid holds become smaller batches") {
    const test::Rows train = test::random_rows(3, 4, 1), query = test::random_rows(600'000, 4, 2);
    test::Request problem{.train = train, .query = query, .k = 2, .batch = 600'000};
    for (const char* distance : {"gemm", "float4"}) {
        problem.distance = distance;
        if (test::refuse(test::classic, problem)) continue;  // without cuBLAS
        const Results result = test::search(test::classic, problem);
        CHECK(result.plan.batch < 524'281);
        CHECK(test::wrong_queries(result.neighbors, problem, 9'999) == 0);
    }
}

GPU_TEST_CASE(
    "gpu: an unknown strategy and a refused problem have reasons, and a missing device is an error") {
    const test::Rows rows = test::random_rows(10, 4, 3);
    test::Request problem{.train = rows, .query = rows, .distance = "flaot4"};
    CHECK(test::refuse(test::classic, problem).value().find("expected one of: float4, gemm") !=
          std::string::npos);
    CHECK(test::refuse(test::tensor, problem).value().find("there is no tensor kernel 'flaot4'") !=
          std::string::npos);
    problem.distance.clear();
    problem.select = "sort";
    CHECK(test::refuse(test::classic, problem).value().find("there is no selector 'sort'") !=
          std::string::npos);
    CHECK(test::refuse(test::tensor, problem).value().find("takes no other selector") != std::string::npos);
    problem.select.clear();
    problem.k = 11;
    for (const Engine* engine : test::engines_here())
        CHECK(test::refuse(*engine, problem).value().find("out of range") != std::string::npos);
    problem.k = 5;
    problem.distance = "gemm";
    problem.measure = {Metric::l1, 2};
    CHECK(test::refuse(test::classic, problem).value().find("gemm computes") != std::string::npos);
    Plan plan;
    plan.device.number = 99;
    for (const Engine* engine : test::engines_here())
        CHECK_THROWS_WITH_AS(engine->configure({10, 10, 4, 5}, plan), doctest::Contains("99"), DeviceError);
}

GPU_TEST_CASE("gpu: host memory can be filled before it is pinned, from several threads") {
    const auto memory = gpu::host_memory(0, true);
    std::pmr::memory_resource& pages = *memory->resource();
    std::byte* early = static_cast<std::byte*>(pages.allocate(100'000));
    early[99'999] = std::byte{42};
    memory->pin();
    std::byte* late = static_cast<std::byte*>(pages.allocate(5));
    late[4] = std::byte{1};
    memory->pin();
    CHECK(early[99'999] == std::byte{42});
    pages.deallocate(early, 100'000);
    pages.deallocate(late, 5);
}

}  // namespace knn
