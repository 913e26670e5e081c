#include "cpu/search.h"

#include <chrono>
#include <ctime>

#include "cpu/kernels/kernels.h"
#include "data/core/problem.h"
#include "tests/support/battery.h"
#include "tests/support/points.h"
#include "tests/support/search.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace knn {
namespace {

/// A request that owns its images.
struct Owned {
    test::Rows train, query;
    std::vector<std::uint8_t> labels;
    test::Request request;

    Owned(std::int64_t n_train, std::int64_t n_query, std::int64_t dim, int k)
        : train(test::random_rows(n_train, dim, 71)),
          query(test::random_rows(n_query, dim, 72)),
          labels(test::labels_for(n_train)) {
        request.train = train;
        request.query = query;
        request.train_labels = labels;
        request.k = k;
    }
    /// The training set, searched with itself.
    test::Request itself() const {
        test::Request same = request;
        same.query = same.train;
        same.exclude = {.first = 0};
        return same;
    }
};

constexpr Metric all_metrics[] = {Metric::l2, Metric::l1, Metric::lp, Metric::cosine, Metric::pearson};

/// Searches for at least 17 queries: those of the request, again and again. A few queries alone are compared
/// with rows as they are, and would leave the packed panels untested on most of the battery.
Results search_with_many_queries(test::Request request) {
    const std::int64_t n_query = request.query.count, dim = request.query.dim;
    std::vector<std::uint8_t> crowd;
    std::int64_t count = 0;
    for (; count < 17; count += n_query)
        crowd.insert(crowd.end(), request.query.pixels, request.query.pixels + n_query * dim);
    request.query = {crowd.data(), count, dim};
    Results result = test::search_on_cpu(request);
    CHECK(result.timeline.stages().front().name == "pack");
    for (std::int64_t q = n_query; q < count; ++q) {
        const auto original = result.neighbors.row(q % n_query), copy = result.neighbors.row(q);
        CHECK(std::equal(copy.begin(), copy.end(), original.begin()));
    }
    result.neighbors.n_query = n_query;
    result.neighbors.rows.resize(static_cast<std::size_t>(n_query * request.k));
    result.votes.resize(static_cast<std::size_t>(n_query));
    return result;
}

TEST_CASE("cpu::search: every instruction set and number of threads answers the battery") {
    REQUIRE_FALSE(cpu::instruction_sets().empty());
    for (const test::Case& one : test::metric_battery())
        for (const Measure& measure : test::other_measures())
            REQUIRE_FALSE(refuse_problem({one.train.n, one.query.n, one.train.dim, one.k, measure}));
    const std::vector<Measure>& all = test::other_measures();
    std::size_t runs = 0;
    for (const std::string& name : cpu::instruction_sets()) {
        const test::Isa isa(name);
        for (const bool crowd : {false, true})
            for (const int threads : {1, 3}) {  // an odd number meets every way to share work
                // A single thread's other metrics: leave-one-out, transforms. AMX multiplies alone: the other metrics pass
                // on to the next set, which one run shows.
                std::vector<Measure> measures;
                if (threads > 1 && (crowd || name != "amx")) measures = all;
                if (test::has_sanitizer) {
                    if (threads == 1) continue;
                    measures = {all[runs++ % all.size()]};  // in turn, so that each has its runs
                }
                test::check_engine(
                    "cpu, " + name + (crowd ? ", panels" : "") + ", threads " + std::to_string(threads),
                    [&](test::Request request) {
                        request.threads = threads;
                        Results result =
                            crowd ? search_with_many_queries(request) : test::search_on_cpu(request);
                        if (request.measure.metric == Metric::l2 || name != "amx")
                            CHECK(result.plan.distance == name);
                        CHECK(result.plan.threads == threads);
                        if (request.batch > 0) CHECK(result.plan.batch <= request.batch);
                        return result;
                    },
                    [](const test::Request& request) { return test::refuse(*find_engine("cpu"), request); },
                    measures);
            }
    }
}

TEST_CASE("cpu::search: cosine distances that differ by less than a float near 1 can tell") {
    // White but for pixels of 254, of which each adds about 10⁻⁸.
    test::Rows train = test::random_rows(2'000, 784, 5, 2), queries = test::random_rows(40, 784, 6, 2);
    for (test::Rows* rows : {&train, &queries})
        for (std::uint8_t& pixel : rows->pixels)
            pixel = pixel == 0 ? 254 : 255;
    for (const Metric metric : {Metric::cosine, Metric::pearson}) {
        test::Request request{.train = train, .query = queries, .k = 5, .threads = 1};
        request.measure = {metric, 2};
        const auto right = test::right(train, queries, 5, {}, request.measure).rows;
        for (const std::string& name : cpu::instruction_sets()) {
            CAPTURE(name);
            const test::Isa isa(name);
            CHECK(test::search_on_cpu(request).neighbors.rows == right);
        }
    }
}

TEST_CASE("cpu::search: many threads for little work") {
    Owned problem(5'000, 9, 30, 12);
    for (const Metric metric : all_metrics) {
        problem.request.measure = {metric, 2};
        problem.request.threads = 0;
        const auto expected = test::search_on_cpu(problem.request).neighbors.rows;
        for (const int threads : {7, 64, 4096}) {
            problem.request.threads = threads;
            CHECK(test::search_on_cpu(problem.request).neighbors.rows == expected);
        }
    }
}

TEST_CASE("cpu::search: thousands of neighbors, for many queries, few and the set itself") {
    Owned problem(20'000, 40, 3, max_k);  // few pixels: ties
    for (const Metric metric : all_metrics)
        for (const int n_query : {40, 3}) {
            CAPTURE(name(metric));
            CAPTURE(n_query);
            test::Request request = problem.request;
            request.query = request.query.first(n_query);
            request.measure = {metric, 3};
            const Neighbors expected = test::nearest(request.train, request.query, max_k, request.measure);
            CHECK(test::search_on_cpu(request).neighbors.rows == expected.rows);
        }
}

TEST_CASE("cpu: one searcher answers searches of any size and k in turn, and no query is no work") {
    const Owned problem(3'000, 400, 40, 5);
    Timeline timeline;
    const auto index = test::opened(*find_engine("cpu"), problem.request, timeline);
    CHECK(nearest_of(*index, problem.request.query.first(0), 3, timeline, {}).rows.empty());
    for (const auto& [n, k] : {std::pair{400, 5}, {3, 1024}, {17, 1}, {400, 33}, {1, 7}}) {
        test::Request request = problem.request;
        request.query = request.query.first(n);
        request.k = k;
        CHECK(nearest_of(*index, request.query, k, timeline, {}).rows ==
              test::search_on_cpu(request).neighbors.rows);
    }
    for (const Stage& stage : timeline.stages())
        if (stage.name == "pack") CHECK(stage.launches == 1);
    Plan plan;
    CHECK(cpu::configure({10, 0, 5, 3}, plan).has_value());
}

TEST_CASE("cpu::search: says what it did") {
    Owned problem(3'000, 700, 60, 4);
    problem.request.threads = 2;
    problem.request.batch = 100;
    const Results result = test::search_on_cpu(problem.request);
    CHECK(result.plan.distance == cpu::instruction_set());
    CHECK(result.plan.select == "threshold");
    CHECK(result.plan.batch >= 1);
    CHECK(result.plan.batch <= 100);
    CHECK(result.plan.device.kind == Device::Kind::cpu);
    CHECK_FALSE(result.plan.device.name.empty());
    CHECK(result.plan.device.memory_bytes > 0);
    std::vector<std::string> names;
    for (const Stage& stage : result.timeline.stages()) {
        names.push_back(stage.name);
        CHECK(stage.kind == StageKind::kernel);
        CHECK(stage.total_ms >= 0);
        CHECK(stage.launches >= 1);
        if (stage.name == "distance") CHECK(stage.operations == 2.0 * 3'000 * 700 * 60);
        if (stage.name == "distance" || stage.name == "pack") CHECK(stage.bytes >= 3'000 * 60);
    }
    CHECK(names == std::vector<std::string>{"pack", "distance", "select", "vote"});
    CHECK(result.search_ms >= result.timeline.kernels_ms() * 0.5);
}

TEST_CASE("cpu::search: an instruction set that is not there is an error that names the others") {
    const Owned problem(10, 2, 5, 3);
    for (const char* name : {"avx1024", "AVX2", "gpu"}) {
        const test::Isa isa(name);
        CHECK_THROWS_WITH_AS(test::search_on_cpu(problem.request), doctest::Contains("plain"), UsageError);
        CHECK_THROWS_WITH_AS(cpu::instruction_set(), doctest::Contains(name), UsageError);
    }
    const test::Isa none("");
    CHECK(cpu::instruction_set() == cpu::instruction_sets().front());
    CHECK(cpu::instruction_sets().back() == "plain");
}

TEST_CASE("cpu::search: refuses what is out of range, and what memory cannot hold") {
    Owned problem(10, 2, 5, 3);
    for (const int k : {0, -1, 11, 1025}) {
        problem.request.k = k;
        CHECK(test::refuse(*find_engine("cpu"), problem.request).has_value());
        CHECK_THROWS_AS(test::search_on_cpu(problem.request), UsageError);
    }
    // Sizes alone, without pixels: 2 · 10¹⁴ bytes to pack. It must be refused before anything is read.
    problem.request.k = 3;
    problem.request.train_labels = {};
    problem.request.train = {nullptr, 4'000'000'000, 60'000};
    problem.request.query = {nullptr, 1'000, 60'000};
    for (const Metric metric : all_metrics) {
        problem.request.measure = {metric, 2};
        CHECK_THROWS_WITH_AS(test::search_on_cpu(problem.request), doctest::Contains("MiB"), DataError);
    }
}

/// Runs a search that takes long, on two threads lest a large machine be done before it is asked to stop
/// after 20 ms; returns the ms of processor time of a thread from there to its end: a busy machine's clock runs on.
double ms_to_stop(test::Request request, const Measure& measure) {
    request.threads = 2;
    request.measure = measure;
    std::atomic<bool> stop{false};
    std::clock_t asked = 0;
    std::jthread user([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        asked = std::clock();
        stop = true;
    });
    CHECK_THROWS_AS(test::search_on_cpu(request, {.progress = {}, .stop = &stop}), Interrupted);
    const std::clock_t end = std::clock();
    user.join();
    return 1000.0 * double(end - asked) / CLOCKS_PER_SEC / request.threads;
}

/// What a user is promised; instrumented code takes up to ten times as long.
constexpr double most_ms_to_stop = test::has_sanitizer ? 4000 : 200;

/// The least of up to five tries: other work shares caches and cores.
double min_ms_to_stop(const test::Request& request, const Measure& measure) {
    double least = ms_to_stop(request, measure);
    for (int i = 1; i < 5 && least >= most_ms_to_stop; ++i)
        least = std::min(least, ms_to_stop(request, measure));
    return least;
}

TEST_CASE("cpu::search: stops when asked to") {
    const Owned wide(3'000, 3'000, 20'000, 5), tall(300'000, 3'000, 200, 500), square(60'000, 1, 784, 10);
    for (const std::string& name : cpu::instruction_sets()) {
        CAPTURE(name);
        const test::Isa isa(name);
        CHECK(min_ms_to_stop(square.itself(), {}) < most_ms_to_stop);
        for (const Metric metric : all_metrics) {
            CAPTURE(metric);
            CHECK(min_ms_to_stop(wide.request, {metric, 3}) < most_ms_to_stop);
            CHECK(min_ms_to_stop(tall.request, {metric, 3}) < most_ms_to_stop);
        }
    }
    const std::atomic<bool> stop{true};
    CHECK_THROWS_AS(test::search_on_cpu(tall.request, {.progress = {}, .stop = &stop}), Interrupted);
}

TEST_CASE("cpu::search: progress rises to the number of queries, and what its callback throws comes out") {
    const Owned problem(20'000, 2'000, 300, 5);
    for (const bool both_ends : {false, true}) {
        const Owned few(2'000, 700, 300, 3);
        test::Request request = both_ends ? few.itself() : few.request;
        request.threads = 2;
        request.batch = 100;
        std::int64_t last = 0;
        ProgressToken token;
        token.progress = [&](std::int64_t done, std::int64_t total) {
            CHECK(total == request.query.count);
            CHECK(done >= last);
            last = done;
        };
        test::search_on_cpu(request, token);
        CHECK(last == request.query.count);
        token.progress = [](std::int64_t done, std::int64_t) {
            if (done > 0) throw DataError("the terminal is gone");
        };
        CHECK_THROWS_AS(test::search_on_cpu(both_ends ? problem.itself() : problem.request, token),
                        DataError);
    }
}

/// By the default search and by the serial one.
void check_leave_one_out(const test::Rows& points, const Exclude& exclude, std::int64_t n, int k,
                         const Measure& measure = {}) {
    const test::Rows queries = test::taken(points, exclude, n);
    test::Request request{.train = points, .query = queries, .k = k, .measure = measure, .exclude = exclude};
    const auto expected = test::right(points, queries, k, exclude, measure).rows;
    for (const char* select : {"", "nth_element"}) {
        request.select = select;
        CAPTURE(request);
        if (*select == 0 || measure.metric == Metric::l2)
            CHECK(test::search_on_cpu(request).neighbors.rows == expected);
    }
}

TEST_CASE("cpu::search: leave-one-out of duplicates, a sample, as many as there are, by every metric") {
    for (const int levels : {1, 2, 3, 256})  // with 1, all points are equal
        for (const int k : {1, 4, 20, 59})
            for (const auto& [first, n] : {std::pair{0, 60}, {0, 5}, {41, 19}, {59, 1}})
                check_leave_one_out(test::random_rows(60, 2, 5, levels), {.first = first}, n, k);
    for (const Metric metric : all_metrics)
        check_leave_one_out(test::random_rows(1025, 12, 6, 4), {.first = 1000}, 25, 1024, {metric, 3});
    check_leave_one_out(test::random_rows(70, 3, 7, 3), {0, 70, 20}, 20, 9);
    check_leave_one_out(test::random_rows(2'500, 3, 8, 9), {.first = 0}, 2'500, 2'400);
    const Owned few(5, 1, 3, 5);
    CHECK_THROWS_AS(test::search_on_cpu(few.itself()), std::invalid_argument);
}

}  // namespace
}  // namespace knn
