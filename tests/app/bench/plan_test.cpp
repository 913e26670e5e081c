#include "app/bench/plan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "app/bench/workload.h"
#include "classifier/engines.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "data/core/errors.h"
#include "tests/support/oracle.h"

namespace knn {

namespace {

std::string message_of(const Options& options) {
    try {
        check_bench_options(options);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("bench knows every name of the tables, each once") {
    std::vector<std::string> names = bench_names();
    for (const Strategy& one : distance_kernels())
        CHECK(std::count(names.begin(), names.end(), one.name) == 1);
    for (const Strategy& one : selectors())
        CHECK(std::count(names.begin(), names.end(), one.name) == 1);
    for (const Engine& one : engines())
        CHECK(std::count(names.begin(), names.end(), one.name) == 1);
    for (const SearchWay& one : search_ways())
        CHECK(std::count(names.begin(), names.end(), one.name) == 1);
    for (const cpu::SerialSelector& one : cpu::serial_selectors())
        CHECK(std::count(names.begin(), names.end(), one.name) == 1);
}

TEST_CASE("engines are listed with their baselines") {
    const SearchWay own = search_way("classic"), unfused = search_way("classic+gemm+replace_max");
    CHECK(own.engine == find_engine("classic"));
    CHECK(own.distance.empty());
    CHECK(own.select.empty());
    CHECK(unfused.engine == own.engine);
    CHECK(unfused.distance == "gemm");
    CHECK(unfused.select == "replace_max");
    CHECK(parse_only("--only", "classic+gemm+replace_max") == std::vector<std::string>{unfused.name});
}

TEST_CASE("--only takes names and suggests corrections") {
    CHECK(parse_only("--only", "cpu,nth_element") == std::vector<std::string>{"cpu", "nth_element"});
    CHECK_THROWS_WITH_AS(parse_only("--only", "cpu,nth_elemnt"), doctest::Contains("did you mean nth_element?"),
                         UsageError);
    if (distance_kernels().empty())
        CHECK_THROWS_WITH_AS(parse_only("--only", "row_shared"), doctest::Contains("or a build with CUDA"), UsageError);
    CHECK_THROWS_AS(parse_only("--only", ""), UsageError);
    CHECK_THROWS_AS(parse_only("--only", "cpu,"), UsageError);
    BenchOptions options;
    CHECK(is_wanted(options, "cpu"));
    options.only = {"classic"};
    CHECK(!is_wanted(options, "cpu"));
}

TEST_CASE("a case has its own sizes, garrett's are the data set's") {
    Options options;
    options.bench.which = "zhu";
    CHECK(message_of(options).empty());
    for (const char* name : {"-k", "n-train", "n-query", "dim", "distance", "select", "engine", "metric",
                             "data", "test-labels"}) {
        options.given = {name};
        CHECK(message_of(options).find("the case zhu has its own") != std::string::npos);
    }
    options.bench.which = "garrett";
    options.given = {"-k", "n-train", "n-query", "data"};
    CHECK(message_of(options).empty());
    options.given = {"dim"};
    CHECK(!message_of(options).empty());
    options.bench.which = "graph";
    options.given = {"-k", "n-train", "train-images"};
    CHECK(message_of(options).empty());
    options.given = {"n-query"};  // every training image is one
    CHECK(!message_of(options).empty());
    options.bench.which = "transforms";
    options.given = {"n-train", "train-images"};
    CHECK(message_of(options).empty());
    for (const char* name : {"-k", "n-query", "metric", "engine"}) {  // nothing is searched
        options.given = {name};
        CHECK(message_of(options).find("the case transforms has its own") != std::string::npos);
    }
}

TEST_CASE("the case rerank takes images, and has its own number of candidates") {
    Options options;
    options.bench.which = "rerank";
    options.given = {"n-train", "n-query", "data"};
    CHECK(message_of(options).empty());
    options.given = {"-k"};
    CHECK(message_of(options).find("the case rerank has its own") != std::string::npos);
}

TEST_CASE("a case measures only names that do not depend on others") {
    Options options;
    options.bench.only = {"cpu", "nth_element"};
    options.bench.which = "nolan";
    CHECK(message_of(options).empty());
    options.bench.which = "graph";
    CHECK(message_of(options) ==
          "--only nth_element: the case graph has its own rows; expected tensor, classic+gemm+replace_max or "
          "cpu");
    options.bench.which = "zhu";
    CHECK(message_of(options) == "--only cpu: the case zhu has its own rows; expected one of the two");
}

TEST_CASE("a strategy without any row is refused") {
    Options options;
    options.wish.select = "nth_element";
    CHECK(message_of(options).find("runs on the CPU") != std::string::npos);
    options.wish.select.clear();
    options.wish.distance = "tensor_mma";
    CHECK(message_of(options).find("a kernel of the engine tensor") != std::string::npos);
    if (distance_kernels().empty()) return;  // the rest uses names of GPU kernels
    options.wish.distance = "gemm";
    CHECK(message_of(options).empty());
    options.wish.device.kind = DeviceKind::cpu;
    CHECK(message_of(options).find("expected no --device cpu") != std::string::npos);
    options.wish.device.kind = DeviceKind::automatic;
    options.bench.only = {"tiled", "cpu", "nth_element"};
    CHECK(message_of(options).find("selectors are measured behind it, and --only names none") !=
          std::string::npos);
    options.bench.only = {"rank"};
    CHECK(message_of(options).empty());
    options.wish = {};
    options.wish.select = "rank";
    CHECK(message_of(options).find("behind distance kernels, and --only names none") != std::string::npos);
    options.bench.only = {"tiled"};
    CHECK(message_of(options).empty());
}

TEST_CASE("an engine is named once") {
    Options options;
    options.wish.engine = "classic";
    CHECK(message_of(options).empty());
    options.wish.device.kind = DeviceKind::cpu;
    CHECK(message_of(options).find("expected no --device cpu") != std::string::npos);
    options.wish.engine = "cpu";
    CHECK(message_of(options).empty());
    options.bench.only = {"cpu"};
    CHECK(message_of(options).find("--engine and --only") != std::string::npos);
    options.wish.engine = "auto";
    CHECK(message_of(options).find("--engine auto") != std::string::npos);
}

TEST_CASE("which runs read a data set") {
    Options options;
    CHECK(uses_data_set(options));
    options.bench.dim = 9;
    CHECK(!uses_data_set(options));
    options.bench.dim = 0;
    for (const BenchCase& one : bench_cases()) {
        options.bench.which = one.name;
        CHECK(uses_data_set(options) ==
              (one.name == std::string("garrett") || one.name == std::string("graph") ||
               one.name == std::string("transforms") || one.name == std::string("rerank")));
    }
}

TEST_CASE("random images need their number and no files") {
    Options options;
    options.bench.dim = 9;
    CHECK(message_of(options).find("expected --n-train") != std::string::npos);
    options.given = {"dim", "n-train", "n-query"};
    CHECK(message_of(options).empty());
    options.given.insert("data");
    CHECK(message_of(options).find("come from no file") != std::string::npos);
}

TEST_CASE("a sample has its first and its last") {
    CHECK(sample(0, 8).empty());
    CHECK(sample(1, 8) == std::vector<std::int64_t>{0});
    CHECK(sample(3, 8) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(sample(101, 3) == std::vector<std::int64_t>{0, 50, 100});
}

TEST_CASE("a workload finds what differs from the reference") {
    Workload work(50, 7, 12, 4, 3);
    work.expected = search_on_cpu(work.train(), work.query(), 4, {});
    Neighbors found = work.expected;
    CHECK(work.mismatch(found).empty());
    found.n_query = 5;  // only the first ones
    CHECK(work.mismatch(found).empty());
    found.row(2)[1].index ^= 1;
    CHECK(work.mismatch(found).starts_with("query 2, rank 2: "));

    // A sample is known: the queries that were found.
    Neighbors some(2, 4);
    std::copy_n(work.expected.row(1).begin(), 4, some.row(0).begin());
    std::copy_n(work.expected.row(4).begin(), 4, some.row(1).begin());
    work.expected = some;
    work.checked = {1, 4};
    CHECK(work.mismatch(found).empty());
    found.row(4)[3].index ^= 1;
    CHECK(work.mismatch(found).starts_with("query 4, rank 4: "));
    found.n_query = 4;
    CHECK(work.mismatch(found).empty());

    std::vector<std::uint32_t> row(50);
    cpu::serial_distances(work.train(), work.query().row(6), row);
    CHECK(work.mismatch(6, row).empty());
    ++row[49];
    CHECK(work.mismatch(6, row).starts_with("query 6, training image 49: "));
    --row[49];
    work.exclude = {.first = 20};
    CHECK(work.mismatch(6, row).starts_with("query 6, training image 26: "));
    row[26] = excluded_distance;
    CHECK(work.mismatch(6, row).empty());
}

TEST_CASE("a workload knows the metric and judges by it") {
    Workload work(1500, 2, 9, 3, 3);  // more than one search of the CPU engine returns
    const test::Rows train = {{work.train().pixels, work.train().pixels + 1500 * 9}, 1500, 9},
                     query = {{work.query().pixels, work.query().pixels + 2 * 9}, 2, 9};
    for (const Measure& measure :
         {Measure{}, Measure{Metric::l1}, Measure{Metric::lp, 3}, Measure{Metric::cosine}}) {
        work.measure = measure;
        CHECK(work.problem(3).measure == measure);
        std::vector<std::uint32_t> row(1500);
        const auto nearest = test::nearest(train, query, 1500, measure);
        for (const auto& [score, index] : nearest[1])
            row[static_cast<std::size_t>(index)] = static_cast<std::uint32_t>(score);
        CHECK(work.mismatch(1, row).empty());
        ++row[1200];
        CHECK(work.mismatch(1, row).starts_with("query 1, training image 1200: "));
    }
}

TEST_CASE("random images are the same every time and fill the range") {
    const Workload a(40, 3, 17, 1, 5), b(40, 3, 17, 1, 5), c(40, 3, 17, 1, 6);
    const std::vector<std::uint8_t> bytes(a.train().pixels, a.train().pixels + 40 * 17);
    CHECK(std::equal(bytes.begin(), bytes.end(), b.train().pixels));
    CHECK(!std::equal(bytes.begin(), bytes.end(), c.train().pixels));
    CHECK(*std::max_element(bytes.begin(), bytes.end()) > 240);
    CHECK(*std::min_element(bytes.begin(), bytes.end()) < 15);
}

}  // namespace knn
