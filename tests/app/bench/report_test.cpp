#include "app/bench/report.h"

#include <doctest/doctest.h>

#include <sstream>

namespace knn {

TEST_CASE("median, minimum and maximum of runs") {
    CHECK(summary_of({}).runs == 0);
    CHECK(summary_of({}).median == 0);
    const Summary odd = summary_of({3, 1, 9});
    CHECK(odd.median == 3);
    CHECK(odd.min == 1);
    CHECK(odd.max == 9);
    CHECK(odd.runs == 3);
    CHECK(summary_of({4, 1, 2, 9}).median == 3);
    CHECK(summary_of({7}).median == 7);
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
    CHECK(one.us_per_query() == doctest::Approx(20));
    CHECK(one.gb_per_s() == doctest::Approx(1000));
    CHECK(one.gflop_per_s() == doctest::Approx(1500));
}

TEST_CASE("the JSON has the kernel time of a search on a GPU alone") {
    BenchReport report;
    report.measurements = {measured("search", "gpu:0"), measured("search", "cpu")};
    report.measurements[0].kernels_ms = {0.5, 0.75, 0.25};
    const std::string json = bench_json(report), field = "\"kernels_ms\":0.5";
    REQUIRE(json.find(field) != std::string::npos);
    CHECK(json.find("kernels_ms", json.find(field) + field.size()) == std::string::npos);
}

TEST_CASE("the limit is the closest one") {
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
    SUBCASE("none where the data fits the cache or is read faster than a copy") {
        report.limits.cache_bytes = 2'000'000'001;
        CHECK(report.share_of(selection).share == 0);
        CHECK(report.share_of(selection).limit == "fits in the cache");
        CHECK(report.share_of(measured("distance", "gpu:0")).limit == "arithmetic");
        report.limits.cache_bytes = 1'000'000;
        CHECK(report.share_of(selection).limit == "memory");
        report.limits.copy_gb_per_s = 990;  // it reads 1000
        CHECK(report.share_of(selection).share == 0);
        CHECK(report.share_of(selection).limit == "faster than a copy");
        Measurement upload = measured("upload", "gpu:0");
        report.limits.pinned_upload_gb_per_s = 990;
        CHECK(report.share_of(upload).share == 0);
        report.limits.pinned_upload_gb_per_s = 2000;
        CHECK(report.share_of(upload).share == doctest::Approx(0.5));
        report.limits.multiply_add_gflop_per_s = 1990;  // of which it reaches 1500 of 1492
        CHECK(report.share_of(measured("distance", "gpu:0")).share == 0);
        CHECK(report.share_of(measured("distance", "gpu:0")).limit == "faster than the limit's run");
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
        report.cpu_copy_gb_per_s = 900;
        CHECK(report.share_of(measured("distance", "cpu, 1 thread")).limit == "faster than a copy");
    }
}

TEST_CASE("what is left out without a row has a line of the CSV") {
    BenchReport report;
    report.experiment = "compare";
    Measurement refused = measured("select", "gpu");
    refused.name = "rank";
    refused.ms.clear();
    refused.left_out = "too large, by far";
    report.measurements = {refused};
    report.leave_out("rank", refused.left_out);
    report.leave_out("GPU", "there is none");
    report.leave_out("GPU", "there is none");
    CHECK(report.left_out.size() == 2);
    std::ostringstream out;
    write_bench_csv(out, report);
    CHECK(out.str().find("\n,select,rank,gpu,") != std::string::npos);
    CHECK(out.str().ends_with(
        ",left out,\"too large, by far\"\ncompare,,GPU,,,,,,,,,,,,,,,,,,left out,there is none\n"));
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
    CHECK(bench_json(report).find("median_ms") == std::string::npos);  // wrong answers have no time
}

}  // namespace knn
