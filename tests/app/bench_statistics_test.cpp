#include "app/bench/statistics.h"

#include <doctest/doctest.h>

#include "app/report/bench.h"

namespace knn {

TEST_CASE("the spread of runs") {
    CHECK(spread_of({}).runs == 0);
    CHECK(spread_of({}).median == 0);
    const Spread odd = spread_of({3, 1, 9});
    CHECK(odd.median == 3);
    CHECK(odd.low == 1);
    CHECK(odd.high == 9);
    CHECK(odd.runs == 3);
    CHECK(spread_of({4, 1, 2, 9}).median == 3);
    CHECK(spread_of({7}).median == 7);
}

namespace {

Measurement measured(const std::string& part, const std::string& on) {
    Measurement one;
    one.part = part;
    one.on = on;
    one.n_query = 100;
    one.ms = {2, 1, 4};
    one.bytes = 2e9;
    one.operations = 3e9;
    return one;
}

}  // namespace

TEST_CASE("rates come from the median") {
    const Measurement one = measured("distance", "gpu:0");
    CHECK(one.us_a_query() == doctest::Approx(20));
    CHECK(one.gb_per_s() == doctest::Approx(1000));
    CHECK(one.gflop_per_s() == doctest::Approx(1500));
}

TEST_CASE("the limit is the one that a measurement comes nearest to") {
    BenchReport report;
    report.gpu = "gpu:0";
    report.limits.copy_gb_per_s = 4000;
    report.limits.multiply_add_gflop_per_s = 4000;  // of which the direct form reaches 3000
    const LimitShare arithmetic = report.share_of(measured("distance", "gpu:0"));
    CHECK(arithmetic.limit == "arithmetic");
    CHECK(arithmetic.share == doctest::Approx(0.5));

    Measurement selection = measured("select", "gpu:0");
    selection.operations = 0;
    CHECK(report.share_of(selection).limit == "memory");
    CHECK(report.share_of(selection).share == doctest::Approx(0.25));

    SUBCASE("none where it computes in another way than the limit knows") {
        report.limits.multiply_add_gflop_per_s = 1000;
        CHECK(report.share_of(measured("distance", "gpu:0")).share == 0);
        CHECK(report.share_of(measured("distance", "gpu:0")).limit == "not the direct form");
    }
    SUBCASE("none for a whole search, for what was not run and for wrong answers") {
        CHECK(report.share_of(measured("search", "gpu:0")).share == 0);
        selection.wrong = "query 3";
        CHECK(report.share_of(selection).share == 0);
        selection.wrong.clear();
        selection.ms.clear();
        CHECK(report.share_of(selection).share == 0);
    }
    SUBCASE("one CPU thread has the CPU's copy") {
        report.cpu_copy_gb_per_s = 2000;
        CHECK(report.share_of(measured("distance", "cpu, 1 thread")).share == doctest::Approx(0.5));
        CHECK(report.share_of(measured("distance", "cpu")).share == 0);
    }
}

TEST_CASE("one wrong answer makes the report wrong") {
    BenchReport report;
    report.measurements.push_back(measured("select", "gpu:0"));
    CHECK(!report.wrong());
    report.measurements[0].wrong = "query 0";
    CHECK(report.wrong());
    const std::string text = bench_text(report);
    CHECK(text.find("WRONG ANSWERS") != std::string::npos);
    CHECK(bench_json(report).find("\"correct\": false") != std::string::npos);
    CHECK(bench_json(report).find("median_ms") == std::string::npos);  // a wrong answer has no time
}

}  // namespace knn
