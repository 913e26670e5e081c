/// The search by sketches: the same neighbors as by direct products, whatever is pruned.

#include "cpu/kernels/kernels.h"
#include "cpu/search.h"
#include "cpu/sketch_scanner.h"
#include "cpu/sketch_self_search.h"
#include "tests/support/battery.h"
#include "tests/support/hostile_sets.h"
#include "tests/support/points.h"
#include "tests/support/search.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace knn {
namespace {

std::int64_t launches_of(const Results& results, const std::string& stage) {
    std::int64_t sum = 0;
    for (const Stage& one : results.timeline.stages())
        if (one.name == stage) sum += one.launches;
    return sum;
}

TEST_CASE("cpu sketches: every instruction set answers the battery") {
    bool wide = false;
    std::vector<std::string> names = cpu::instruction_sets();
    if (test::has_sanitizer) names.resize(1);  // minutes each; the others differ in their intrinsics
    const auto refuse = [](const test::Request& request) -> UnsupportedReason {
        const bool slow =
            request.train.dim > 1024 || (request.train.dim > 256 && request.train.count % 5 != 0);
        if (test::has_sanitizer && slow)
            return "fitting takes seconds with sanitizers: every fifth size will do";
        return std::nullopt;
    };
    for (const std::string& name : names) {
        const test::Isa isa(name);
        wide = !wide;
        // Minutes for all: what differs by instruction set are the products, which have a battery of their own.
        std::vector<Measure> others;
        if (name == names.front()) others.push_back({Metric::pearson});
        if (name == names.front() && !test::has_sanitizer) others.push_back({Metric::cosine});
        test::check_engine(
            "cpu, sketches, " + name,
            [&](test::Request request) {
                request.sketch = wide ? SketchColumns::c128 : SketchColumns::c64;
                request.threads = wide ? 3 : 1;
                Results result = test::search_on_cpu(request);
                CHECK(launches_of(result, "sketch") == 1);
                CHECK(launches_of(result, "refine") >= request.k * request.query.count);
                return result;
            },
            refuse, others);
    }
}

TEST_CASE("cpu sketches: hostile sets, also searched with themselves") {
    for (const auto& set : test::hostile_sets()) {
        const test::Rows& rows = set.rows;
        CAPTURE(set.name);
        for (const int k : {1, 5, 299}) {
            if (k >= rows.n || (test::has_sanitizer && k == 5)) continue;
            for (const bool leaves_out : {false, true}) {
                const Exclude exclude{.first = leaves_out ? 0 : -1};
                test::Request request{.train = rows, .query = rows, .k = k, .exclude = exclude};
                request.query = request.query.first(300);
                const auto expected = test::right(rows, request.query, k, exclude).rows;
                for (const SketchColumns columns : {SketchColumns::automatic, SketchColumns::off,
                                                    SketchColumns::c64, SketchColumns::c128}) {
                    if (test::has_sanitizer &&
                        columns != (leaves_out ? SketchColumns::c64 : SketchColumns::c128))
                        continue;
                    CAPTURE(columns);
                    request.sketch = columns;
                    request.threads = 1 + k % 3;
                    CHECK(test::search_on_cpu(request).neighbors.rows == expected);
                }
            }
        }
    }
}

TEST_CASE("cpu sketches: hostile sets by cosine and pearson, whose directions are sketched") {
    int i = 0;
    for (const auto& set : test::hostile_sets())
        for (const Metric metric : {Metric::cosine, Metric::pearson}) {
            const test::Rows& rows = set.rows;
            CAPTURE(set.name);
            CAPTURE(metric);
            const int k = ++i % 2 == 0 || rows.n < 10 ? 1 : 9;
            if (k >= rows.n || (test::has_sanitizer && rows.dim > 512)) continue;
            test::Request request{.train = rows, .query = rows, .k = k, .exclude = {.first = -(i % 2)}};
            request.measure = {metric};
            for (const std::int64_t n :
                 {rows.n, std::min<std::int64_t>(rows.n, 60)}) {  // in itself, and by a scanner
                request.query = knn::Rows(rows).first(n);
                request.sketch = SketchColumns::off;
                const Results direct = test::search_on_cpu(request);
                request.sketch = i % 4 < 2 ? SketchColumns::c64 : SketchColumns::c128;
                const Results found = test::search_on_cpu(request);
                CHECK(launches_of(found, "sketch") == 1);
                CHECK(found.neighbors.rows == direct.neighbors.rows);
            }
        }
}

/// Rows around `centers` different ones, or noise.
test::Rows clustered(std::int64_t n, std::int64_t dim, std::uint64_t seed, std::int64_t centers) {
    test::Rows rows = test::random_rows(n, dim, seed), middle = test::random_rows(centers, dim, 4);
    for (std::size_t i = 0; i < rows.pixels.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(dim) % static_cast<std::size_t>(centers);
        rows.pixels[i] = static_cast<std::uint8_t>(
            middle.pixels[row * static_cast<std::size_t>(dim) + i % static_cast<std::size_t>(dim)] / 2 +
            rows.pixels[i] / 16);
    }
    return rows;
}

TEST_CASE("cpu sketches: hostile sets in themselves, of several groups") {
    auto sets = test::hostile_sets(3);
    sets.push_back({"a last group of fewer than k", test::random_rows(390, 60, 6, 9)});
    int i = 0;
    for (const auto& set : sets) {
        const test::Rows& rows = set.rows;
        if (test::has_sanitizer && rows.dim > 512) continue;
        for (const int k : {1, 15}) {
            if (k >= rows.n || (test::has_sanitizer && k == 5)) continue;
            CAPTURE(set.name);
            CAPTURE(k);
            test::Request request{.train = rows, .query = rows, .k = k, .exclude = {.first = ++i % 2 - 1}};
            request.threads = 1 + i % 3;
            request.sketch = SketchColumns::off;
            const Results direct = test::search_on_cpu(request);
            CHECK(launches_of(direct, "sketch") == 0);
            request.sketch = i % 4 < 2 ? SketchColumns::c64 : SketchColumns::c128;
            const Results found = test::search_on_cpu(request);
            CHECK(launches_of(found, "sketch") == 1);
            CHECK(found.neighbors.rows == direct.neighbors.rows);
        }
    }
}

TEST_CASE("cpu sketches: a set in itself is given up if its pairs are not pruned") {
    const test::Rows noise = test::random_rows(1'000, 300, 5), near = clustered(1'000, 300, 1, 100);
    const ProgressToken token;
    Timeline timeline;
    cpu::Team team(1, token, 1, 1);
    for (const test::Rows* rows : {&noise, &near}) {
        const cpu::Resident exact{*rows, {}, cpu::chosen_kernel(), {.threads = 2}};
        const cpu::Sketched made({fit_sketch(*rows, 128), {}}, exact, team, timeline);
        for (const bool may_give_up : {false, true}) {
            Neighbors found(rows->n, 2);
            const auto block = cpu::SketchSelfSearch(exact, made, Queries::all_of(*rows), 2, may_give_up,
                                                     found.rows, timeline, token)
                                   .run();
            REQUIRE(block.has_value() == (rows == &near || !may_give_up));
            if (block) CHECK(found.rows == test::right(*rows, *rows, 2, {.first = 0}).rows);
        }
    }
}

TEST_CASE("cpu sketches: a set is searched in itself by them where that is faster") {
    const std::uint8_t pixel = 0;
    cpu::Kernel kernel = cpu::chosen_kernel();
    kernel.refinement_cost = 140;  // avx512vnni's; by amx they do not pay
    const auto pay = [&](std::int64_t n, std::int64_t dim, int k) {
        const cpu::Resident sizes{{&pixel, n, dim}, {}, kernel, {.threads = 2}};
        return cpu::sketches_pay(sizes, 128, n, k, cpu::sketching_cost(sizes), true);
    };
    CHECK(pay(60'000, 784, 10));
    CHECK_FALSE(pay(60'000, 784, 900));
    CHECK_FALSE(pay(60'000, 128, 10));
    CHECK_FALSE(pay(2'000, 784, 10));
    const test::Rows rows = clustered(4'500, 784, 1, 100);
    test::Request request{.train = rows, .query = rows, .k = 3, .exclude = {.first = 0}};
    request.sketch = SketchColumns::off;
    const Neighbors direct = test::search_on_cpu(request).neighbors;
    const test::Isa isa("plain");  // whose products are slow
    request.sketch = SketchColumns::automatic;
    const Results found = test::search_on_cpu(request);
    CHECK(launches_of(found, "sketch") == 1);
    CHECK(launches_of(found, "refine") > 0);
    CHECK(found.neighbors.rows == direct.rows);
}

TEST_CASE("cpu sketches: a block whose pairs are not pruned is given up, others are not") {
    const test::Rows train = clustered(6'000, 300, 1, 300), near = clustered(96, 300, 2, 300),
                     far = test::random_rows(96, 300, 3);
    const cpu::Resident exact{train, {}, cpu::chosen_kernel(), {.threads = 1}};
    Timeline timeline;
    const ProgressToken token;
    cpu::Team team(1, token, 1, 1);
    const cpu::Sketched made({fit_sketch(train, 128), {}}, exact, team, timeline);
    const auto answers = [&](const test::Rows& queries, bool may_give_up) {
        cpu::SketchScanner scanner(made, exact, 1, 96, may_give_up);
        cpu::BestLists best(96, 1);
        cpu::Tally tally;
        scanner.begin(queries, tally);
        best.clear(96, scanner.n_lists());
        for (std::int64_t unit = 0; unit < divide_up(exact.train.count, exact.kernel.images); ++unit)
            scanner.scan(unit, best, tally);
        if (!scanner.finish(best, tally)) return false;
        Neighbors found(96, 1);
        for (std::int64_t q = 0; q < 96; ++q)
            best.finish(q, found.row(q));
        CHECK(found.rows == test::right(train, queries, 1, {}).rows);
        CHECK(tally.refined >= 96);
        return true;
    };
    CHECK(answers(near, true));
    CHECK_FALSE(answers(far, true));
    CHECK(answers(far, false));
    const test::Rows noise = test::random_rows(3'000, 300, 5);
    const cpu::Resident random{noise, {}, cpu::chosen_kernel(), {.threads = 1}};
    CHECK(cpu::make_sketched(random, 128, 5, true, team, timeline, {}) == nullptr);
    CHECK(cpu::make_sketched(random, 128, 5, false, team, timeline, {}) == nullptr);
}

TEST_CASE("cpu sketches: the search itself chooses them, and finds what a scanner gave up") {
    // As many queries as sketches need to pay on the fastest instruction set; the second half is like no training image.
    const test::Rows train = clustered(20'000, 300, 1, 100);
    test::Rows queries = clustered(8'000, 300, 2, 100);
    const test::Rows far = test::random_rows(8'000, 300, 3);
    queries.pixels.insert(queries.pixels.end(), far.pixels.begin(), far.pixels.end());
    queries.n += far.n;
    test::Request request{.train = train, .query = queries, .k = 3, .threads = 2};
    const test::Isa isa(cpu::instruction_sets().front() == "plain" ? "plain" : "avx2");
    request.sketch = SketchColumns::off;
    const Results direct = test::search_on_cpu(request);
    CHECK(launches_of(direct, "sketch") == 0);
    CHECK(launches_of(direct, "refine") == 0);
    request.sketch = SketchColumns::automatic;
    for (const int threads : {2, 64}) {  // with 64 the training set is divided too
        request.threads = threads;
        const Results chosen = test::search_on_cpu(request);
        CHECK(launches_of(chosen, "sketch") == 1);
        CHECK(launches_of(chosen, "refine") > 0);
        CHECK(chosen.neighbors.rows == direct.neighbors.rows);
    }
    const test::OwnCache cache;
    const TrainingSet kept(request.training(), {"key", "name"});
    request.set = &kept;
    CHECK(test::search_on_cpu(request).neighbors.rows == direct.neighbors.rows);
    CHECK_FALSE(std::filesystem::is_empty(cache.file("")));  // the sketch
    request.measure = {Metric::l1, 2};
    request.query = request.query.first(50);
    CHECK(launches_of(test::search_on_cpu(request), "sketch") == 0);
    request.sketch = SketchColumns::c128;
    CHECK_THROWS_WITH(
        test::search_on_cpu(request),
        "sketches bound distances by l2, cosine and pearson; expected one of them, or §sketch auto");
}

TEST_CASE("cpu sketches: many small searches of one index pay for them too") {
    const test::Rows train = clustered(20'000, 300, 1, 100), queries = clustered(32, 300, 2, 100);
    const test::Isa isa(cpu::instruction_sets().front() == "plain" ? "plain" : "avx2");
    const Plan plan{.threads = 2};
    Results results;
    const auto index = cpu::open({train, {}}, {}, plan, results.timeline);
    const Neighbors right = test::right(train, queries, 3, {});
    int searches = 0;
    for (; launches_of(results, "refine") == 0 && searches < 1'000; ++searches)
        REQUIRE(nearest_of(*index, Queries(queries), 3, results.timeline, {}).rows == right.rows);
    CHECK(launches_of(results, "sketch") == 1);
    CHECK(searches > 1);
    // Who says what will come need not wait for it.
    Results at_once;
    const auto expecting = cpu::open({train, {}}, {}, plan, at_once.timeline);
    expecting->expect(100'000, 3, {});
    CHECK(nearest_of(*expecting, Queries(queries), 3, at_once.timeline, {}).rows == right.rows);
    CHECK(launches_of(at_once, "sketch") == 0);
    CHECK(launches_of(at_once, "refine") > 0);
    CHECK(searches < 1'000);
}

}  // namespace
}  // namespace knn
