#include "cpu/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <thread>

#include "cpu/kernels/kernels.h"
#include "data/core/problem.h"
#include "data/set/locate.h"
#include "tests/support/battery.h"
#include "tests/support/search.h"
#include "tests/support/skip.h"
#include "tests/support/surroundings.h"

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
          labels(static_cast<std::size_t>(n_train)) {
        for (std::size_t i = 0; i < labels.size(); ++i)
            labels[i] = static_cast<std::uint8_t>(i * 7 % 10);
        request.train = {train.pixels.data(), n_train, dim};
        request.query = {query.pixels.data(), n_query, dim};
        request.train_labels = labels;
        request.k = k;
    }
};

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
    result.votes.resize(static_cast<std::size_t>(n_query));
    return result;
}

/// Sanitizers make the battery ten times slower; an odd number of threads meets every way to share work.
#ifdef MNIST_KNN_SANITIZED
constexpr std::array thread_counts{3};
#else
constexpr std::array thread_counts{1, 2, 3};
#endif

TEST_CASE("cpu::search: every instruction set and number of threads answers the battery") {
    REQUIRE_FALSE(cpu::instruction_sets().empty());
    for (const test::Case& one : test::metric_battery())
        for (const Measure& measure : test::other_measures())
            REQUIRE_FALSE(refuse_problem({one.train.n, one.query.n, one.train.dim, one.k, measure}));
    for (const std::string& name : cpu::instruction_sets()) {
        const test::Isa isa(name);
        for (const bool crowd : {false, true})
            for (const int threads : thread_counts)
                test::check_engine(
                    "cpu, " + name + (crowd ? ", panels" : "") + ", threads " + std::to_string(threads),
                    [&](test::Request request) {
                        request.threads = threads;
                        Results result =
                            crowd ? search_with_many_queries(request) : test::search_on_cpu(request);
                        // AMX multiplies alone: the other metrics pass on to the next set.
                        if (request.measure.metric == Metric::l2 || name != "amx")
                            CHECK(result.plan.distance == name);
                        CHECK(result.plan.threads == threads);
                        return result;
                    },
                    [](const test::Request& request) { return test::refuse(*find_engine("cpu"), request); });
    }
}

TEST_CASE("cpu::search: many threads for little work") {
    Owned problem(5'000, 9, 30, 12);
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::lp, Metric::cosine, Metric::pearson}) {
        problem.request.measure = {metric, 2};
        problem.request.threads = 0;
        const auto expected = test::search_on_cpu(problem.request).neighbors.rows;
        for (const int threads : {7, 64}) {
            problem.request.threads = threads;
            CHECK(test::search_on_cpu(problem.request).neighbors.rows == expected);
        }
    }
}

TEST_CASE("cpu::search: equal images are at distance 0, blank ones at 1 by cosine and Pearson") {
    Owned problem(400, 30, 784, 3);
    for (std::int64_t q = 0; q < 15; ++q)  // half of the queries are training images
        std::copy_n(problem.train.pixels.begin() + (q * 20 + 7) * 784, 784,
                    problem.query.pixels.begin() + q * 784);
    std::fill_n(problem.query.pixels.begin() + 15 * 784, 784, std::uint8_t{0});
    for (const Measure& measure : test::other_measures()) {
        CAPTURE(measure.metric);
        problem.request.measure = measure;
        const Results result = test::search_on_cpu(problem.request);
        for (std::int64_t q = 0; q < 15; ++q) {
            CHECK(result.neighbors.row(q)[0] == Neighbor{0, static_cast<std::uint32_t>(q * 20 + 7)});
            CHECK(result.neighbors.row(q)[1].distance > 0);
        }
        const bool angle = measure.metric == Metric::cosine || measure.metric == Metric::pearson;
        const std::uint32_t one = std::bit_cast<std::uint32_t>(1.0f);
        for (std::uint32_t rank = 0; angle && rank < 3; ++rank)
            CHECK(result.neighbors.row(15)[rank] == Neighbor{one, rank});
    }
}

TEST_CASE("cpu::search: no query is no work") {
    const Owned problem(10, 1, 5, 3);
    Plan plan;
    REQUIRE_FALSE(cpu::settle(problem.request.problem(), plan));
    Timeline timeline;
    const auto index = cpu::open({problem.request.train, {}}, {}, plan, timeline);
    CHECK(nearest_of(*index, problem.request.query.first(0), 3, timeline, {}).rows.empty());
    Plan none;
    CHECK(cpu::settle({10, 0, 5, 3}, none).has_value());
}

TEST_CASE("cpu: one searcher answers searches of any size and k in turn") {
    const Owned problem(3'000, 400, 40, 5);
    Plan plan;
    REQUIRE_FALSE(cpu::settle(problem.request.problem(), plan));
    Timeline timeline;
    const auto index = cpu::open({problem.request.train, {}}, {}, plan, timeline);
    for (const auto& [n, k] : {std::pair{400, 5}, {3, 1024}, {17, 1}, {400, 33}, {1, 7}}) {
        test::Request request = problem.request;
        request.query = request.query.first(n);
        request.k = k;
        CHECK(nearest_of(*index, request.query, k, timeline, {}).rows ==
              test::search_on_cpu(request).neighbors.rows);
    }
    for (const Stage& stage : timeline.stages())
        if (stage.name == "pack") CHECK(stage.launches == 1);
}

TEST_CASE("cpu::search: batches of any number of queries, whole strips of a kernel or not") {
    Owned problem(3'000, 300, 60, 4);
    const Results whole = test::search_on_cpu(problem.request);
    for (const int batch : {1, 2, 7, 13, 64, 100})
        for (const int threads : {1, 3}) {
            CAPTURE(batch);
            CAPTURE(threads);
            problem.request.batch = batch;
            problem.request.threads = threads;
            const Results found = test::search_on_cpu(problem.request);
            CHECK(found.neighbors.rows == whole.neighbors.rows);
            CHECK(found.plan.batch <= batch);
            if (batch < 64) CHECK(found.plan.batch == batch);
        }
}

TEST_CASE("cpu::search: says what it did") {
    Owned problem(3'000, 700, 60, 4);
    problem.request.threads = 2;
    problem.request.batch = 100;
    std::int64_t last = -1;
    Watch watch;
    watch.progress = [&](std::int64_t done, std::int64_t total) {
        CHECK(total == 700);
        CHECK(done >= last);
        last = done;
    };
    const Results result = test::search_on_cpu(problem.request, watch);
    CHECK(last == 700);
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
    problem.request.train = {nullptr, 4'000'000'000, 60'000};
    problem.request.query = {nullptr, 1'000, 60'000};
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::lp, Metric::cosine, Metric::pearson}) {
        problem.request.measure = {metric, 2};
        CHECK_THROWS_WITH_AS(test::search_on_cpu(problem.request), doctest::Contains("MiB"), DataError);
    }
}

/// Runs a search that takes long, on two threads lest a large machine be done before it is asked to stop
/// after 20 ms; returns the ms from there to its end.
double ms_to_stop(test::Request request, const Measure& measure = {}) {
    request.threads = 2;
    request.measure = measure;
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> stop{false};
    Watch watch;
    watch.stop = &stop;
    Clock::time_point asked;
    std::jthread user([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        asked = Clock::now();
        stop = true;
    });
    CHECK_THROWS_AS(test::search_on_cpu(request, watch), Interrupted);
    const Clock::time_point end = Clock::now();
    user.join();
    return std::chrono::duration<double, std::milli>(end - asked).count();
}

#ifdef __SANITIZE_THREAD__
constexpr double most_ms_to_stop = 2000;  // everything takes ten times as long
#else
constexpr double most_ms_to_stop = 200;
#endif

/// The least of up to five tries: the machine may be busy with something else for a while.
double min_ms_to_stop(const test::Request& request, const Measure& measure = {}) {
    double least = ms_to_stop(request, measure);
    for (int i = 1; i < 5 && least >= most_ms_to_stop; ++i)
        least = std::min(least, ms_to_stop(request, measure));
    return least;
}

TEST_CASE("cpu::search: stops when asked to") {
    const Owned wide(3'000, 3'000, 20'000, 5), tall(300'000, 3'000, 200, 500);
    for (const std::string& name : cpu::instruction_sets()) {
        CAPTURE(name);
        const test::Isa isa(name);
        CHECK(min_ms_to_stop(wide.request) < most_ms_to_stop);
        CHECK(min_ms_to_stop(tall.request) < most_ms_to_stop);
        for (const Measure& measure : test::other_measures()) {
            CAPTURE(measure.metric);
            CAPTURE(measure.p);
            CHECK(min_ms_to_stop(wide.request, measure) < most_ms_to_stop);
            CHECK(min_ms_to_stop(tall.request, measure) < most_ms_to_stop);
        }
    }
    std::atomic<bool> stop{true};
    Watch watch;
    watch.stop = &stop;
    CHECK_THROWS_AS(test::search_on_cpu(tall.request, watch), Interrupted);
}

TEST_CASE("cpu::search: what the progress callback throws comes out") {
    const Owned problem(20'000, 2'000, 300, 5);
    Watch watch;
    watch.progress = [](std::int64_t done, std::int64_t) {
        if (done > 0) throw DataError("the terminal is gone");
    };
    CHECK_THROWS_AS(test::search_on_cpu(problem.request, watch), DataError);
}

std::int64_t correct(const Dataset& data, int k, Tie tie) {
    test::Request request;
    request.train = data.train.images();
    request.query = data.test.images();
    request.train_labels = data.train.labels.span();
    request.k = k;
    request.tie = tie;
    const Results result = test::search_on_cpu(request);
    std::int64_t right = 0;
    for (std::size_t i = 0; i < result.votes.size(); ++i)
        right += result.votes[i].label == data.test.labels.span()[i];
    return right;
}

TEST_CASE("cpu::search: the counts on MNIST") {
    if (test::mnist_folder().empty()) return test::skip("MNIST was not found: set MNIST_KNN_DATA");
    DataOptions options;
    options.folder = test::mnist_folder();
    const Dataset data = load(locate(options));
    CHECK(correct(data, 1, Tie::smallest) == 9691);
    CHECK(correct(data, 3, Tie::smallest) == 9705);
    CHECK(correct(data, 5, Tie::smallest) == 9688);
    CHECK(correct(data, 10, Tie::smallest) == 9665);
    CHECK(correct(data, 3, Tie::nearest) == 9717);
    CHECK(correct(data, 5, Tie::nearest) == 9693);
}

}  // namespace
}  // namespace knn
