// Rows that are not uint8 on GPUs, and more neighbors than the kernels for few of them find, against the engine `cpu`, bit for bit.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "classifier/index.h"
#include "classifier/sharded.h"
#include "data/synthetic/synthetic.h"
#include "tests/gpu/searched.h"
#include "tests/support/mnist.h"
#include "tests/support/real_oracle.h"

namespace knn {

namespace {

const std::vector<Measure> measures = {
    {Metric::l2, 2, true}, {Metric::l1, 2, true}, {Metric::cosine, 2, true}, {Metric::pearson, 2, true}};

/// Those of the first GPU that answer such a problem.
std::vector<const Engine*> engines_for(const test::Request& request) {
    std::vector<const Engine*> some;
    for (const Engine* engine : test::engines_here())
        if (request.k <= engine->can.max_k && !test::refuse(*engine, request)) some.push_back(engine);
    return some;
}

struct Searched {
    Neighbors neighbors;
    Timeline timeline;
    bool ran(const std::string& stage) const {
        return std::ranges::count(timeline.stages(), stage, &Stage::name) > 0;
    }
};

Searched searched(const Engine& engine, const test::Request& request, const Queries& queries) {
    Searched result;
    const auto index = test::opened(engine, request, result.timeline);
    result.neighbors = nearest_of(*index, queries, request.k, result.timeline, {});
    return result;
}

/// CHECKs each engine, and returns how many searches had exact distances from the device.
int check_reals(const Rows& train, const Queries& queries, int k, const Measure& measure,
                std::int64_t batch = 0) {
    const test::Request request{
        .train = train, .query = queries.rows, .k = k, .measure = measure, .batch = batch};
    CAPTURE(request);
    const Neighbors right = search_on_cpu(train, queries, k, measure);
    int filtered = 0;
    for (const Engine* engine : engines_for(request)) {
        CAPTURE(std::string(engine->name));
        const Searched found = searched(*engine, request, queries);
        CHECK(found.neighbors.rows == right.rows);
        filtered += found.ran("exact");
    }
    return filtered;
}

}  // namespace

GPU_TEST_CASE("gpu: reals: hostile sets, every metric, with themselves and with others") {
    int filtered = 0;
    for (const ElementType type : {ElementType::int8, ElementType::float32, ElementType::float64})
        for (const test::RealSet& set : test::hostile_real_sets(type)) {
            CAPTURE(set.name);
            const Rows rows = set.rows();
            for (const Measure& measure : measures) {
                if (refuse_elements(measure, magnitude_of(rows), rows.dim)) continue;
                const int k = set.dim % 2 == 0 ? 1 : 7;
                // So few that none are sampled: bytes may prove nothing.
                filtered += check_reals(rows.first(1400), rows.slice(100, 60), k, measure);
                filtered += check_reals(rows, Queries::some_of(rows, 100, 150), k, measure);
            }
        }
    CHECK(filtered > 200);
}

GPU_TEST_CASE("gpu: reals: the device proves all answers where bytes suffice") {
    for (const ElementType type : {ElementType::int8, ElementType::float32, ElementType::float64})
        for (const std::int64_t dim : {9, 40}) {
            const test::RealSet set = test::normal_set(2'100, dim, 7, 0, type);
            const Rows train = set.rows().first(2'000), query = set.rows().slice(2'000, 100);
            for (const Measure& measure : measures) {
                const test::Request request{.train = train, .query = query, .k = 7, .measure = measure};
                CAPTURE(request);
                for (const Engine* engine : engines_for(request)) {
                    const Searched found = searched(*engine, request, query);
                    CHECK(found.neighbors.rows == test::nearest_reals(train, query, 7, measure).rows);
                    CHECK(found.ran("bytes"));
                    CHECK(found.ran("exact"));
                    CHECK_FALSE(found.ran("refine"));
                    CHECK_FALSE(found.ran("all_pairs"));
                }
            }
        }
}

GPU_TEST_CASE("gpu: reals: any k, and the whole set with itself") {
    const test::RealSet set = test::normal_set(2'311, 83, 11, 5);
    const Rows rows = set.rows();
    for (const Measure& measure : measures) {
        for (const int k : {1, 2, 33, 500, 992, 993, 1'024, 1'025, 2'200})
            check_reals(rows, Queries::some_of(rows, 7, 301), k, measure, k == 33 ? 50 : 0);
        CHECK(check_reals(rows, Queries::all_of(rows), 6, measure) > 0);
        check_reals(rows.first(2'310), Queries(rows.slice(5, 140)), 2'310, measure);
    }
}

GPU_TEST_CASE("gpu: reals: queries far outside of the range of the training set") {
    for (const ElementType type : {ElementType::float32, ElementType::float64}) {
        const test::RealSet set = test::normal_set(1'500, 20, 3, 0, type);
        std::vector<double> far;
        for (int i = 0; i < 200; ++i)
            for (int j = 0; j < 20; ++j)
                far.push_back(j == i % 20 && i % 3 > 0 ? (i % 2 == 0 ? 1e3 : -1e20) : 0.3 * j);
        const test::RealSet queries = test::real_set("far", far, 20, type);
        for (const Measure& measure : measures)
            check_reals(set.rows(), queries.rows(), 5, measure);
    }
}

GPU_TEST_CASE("gpu: reals: random problems") {
    std::mt19937_64 random(21);
    const auto upto = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n) + 1; };
    for (int i = 0; i < 60; ++i) {
        CAPTURE(i);
        const std::int64_t n = i % 5 == 0 ? upto(40) : 1'000 + upto(3'000),
                           dim = upto(i % 7 == 0 ? 1'200 : 90);
        const auto type =
            std::array{ElementType::int8, ElementType::float32, ElementType::float64}[random() % 3];
        const test::RealSet set =
            test::normal_set(n + 200, dim, random(), static_cast<int>(random() % 3) * 4, type);
        const int k = static_cast<int>(std::min<std::int64_t>(upto(40), n));
        check_reals(set.rows().first(n), set.rows().slice(n, upto(200)), k, measures[random() % 4],
                    random() % 2 == 0 ? 0 : upto(100));
    }
}

GPU_TEST_CASE("gpu: reals: one index answers searches of any size") {
    const test::RealSet set = test::normal_set(1'700, 31, 12, 4);
    const Rows rows = set.rows(), train = rows.first(1'500);
    const test::Request request{.train = train, .query = train, .measure = measures[0]};
    for (const Engine* engine : engines_for(request)) {
        Timeline timeline;
        const auto index = test::opened(*engine, request, timeline);
        for (const auto& [n, k] : {std::pair{1, 3}, {5, 3}, {150, 3}, {1, 40}, {200, 40}, {130, 3}})
            for (const Queries& queries : {Queries(rows.slice(1'500, n)), Queries::some_of(train, 20, n)})
                CHECK(nearest_of(*index, queries, k, timeline, {}).rows ==
                      search_on_cpu(train, queries, k, measures[0]).rows);
        CHECK(nearest_of(*index, Queries(rows.slice(0, 0)), 3, timeline, {}).rows.empty());
        CHECK(nearest_of(*index, Queries::all_of(train), 3, timeline, {}).rows ==
              search_on_cpu(train, Queries::all_of(train), 3, measures[0]).rows);
    }
}

GPU_TEST_CASE("gpu: reals: votes, and features of images that are reals") {
    const test::Rows images = test::random_rows(1'600, 64, 5, 7);
    const std::vector<std::uint8_t> labels = test::labels_for(1'500);
    const Rows rows = images;
    for (const char* transform : {"minmax", "zscore"})
        for (const Weights weights : {Weights::uniform, Weights::distance}) {
            test::Request request{.train = rows.first(1'500), .query = rows.slice(1'400, 200)};
            request.train_labels = labels;
            request.weights = weights;
            request.transform = parse_transform("--transform", transform);
            request.shape = {8, 8};
            const Results right = test::search_on_cpu(request);
            for (const Engine* engine : engines_for(request)) {
                const Results found = test::search(*engine, request);
                CHECK(found.neighbors.rows == right.neighbors.rows);
                CHECK(found.votes == right.votes);
                CHECK(found.confidence_features == right.confidence_features);
            }
        }
}

GPU_TEST_CASE("gpu: reals: several devices, and parts that fit the memory") {
    const test::RealSet set = test::normal_set(6'000, 24, 13, 5);
    const Rows rows = set.rows();
    const Queries own = Queries::some_of(rows, 2'900, 400);
    for (const Measure& measure : {measures[0], measures[2]}) {
        const Neighbors right = search_on_cpu(rows, own, 9, measure);
        for (const Engine* engine :
             engines_for({.train = rows, .query = own.rows, .k = 9, .measure = measure}))
            for (const Placement by : {Placement::replicate, Placement::shard})
                for (const std::int64_t memory : {std::int64_t{0}, rows.bytes() / 2}) {
                    Plan plan{.engine = engine->name, .device = gpu::devices().front()};
                    REQUIRE(!engine->configure({rows.count, 400, rows.dim, 9, measure, rows.type}, plan));
                    plan.devices.assign(memory > 0 ? 0 : 2, plan.device);
                    plan.placement = by;
                    plan.memory = memory;
                    Timeline timeline;
                    Sharded sharded(*engine, {rows, {}}, measure, plan, nullptr, timeline);
                    Neighbors found(400, 9);
                    sharded.top_k({.queries = own, .k = 9}, {found.rows}, 400, timeline, {});
                    CHECK(found.rows == right.rows);
                }
    }
}

GPU_TEST_CASE("gpu: reals: lp is refused in a line, and wrong elements are") {
    const test::RealSet set = test::normal_set(40, 5, 1);
    for (const Engine* engine : test::engines_here()) {
        CHECK(test::refuse(*engine, {.train = set.rows(), .query = set.rows(), .measure = {Metric::lp, 3}}) ==
              "GPUs search rows of float32 by all metrics but lp");
        const test::RealSet bad = test::real_set("", {1, 2, 3, std::nan("")}, 2);
        const test::Request request{.train = bad.rows(), .query = bad.rows(), .k = 1, .measure = measures[0]};
        CHECK_THROWS_AS(searched(*engine, request, bad.rows()), std::invalid_argument);
    }
}

GPU_TEST_CASE("gpu: up to 16,384 neighbors, with votes") {
    const test::Rows points = test::random_rows(17'001, 40, 3, 9), others = test::random_rows(700, 40, 4, 9);
    const std::vector<std::uint8_t> labels = test::labels_for(17'001, 30);
    std::vector<std::string> selectors = {"", "bitonic_single", "segmented_sort", "index_sort"};
    for (const int k : {1'025, 5'000, 16'384})
        for (const std::string& select : selectors)
            for (const Measure& measure : {Measure{}, Measure{Metric::l1}}) {
                test::Request request{.train = points, .query = others, .train_labels = labels, .k = k};
                request.measure = measure;
                request.weights = select.empty() ? Weights::distance : Weights::uniform;
                request.select = select;
                if (!select.empty()) request.query = request.query.first(33);
                CAPTURE(request);
                const Results found = test::search(test::classic, request);
                request.select.clear();
                const Results right = test::search_on_cpu(request);
                CHECK(found.neighbors.rows == right.neighbors.rows);
                CHECK(found.votes == right.votes);
            }
    const test::Request request{.train = points, .query = others, .k = 1'025, .select = "multiselect"};
    CHECK(test::refuse(test::classic, request) == "multiselect finds at most 1,024 neighbors");
    // A search for more neighbors than the plan was made for, as those within a range.
    Timeline timeline;
    test::Request fewer = request;
    fewer.k = 5;
    const auto index = test::opened(test::classic, fewer, timeline);
    for (const int k : {5, 1'500, 7})
        CHECK(nearest_of(*index, request.queries(), k, timeline, {}).rows ==
              search_on_cpu(points, request.queries(), k, {}).rows);
    const Queries own = Queries::some_of(points, 500, 60);
    const Rows few = test::view(points).first(9'000);  // rows of one cluster
    CHECK(searched(test::classic, {.train = few, .query = own.rows, .k = 8'999}, own).neighbors.rows ==
          search_on_cpu(few, own, 8'999, {}).rows);
    const test::Rows many = test::random_rows(140'000, 4, 8);  // rows in a workspace
    const test::Rows three = test::random_rows(3, 4, 9);
    CHECK(searched(test::classic, {.train = many, .query = three, .k = 16'384}, test::view(three))
              .neighbors.rows == search_on_cpu(many, test::view(three), 16'384, {}).rows);
}

namespace {

/// Prints the medians of 11 searches: all kernels, and each stage.
void measure(const char* set, const Rows& train, const Rows& query, const Measure& measure) {
    for (const Engine* engine : engines_for({.train = train, .query = query, .measure = measure})) {
        const test::Request request{.train = train, .query = query, .measure = measure};
        Timeline opening;
        const auto index = test::opened(*engine, request, opening);
        constexpr std::size_t warm_up = 2;
        std::vector<Timeline> runs(warm_up + 11);
        for (Timeline& one : runs)
            nearest_of(*index, query, request.k, one, {});
        const auto median = [&](const auto& of) {
            std::vector<double> all;
            for (std::size_t i = warm_up; i < runs.size(); ++i)
                all.push_back(of(runs[i]));
            std::ranges::sort(all);
            return all[all.size() / 2];
        };
        std::printf("%s, %s, %s: kernels %.3f ms", set, engine->name, name(measure.metric),
                    median([](const Timeline& one) { return one.kernels_ms(); }));
        for (std::size_t stage = 0; stage < runs.back().stages().size(); ++stage)
            std::printf(", %s %.3f", runs.back().stages()[stage].name.c_str(),
                        median([&](const Timeline& one) { return one.stages().at(stage).total_ms; }));
        std::printf("\n");
    }
}

}  // namespace

// 10,000 × 60,000 × 784 float32, k = 5.
TEST_CASE("gpu: measured: floats" * doctest::skip()) {
    if (!test::have_gpu()) return;
    const bool is_mnist = !test::mnist_folder().empty();
    const Dataset digits = is_mnist ? test::mnist() : synthetic_digits({.n_train = 60'000, .n_test = 10'000});
    const auto floats = [](const LabeledImages& images) {
        const Rows rows = images.images();
        std::vector<float> all;
        for (const std::uint8_t pixel : std::span(rows.pixels, static_cast<std::size_t>(rows.bytes())))
            all.push_back(static_cast<float>(pixel) / 255);
        return all;
    };
    const std::vector<float> train = floats(digits.train), query = floats(digits.test);
    const auto rows_of = [](const std::vector<float>& all) {
        return Rows{reinterpret_cast<const std::uint8_t*>(all.data()), std::ssize(all) / 784, 784,
                    ElementType::float32};
    };
    for (const Measure& one : measures)
        measure(is_mnist ? "MNIST / 255" : "synthetic digits / 255", rows_of(train), rows_of(query), one);
}

// The same number of rows that bytes tell less well apart.
TEST_CASE("gpu: measured: normally distributed floats" * doctest::skip()) {
    if (!test::have_gpu()) return;
    const test::RealSet normal = test::normal_set(70'000, 784, 1);
    measure("normal", normal.rows().first(60'000), normal.rows().slice(60'000, 10'000), measures[0]);
}

}  // namespace knn
