#include "app/bench/run.h"

#include <sys/wait.h>
#include <unistd.h>

#include "app/console/console.h"
#include "classifier/engines.h"
#include "data/core/errors.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

namespace knn {

namespace {

std::string message_of(const Options& options) {
    return test::error_of<UsageError>([&] { check_bench_options(options); });
}

}  // namespace

TEST_CASE("bench knows every name of the tables, each once") {
    const std::vector<std::string> names = bench_names();
    const auto check_each = [&](const auto& all) {
        for (const auto& one : all)
            CHECK(std::count(names.begin(), names.end(), one.name) == 1);
    };
    check_each(distance_kernels());
    check_each(selectors());
    check_each(engines());
    check_each(search_ways());
    check_each(cpu::serial_selectors());
}

TEST_CASE("engines are listed with their baselines") {
    const SearchWay own = search_way("classic"), unfused = search_way("classic+gemm+replace_max");
    CHECK(own.engine == find_engine("classic"));
    CHECK(own.distance + own.select == "");
    CHECK(unfused.engine == own.engine);
    CHECK(unfused.distance == "gemm");
    CHECK(unfused.select == "replace_max");
    CHECK(parse_only("--only", "classic+gemm+replace_max") == std::vector<std::string>{unfused.name});
}

TEST_CASE("--only takes names and suggests corrections") {
    CHECK(parse_only("--only", "cpu,nth_element") == std::vector<std::string>{"cpu", "nth_element"});
    CHECK_THROWS_WITH_AS(parse_only("--only", "cpu,nth_elemnt"),
                         doctest::Contains("did you mean nth_element?"), UsageError);
    if (distance_kernels().empty())
        CHECK_THROWS_WITH_AS(parse_only("--only", "row_shared"), doctest::Contains("or a build with CUDA"),
                             UsageError);
    CHECK_THROWS_AS(parse_only("--only", ""), UsageError);
    CHECK_THROWS_AS(parse_only("--only", "cpu,"), UsageError);
    BenchOptions options;
    CHECK(is_wanted(options, "cpu"));
    options.only = {"classic"};
    CHECK(!is_wanted(options, "cpu"));
}

TEST_CASE("which options a case takes, and which it fixes itself") {
    const struct {
        const char* which;
        std::vector<std::string> takes, fixes;
    } cases[] = {
        {"zhu",
         {},
         {"-k", "n-train", "n-query", "dim", "distance", "select", "engine", "metric", "data", "test-labels",
          "extra"}},
        {"garrett", {"-k", "n-train", "n-query", "data"}, {"dim"}},
        {"graph",
         {"-k", "n-train", "train-images"},
         {"n-query", "test", "test-images", "test-labels"}},  // every training image is a query
        {"sketches", {"-k", "n-train", "n-query"}, {"dim", "metric"}},
        {"transforms", {"n-train", "train-images"}, {"-k", "n-query", "metric", "engine", "test-images"}},
        {"rerank", {"n-train", "n-query", "data"}, {"-k"}},
    };
    for (const auto& one : cases) {
        CAPTURE(one.which);
        Options options;
        options.bench.which = one.which;
        options.given = {one.takes.begin(), one.takes.end()};
        CHECK(message_of(options).empty());
        for (const std::string& name : one.fixes) {
            options.given = {name};
            const bool no_test_set = name.starts_with("test") && one.which != std::string("zhu");
            CHECK(test::contains(message_of(options),
                                 std::string("the case ") + one.which +
                                     (no_test_set ? " takes no test set" : " has its own")));
        }
    }
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

TEST_CASE("options that contradict each other or have no effect") {
    constexpr DeviceKind any = DeviceKind::automatic, cpu = DeviceKind::cpu;
    const struct {
        const char *distance, *select, *engine;
        DeviceKind device;
        const char *only, *message;  ///< no message: they can be combined
        bool names_gpu_kernels = false;
    } cases[] = {
        {"gemm", "", "", any, "", "", true},
        {"gemm", "", "", cpu, "", "expected no --device cpu", true},
        {"gemm", "", "", any, "tiled,cpu,nth_element", "behind it, and --only names none", true},
        {"gemm", "", "", any, "rank", "", true},
        {"", "rank", "", any, "rank", "behind distance kernels, and --only names none", true},
        {"", "rank", "", any, "tiled", "", true},
        {"", "", "classic", any, "", ""},
        {"", "", "classic", cpu, "", "expected no --device cpu"},
        {"", "", "cpu", cpu, "", ""},
        {"", "", "cpu", cpu, "cpu", "--engine and --only"},
    };
    for (const auto& one : cases) {
        if (one.names_gpu_kernels && distance_kernels().empty()) continue;
        Options options;
        options.request.distance = one.distance;
        options.request.select = one.select;
        if (*one.engine != '\0') options.request.engine = one.engine;
        options.request.device.kind = one.device;
        if (*one.only != '\0') options.bench.only = parse_only("--only", one.only);
        const std::string message = message_of(options);
        CAPTURE(message);
        CAPTURE(one.message);
        CHECK(message.empty() == (*one.message == '\0'));
        CHECK(test::contains(message, one.message));
    }
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
              has({"garrett", "graph", "sketches", "transforms", "rerank"}, one.name));
    }
}

TEST_CASE("random images need their number") {
    Options options;
    options.bench.dim = 9;
    CHECK(test::contains(message_of(options), "expected --n-train"));
    options.given = {"dim", "n-train", "n-query"};
    CHECK(message_of(options).empty());
}

TEST_CASE("a sample has its first and its last") {
    CHECK(sample(0, 8).empty());
    CHECK(sample(1, 8) == std::vector<std::int64_t>{0});
    CHECK(sample(3, 8) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(sample(101, 3) == std::vector<std::int64_t>{0, 50, 100});
}

TEST_CASE("a workload finds what differs from the reference") {
    Workload work(50, 7, 12, 4, 3);
    work.expected = search_on_cpu(work.train, work.query, 4, {});
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
    cpu::serial_distances(work.train, work.query.row(6), row);
    CHECK(work.mismatch(6, row).empty());
    ++row[49];
    CHECK(work.mismatch(6, row).starts_with("query 6, training image 49: "));
    --row[49];
    work.leave_one_out = true;
    CHECK(work.mismatch(6, row).starts_with("query 6, training image 6: "));
    row[6] = excluded_distance;
    CHECK(work.mismatch(6, row).empty());
}

TEST_CASE("a workload compares scores of its metric") {
    Workload work(1500, 2, 9, 3, 3);  // more than one search of the CPU engine returns
    for (const Measure& measure :
         {Measure{}, Measure{Metric::l1}, Measure{Metric::lp, 3}, Measure{Metric::cosine}}) {
        work.measure = measure;
        CHECK(work.problem(3).measure == measure);
        std::vector<std::uint32_t> row(1500);
        const Neighbors nearest = test::nearest(work.train, work.query, 1500, measure);
        for (const auto& [score, index] : nearest.row(1))
            row[index] = score;
        CHECK(work.mismatch(1, row).empty());
        ++row[1200];
        CHECK(work.mismatch(1, row).starts_with("query 1, training image 1200: "));
    }
}

TEST_CASE("random images are the same every time and fill the range") {
    const Workload a(40, 3, 17, 1, 5), b(40, 3, 17, 1, 5), c(40, 3, 17, 1, 6);
    const std::vector<std::uint8_t> bytes(a.train.pixels, a.train.pixels + 40 * 17);
    CHECK(std::equal(bytes.begin(), bytes.end(), b.train.pixels));
    CHECK(!std::equal(bytes.begin(), bytes.end(), c.train.pixels));
    CHECK(*std::max_element(bytes.begin(), bytes.end()) > 240);
    CHECK(*std::min_element(bytes.begin(), bytes.end()) < 15);
}

TEST_CASE("bench: random images look for a stop") {
    const pid_t child = ::fork();  // what was asked to stop cannot go on
    if (child == 0) {
        watch_for_interrupts();
        std::raise(SIGINT);
        try {
            const Workload work(50, 7, 12, 4, 3);
        } catch (const Interrupted&) {
            ::_exit(0);
        }
        ::_exit(1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

}  // namespace knn
