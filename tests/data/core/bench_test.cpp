#include "data/core/bench.h"

#include <doctest/doctest.h>

namespace knn {

TEST_CASE("a measurement has as many runs as fit its time, within its limits") {
    TrialOptions options;
    options.repeat = 10;
    options.budget_ms = 100;
    CHECK(options.runs(20) == 5);
    CHECK(options.runs(30.1) == 3);
    CHECK(options.runs(99) == 3);  // min_runs
    CHECK(options.runs(5) == 10);
    CHECK(options.runs(0) == 10);  // faster than the clock
    options.repeat = 2;
    CHECK(options.runs(99) == 2);  // as many as were asked for
    options.repeat = 1'000'000;
    options.budget_ms = 1e8;  // more runs of a microsecond than an int counts
    CHECK(options.runs(0.001) == 1'000'000);
}

TEST_CASE("a measurement takes as many queries as have time for its fewest runs") {
    TrialOptions options;
    options.budget_ms = 30;
    const auto tried = [&](std::int64_t all, double ms_per_query) {
        std::vector<std::int64_t> counts;
        const std::int64_t n = options.affordable(all, [&](std::int64_t count) {
            counts.push_back(count);
            return ms_per_query * static_cast<double>(count);
        });
        CHECK(n == counts.back());  // the caller has its answers
        return counts;
    };
    using Counts = std::vector<std::int64_t>;
    CHECK(tried(60'000, 0.01) == Counts{256});  // three runs of 1,024 would take 30.7 ms
    CHECK(tried(60'000, 0.0097) == Counts{256, 1'024});
    CHECK(tried(1'000, 0.0097) == Counts{256, 1'000});
    CHECK(tried(100, 1) == Counts{100});
    CHECK(tried(60'000, 0) == Counts{256, 1'024, 4'096, 16'384, 60'000});
}

}  // namespace knn
