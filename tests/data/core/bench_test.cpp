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

}  // namespace knn
