/// What is small in data/core: timelines, progress, the runs of a measurement, checksums.

#include "data/core/bench.h"
#include "data/core/progress_token.h"
#include "data/core/sha256.h"
#include "data/core/timeline.h"
#include "tests/support/test.h"

using namespace knn;

TEST_CASE("timeline: stages of one name are added up, in the order in which they came") {
    Timeline timeline;
    timeline.add({"distance", 1, 2.0, 8e6, 4e6});
    timeline.add({"select", 1, 1.0});
    timeline.add({"distance", 3, 6.0, 8e6, 12e6});
    const auto& stages = timeline.stages();
    REQUIRE(stages.size() == 2);
    CHECK(stages[0].name == "distance");
    CHECK(stages[0].launches == 4);
    CHECK(stages[0].total_ms == 8.0);
    CHECK(stages[0].gb_per_s() == doctest::Approx(2.0));     // 16 MB in 8 ms
    CHECK(stages[0].gflop_per_s() == doctest::Approx(2.0));  // 16 Mflop in 8 ms
    CHECK(stages[1].gb_per_s() == 0);
    CHECK(Stage{}.gb_per_s() == 0);
    CHECK(timeline.kernels_ms() == 9.0);
}

TEST_CASE("watch: a part reports behind what was done, also in a part of it, quiet reports nothing") {
    std::vector<std::pair<std::int64_t, std::int64_t>> reports;
    std::atomic<bool> stop = false;
    ProgressToken token;
    token.progress = [&](std::int64_t done, std::int64_t all) { reports.emplace_back(done, all); };
    token.stop = &stop;
    const ProgressToken part = token.part(40, 100), inner = part.part(5, 30);
    part.step(7, 30);
    inner.step(2, 10);
    token.quiet().step(1, 2);
    ProgressToken().part(1, 2).step(1, 1);
    CHECK(reports == std::vector<std::pair<std::int64_t, std::int64_t>>{{47, 100}, {47, 100}});
    stop = true;
    for (const ProgressToken& one : {token, part, inner, token.quiet()})
        CHECK_THROWS_AS(one.step(0, 1), Interrupted);
    CHECK_FALSE(ProgressToken().part(1, 2).stopped());
}

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

namespace {

std::string sum_of(const std::string& text, std::size_t piece) {
    Sha256 sum;
    for (std::size_t i = 0; i < text.size(); i += piece)
        sum.add(text.data() + i, std::min(piece, text.size() - i));
    return sum.hex();
}

}  // namespace

TEST_CASE("SHA-256 of the examples of FIPS 180-2, in pieces of any size") {
    for (const std::size_t piece : {1, 63, 64, 1000}) {
        CAPTURE(piece);
        CHECK(sum_of("", piece) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        CHECK(sum_of("abc", piece) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        CHECK(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece) ==
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        CHECK(sum_of(std::string(1'000'000, 'a'), piece) ==
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}
