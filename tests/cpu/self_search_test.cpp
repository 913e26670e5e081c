// A training set that is searched with itself: each distance is computed once, for both images.

#include "cpu/self_search.h"

#include "cpu/kernels/kernels.h"
#include "tests/support/points.h"
#include "tests/support/search.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace knn {
namespace {

constexpr std::array measures{Measure{Metric::l2},      Measure{Metric::l1},     Measure{Metric::lp, 0.5},
                              Measure{Metric::lp, 1.5}, Measure{Metric::cosine}, Measure{Metric::pearson}};

test::Request request_for(const test::Rows& points, int k, bool excludes) {
    return {.train = points, .query = points, .k = k, .exclude = {.first = excludes ? 0 : -1}};
}

/// The neighbors; checks whether each distance was computed once, or for each of both images.
Neighbors search(const test::Request& request, bool once = true) {
    Timeline timeline;
    const auto index = test::opened(*find_engine("cpu"), request, timeline);
    Neighbors found(request.query.count, request.k);
    const std::int64_t batch =
        index->top_k({.queries = request.queries(), .k = request.k}, {found.rows}, timeline, {});
    const auto n = static_cast<double>(request.train.count), dim = static_cast<double>(request.train.dim);
    const auto block = static_cast<double>(batch);
    for (const Stage& stage : timeline.stages())
        if (stage.name == "distance") {
            if (once)
                CHECK(stage.operations <= n * (n + block) * dim);
            else
                CHECK(stage.operations == 2 * n * n * dim);
        }
    return found;
}

/// By all pairs, as the queries are a copy.
Neighbors by_all_pairs(test::Request request) {
    const std::vector<std::uint8_t> copy(request.query.pixels,
                                         request.query.pixels + request.query.count * request.query.dim);
    request.query.pixels = copy.data();
    return search(request, false);
}

TEST_CASE("cpu::self: the oracle's neighbors by every instruction set and metric, size, k and threads") {
    std::vector<std::pair<test::Rows, Measure>> sets;
    for (const auto& [n, dim, levels] : {std::array{13, 5, 256},
                                         {47, 784, 256},
                                         {49, 2, 1},
                                         {97, 3, 2},
                                         {150, 70, 256},
                                         {200, 1, 3},
                                         {331, 9, 4}})
        sets.emplace_back(test::random_rows(n, dim, 91, levels), Measure{});
    for (const int levels : {256, 2}) {
        test::Rows points = test::random_rows(301, 30, 92, levels);  // some of them blank
        std::fill_n(points.pixels.begin(), 30, std::uint8_t{0});
        std::fill_n(points.pixels.begin() + 100 * 30, 110 * 30, std::uint8_t{0});
        for (const Measure& measure : measures)
            sets.emplace_back(points, measure);
    }
    test::EveryThird combination;
    for (const auto& set : sets)
        for (const bool excludes : {true, false}) {
            const test::Rows& points = set.first;
            const Measure& measure = set.second;
            if (!excludes && measure.metric != Metric::l2) continue;
            const auto most = static_cast<int>(points.n - 1);
            test::Request request = request_for(points, most, excludes);
            request.measure = measure;
            request.batch = 1;  // blocks as small as the kernel's tiles allow
            const Neighbors all = test::right(points, points, most, request.exclude, measure);
            for (const int k : {1, 7, most / 2, most})
                for (const std::string& name : cpu::instruction_sets())
                    for (request.threads = 1; request.threads <= 4; ++request.threads) {
                        if (!combination.runs()) continue;
                        const test::Isa isa(name);
                        request.k = k;
                        CAPTURE(name);
                        CAPTURE(request);
                        CHECK(search(request).rows == all.first(k).rows);
                    }
        }
}

TEST_CASE("cpu::self: all pairs have the same neighbors, with ties and without") {
    for (const auto& [n, dim, levels] :
         {std::array{900, 100, 256}, {2'001, 6, 2}, {1'000, 2, 1}, {200, 20'000, 256}}) {
        const test::Rows points = test::random_rows(n, dim, 93, levels);
        for (const Measure& measure : measures) {
            if (measure.metric == Metric::lp && dim > 1'000) continue;  // slow
            test::Request request = request_for(points, 11, true);
            request.measure = measure;
            const Neighbors right = by_all_pairs(request);
            for (const int threads : {1, 2, 5, 40}) {
                request.threads = threads;
                CAPTURE(request);
                CHECK(search(request).rows == right.rows);
            }
        }
    }
}

TEST_CASE("cpu::self: only the training set itself, within the memory for lists of all images") {
    const auto suits = [](const Rows& train, const Queries& queries, int k, const Measure& measure = {}) {
        cpu::Resident resident{train, measure, cpu::chosen_kernel(cpu::arithmetic_of(measure)),
                               Plan{.threads = 2}};
        return cpu::SelfSearch::suits(resident, queries, k);
    };
    const std::uint8_t pixel = 0;
    const Rows train{&pixel, 60'000, 784};  // sizes alone are read
    const Queries all = Queries::all_of(train);
    CHECK(suits(train, all, 10));
    CHECK_FALSE(suits(train, train, 10));
    CHECK_FALSE(suits(train, all.slice(0, 59'999), 10));
    CHECK_FALSE(suits(train, Queries::some_of(train, 1, 59'999), 10));
    CHECK_FALSE(suits(train, all, 1'024));  // lists of 983 MB
    CHECK(suits(train, all, 10, {Metric::lp, 2}));
    CHECK_FALSE(suits(train, all, 10, {Metric::lp, 2.1}));
    Queries themselves = Rows{&pixel, 4'000'000'000, 60'000};
    themselves.is_training_set = true;
    CHECK_FALSE(suits(themselves.rows, themselves, 10));
}

TEST_CASE("cpu::self: above the memory for lists all pairs are compared") {
    const test::Rows points = test::random_rows(17'000, 1, 94);
    const Neighbors found = search(request_for(points, 1'024, true), false);
    CHECK(found.row(0)[0].index != 0);
}

TEST_CASE("cpu::BlockPairs: each pair once, row by row, and columns in order") {
    cpu::BlockPairs pairs(5);
    std::vector<cpu::BlockPair> taken;
    while (const auto pair = pairs.next())
        taken.push_back(*pair);
    REQUIRE(taken.size() == 15);
    std::size_t i = 0;
    for (std::int64_t row = 0; row < 5; ++row)
        for (std::int64_t column = row; column < 5; ++column, ++i) {
            CHECK(taken[i].row == row);
            CHECK(taken[i].column == column);
            CHECK(pairs.reached(row, column));
            CHECK_FALSE(pairs.reached(row + 1, column));
            pairs.end(taken[i]);
        }
}

}  // namespace
}  // namespace knn
