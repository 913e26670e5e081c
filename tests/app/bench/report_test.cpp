#include "app/bench/report.h"
#include "tests/support/test.h"

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
    REQUIRE(test::contains(json, field));
    CHECK(json.find("kernels_ms", json.find(field) + field.size()) == std::string::npos);
}

TEST_CASE("the limit is the closest one, and none that is not known or is beaten") {
    struct Row {
        std::string part, on = "gpu:0";
        double copy = 4000, multiply_add = 4000;  ///< of which the direct form reaches 3000
        std::int64_t cache_bytes = 0;
        double upload = 0, cpu_copy = 0;
        std::optional<std::string> limit = {};
        double share = 0;
    };
    for (const Row& row : std::vector<Row>{
             {.part = "distance", .limit = "arithmetic", .share = 0.5},
             {.part = "select", .limit = "memory", .share = 0.25},
             // It computes in another way than the limit knows.
             {.part = "distance", .multiply_add = 1000, .limit = "not the direct form"},
             // The data fits the cache, or is read faster than a copy: at 1000.
             {.part = "select", .cache_bytes = 2'000'000'001, .limit = "fits in the cache"},
             {.part = "distance", .cache_bytes = 2'000'000'001, .limit = "arithmetic", .share = 0.5},
             {.part = "select", .cache_bytes = 1'000'000, .limit = "memory", .share = 0.25},
             {.part = "select", .copy = 990, .cache_bytes = 1'000'000, .limit = "faster than a copy"},
             {.part = "upload", .copy = 990, .upload = 990},
             {.part = "upload", .copy = 990, .upload = 2000, .share = 0.5},
             // It reaches 1500 of 1492.
             {.part = "distance", .copy = 990, .multiply_add = 1990, .limit = "faster than the limit's run"},
             {.part = "search"},
             // One CPU thread has the CPU's copy.
             {.part = "distance", .on = "cpu, 1 thread", .cpu_copy = 2000, .share = 0.5},
             {.part = "distance", .on = "cpu", .cpu_copy = 2000},
             {.part = "distance", .on = "cpu, 1 thread", .cpu_copy = 900, .limit = "faster than a copy"}}) {
        CAPTURE(row.part);
        BenchReport report;
        report.gpu = "gpu:0";
        report.limits.copy_gb_per_s = row.copy;
        report.limits.multiply_add_gflop_per_s = row.multiply_add;
        report.limits.cache_bytes = row.cache_bytes;
        report.limits.pinned_upload_gb_per_s = row.upload;
        report.cpu_copy_gb_per_s = row.cpu_copy;
        Measurement one = measured(row.part, row.on);
        if (row.part == "select") one.operations = 0;
        const LimitShare found = report.share_of(one);
        if (row.limit) CHECK(found.limit == *row.limit);
        CHECK(found.share == doctest::Approx(row.share));
        one.wrong = "query 3";
        CHECK(report.share_of(one).share == 0);
        one.wrong.clear();
        one.ms.clear();  // it was not run
        CHECK(report.share_of(one).share == 0);
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
    CHECK(test::contains(out.str(), "\n,select,rank,gpu,"));
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
    CHECK(test::contains(text, "WRONG ANSWERS"));
    CHECK(test::contains(bench_json(report), "\"correct\": false"));
    CHECK(!test::contains(bench_json(report), "median_ms"));  // wrong answers have no time
}

}  // namespace knn
