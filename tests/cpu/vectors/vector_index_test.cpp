/// The engine `cpu` among rows that are not uint8: the neighbors of the oracle, whatever finds them.

#include "cpu/vectors/vector_index.h"

#include "classifier/exact_distances.h"
#include "classifier/index.h"
#include "cpu/host/host.h"
#include "cpu/kernels/kernels.h"
#include "data/core/clock.h"
#include "data/core/errors.h"
#include "tests/support/real_oracle.h"
#include "tests/support/surroundings.h"
#include "tests/support/test.h"

namespace knn {
namespace {

const Measure real_l2{Metric::l2, 2, true};

std::vector<Measure> searched_measures() {
    return {real_l2,
            {Metric::l1, 2, true},
            {Metric::cosine, 2, true},
            {Metric::pearson, 2, true},
            {Metric::lp, 3, true},
            {Metric::lp, 0.5, true}};
}

struct Searched {
    Neighbors neighbors;
    Timeline timeline;

    bool ran(const std::string& stage) const {
        for (const Stage& one : timeline.stages())
            if (one.name == stage) return true;
        return false;
    }
};

Searched searched(const Rows& train, const Queries& queries, int k, const Measure& measure, int threads = 2) {
    Searched result;
    const auto index = open_on_cpu(train, queries.count(), k, measure, threads);
    result.neighbors = nearest_of(*index, queries, k, result.timeline, {});
    return result;
}

void check_oracle(const Rows& train, const Queries& queries, int k, const Measure& measure) {
    REQUIRE(searched(train, queries, k, measure).neighbors.rows ==
            test::nearest_reals(train, queries.rows, k, measure, queries.images).rows);
}

TEST_CASE("cpu vectors: hostile sets, every metric, with themselves and with others") {
    int filtered = 0, exhaustive = 0;
    for (const ElementType type : {ElementType::int8, ElementType::float32, ElementType::float64})
        for (const test::RealSet& set : test::hostile_real_sets(type)) {
            CAPTURE(set.name);
            CAPTURE(name(type));
            const Rows rows = set.rows();
            for (const Measure& measure : searched_measures()) {
                if (measure.metric == Metric::lp && set.dim > 100) continue;
                CAPTURE(name(measure.metric));
                for (const int k : {set.dim % 2 == 0 ? 1 : 7}) {
                    CAPTURE(k);
                    const Rows some = rows.slice(100, 12);
                    if (refuse_elements(measure, magnitude_of(rows), rows.dim)) continue;
                    const auto with_others = searched(rows.first(1400), some, k, measure);
                    const Neighbors right = test::nearest_reals(rows.first(1400), some, k, measure);
                    REQUIRE(with_others.neighbors.rows == right.rows);
                    filtered += with_others.ran("refine");
                    exhaustive += with_others.ran("all_pairs");
                    check_oracle(rows, Queries::some_of(rows, 100, 12), k, measure);
                }
            }
        }
    CHECK(filtered > 50);
    CHECK(exhaustive > 50);
}

TEST_CASE("cpu vectors: every instruction set and number of threads") {
    const test::RealSet set = test::normal_set(1300, 83, 11, 5);
    const Rows rows = set.rows();
    test::EveryThird combination;
    for (const Measure& measure : searched_measures()) {
        CAPTURE(name(measure.metric));
        const Queries own = Queries::all_of(rows);
        const Neighbors right = test::nearest_reals(rows, rows.first(50), 6, measure, own.images.first(50));
        for (const std::string& isa : cpu::instruction_sets()) {
            const test::Isa chosen(isa);
            CAPTURE(isa);
            for (const int threads : {1, 3}) {
                if (!combination.runs()) continue;
                const Neighbors found = searched(rows, own, 6, measure, threads).neighbors;
                REQUIRE(std::equal(right.rows.begin(), right.rows.end(), found.rows.begin()));
                if (threads == 1) {
                    const Neighbors other =
                        searched(rows, own.slice(1000, 300), 6, measure, threads).neighbors;
                    REQUIRE(std::equal(other.rows.begin(), other.rows.end(), found.row(1000).begin()));
                }
            }
        }
    }
}

TEST_CASE("cpu vectors: angles of rows so short that squares lose bits") {
    const test::RealSet long_ones = test::normal_set(1500, 8, 5, 9, ElementType::float64);
    std::vector<double> values(static_cast<std::size_t>(long_ones.n * long_ones.dim));
    std::memcpy(values.data(), long_ones.bytes.data(), long_ones.bytes.size());
    for (const int only : {1, 3}) {  // every row, or every third
        std::vector<double> shorter = values;
        for (std::size_t i = 0; i < shorter.size(); ++i)
            if (i / 8 % static_cast<std::size_t>(only) == 0)
                shorter[i] *= 1e-161 / static_cast<double>(1 + i / 8 % 5);
        const test::RealSet set = test::real_set("", shorter, 8, ElementType::float64);
        for (const Metric metric : {Metric::cosine, Metric::pearson})
            for (const test::RealSet* train : {&set, &long_ones})
                check_oracle(train->rows(), set.rows().first(40), 5, {metric, 2, true});
    }
}

TEST_CASE("cpu vectors: random problems") {
    std::mt19937_64 random(21);
    const auto upto = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n) + 1; };
    for (int i = 0; i < 40; ++i) {
        CAPTURE(i);
        const std::int64_t n = i % 3 == 0 ? upto(40) : 1000 + upto(400), dim = upto(40);
        const ElementType type =
            std::array{ElementType::int8, ElementType::float32, ElementType::float64}[random() % 3];
        const int centers = static_cast<int>(random() % 3) * 4;
        const test::RealSet set = test::normal_set(n + 15, dim, random(), centers, type);
        const Rows train = set.rows().first(n), others = set.rows().slice(n, 15);
        const auto measures = searched_measures();
        const Measure measure = measures[random() % measures.size()];
        CAPTURE(name(measure.metric));
        const int k = static_cast<int>(std::min<std::int64_t>(upto(30), n));
        check_oracle(train, others, k, measure);
    }
}

TEST_CASE("cpu vectors: queries far outside of the range of the training set") {
    const test::RealSet set = test::normal_set(1500, 20, 3);
    std::vector<double> far;
    for (int i = 0; i < 40; ++i)
        for (int j = 0; j < 20; ++j)
            far.push_back(j == i % 20 ? (i % 2 == 0 ? 1e3 : -1e20) : 0.3 * j);
    const test::RealSet queries = test::real_set("far", far, 20);
    for (const Measure& measure : searched_measures())
        check_oracle(set.rows(), queries.rows(), 5, measure);
}

TEST_CASE("cpu vectors: the largest k, and rows of the largest length") {
    const test::RealSet set = test::normal_set(1500, 5, 31, 2);
    const Rows rows = set.rows();
    for (const int k : {600, 1000, 1024})
        check_oracle(rows, Queries::some_of(rows, 0, 20), k, real_l2);
    const test::RealSet wide = test::normal_set(30, max_columns, 32);
    check_oracle(wide.rows(), wide.rows(), 30, real_l2);
}

TEST_CASE("cpu vectors: bytes, as rows of int8, are as far as pixels") {
    std::mt19937_64 random(5);
    std::vector<double> values;
    for (int i = 0; i < 1400 * 30; ++i)
        values.push_back(static_cast<double>(random() % 128));
    const test::RealSet real = test::real_set("", values, 30, ElementType::int8);
    const test::RealSet bytes = test::real_set("", values, 30, ElementType::uint8);
    const Searched found = searched(real.rows(), Queries::all_of(real.rows()), 5, real_l2);
    CHECK_FALSE(found.ran("all_pairs"));
    const Neighbors right = search_on_cpu(bytes.rows(), Queries::all_of(bytes.rows()), 5, {});
    for (std::size_t i = 0; i < right.rows.size(); ++i) {
        REQUIRE(found.neighbors.rows[i].index == right.rows[i].index);
        REQUIRE(distance_of(real_l2, found.neighbors.rows[i].distance) == right.rows[i].distance);
    }
}

TEST_CASE("cpu vectors: exact distances of what was found") {
    const test::RealSet set = test::normal_set(300, 33, 8);
    const Rows rows = set.rows();
    for (const Measure& measure : searched_measures()) {
        const Neighbors found = searched(rows, rows.first(20), 4, measure).neighbors;
        const Uninitialized<double> distances = exact_distances(rows, rows.first(20), found, measure, 2);
        for (std::int64_t q = 0; q < 20; ++q)
            for (std::int64_t i = 0; i < 4; ++i) {
                const double distance = distances[static_cast<std::size_t>(4 * q + i)];
                const double defined = test::defined_distance(
                    measure, rows, q, rows, found.row(q)[static_cast<std::size_t>(i)].index);
                REQUIRE(distance == shown_distance(measure, defined));
            }
    }
}

/// Searches bytes as the CPU does, and takes no k above 100.
class FewNeighbors final : public DeviceIndex {
  public:
    static constexpr int most_k = 100;

    FewNeighbors(const Rows& rows, const Measure& measure)
        : index_(open_on_cpu(rows, rows.count, most_k, measure, 2)) {}

    std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                       const ProgressToken& token) override {
        CHECK(wanted.k <= most_k);
        return index_->top_k(wanted, result, timeline, token);
    }

  private:
    std::unique_ptr<DeviceIndex> index_;
};

TEST_CASE("cpu vectors: over a search of bytes that finds few neighbors, on a device") {
    const test::RealSet set = test::normal_set(1500, 12, 17, 6);
    const Rows rows = set.rows();
    const Queries own = Queries::some_of(rows, 3, 300);
    const Plan plan{.device = {.kind = Device::Kind::gpu}, .threads = 2};
    for (const Measure& measure : searched_measures())
        for (const int k : {1, 60, 68, 69, 100, 101}) {
            CAPTURE(name(measure.metric));
            CAPTURE(k);
            const auto index = cpu::open_vectors(
                rows, measure, plan,
                [](const Rows& bytes, const Measure& by, const Plan&) -> std::unique_ptr<DeviceIndex> {
                    return std::make_unique<FewNeighbors>(bytes, by);
                },
                FewNeighbors::most_k);
            Searched found;
            found.neighbors = nearest_of(*index, own, k, found.timeline, {});
            REQUIRE(found.neighbors.rows == test::nearest_reals(rows, own.rows, k, measure, own.images).rows);
            CHECK(found.ran("refine") == (k <= 68 && measure.metric != Metric::lp));
            for (const Stage& stage : found.timeline.stages())
                CHECK((stage.kind == StageKind::host) ==
                      (stage.name == "check" || stage.name == "quantize" || stage.name == "refine" ||
                       stage.name == "all_pairs"));
        }
}

/// Searches bytes as the CPU does, and has the real rows too. Of the answers to real queries it proves two of three.
class KeepsRows final : public DeviceIndex {
  public:
    static inline std::atomic<int> real_searches = 0;

    KeepsRows(const Rows& bytes, const Measure& measure)
        : index_(open_on_cpu(bytes, bytes.count, 40, measure, 2)) {}

    bool keep(const QuantizedRows& rows) override {
        rows_ = rows;
        CHECK(std::ssize(rows.norms) == (rows.bound.is_angle ? rows.rows.count : 0));
        CHECK(std::ssize(rows.offsets) == rows.rows.dim);
        CHECK(rows.largest_lost > 0);
        return true;
    }
    std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                       const ProgressToken& token) override {
        const Queries& queries = wanted.queries;
        if (queries.rows.are_bytes()) return index_->top_k(wanted, result, timeline, token);
        ++real_searches;
        CHECK(wanted.candidates > wanted.k);
        CHECK(std::ssize(wanted.norms) == (rows_.bound.is_angle ? queries.count() : 0));
        const Neighbors found =
            test::nearest_reals(rows_.rows, queries.rows, wanted.k, rows_.measure, queries.images);
        std::copy(found.rows.begin(), found.rows.end(), result.neighbors.begin());
        for (std::int64_t q = 0; q < queries.count(); q += 3)
            std::fill_n(result.neighbors.begin() + q * wanted.k, wanted.k, no_neighbor);
        return queries.count();
    }

  private:
    std::unique_ptr<DeviceIndex> index_;
    QuantizedRows rows_;
};

TEST_CASE("cpu vectors: over an index that has the rows, what it does not prove is found by the host") {
    const test::RealSet set = test::normal_set(1500, 12, 18, 6);
    const Rows rows = set.rows();
    int searches = 0;
    for (const Measure& measure : searched_measures()) {
        if (measure.metric == Metric::lp) continue;
        CAPTURE(name(measure.metric));
        const auto index = cpu::open_vectors(
            rows, measure, {.threads = 2},
            [](const Rows& bytes, const Measure& by, const Plan&) -> std::unique_ptr<DeviceIndex> {
                return std::make_unique<KeepsRows>(bytes, by);
            });
        Timeline timeline;
        for (const int k : {1, 7, 1100})  // with 1,100 candidates are too many
            for (const Queries& queries : {Queries(rows.slice(40, 200)), Queries::some_of(rows, 3, 200)}) {
                CHECK(nearest_of(*index, queries, k, timeline, {}).rows ==
                      test::nearest_reals(rows, queries.rows, k, measure, queries.images).rows);
                searches += k < 1100 ? 1 : 0;
            }
    }
    CHECK(KeepsRows::real_searches == searches);
}

TEST_CASE("cpu vectors: the search of bytes for a problem") {
    const Problem reals{2000, 10, 5, 3, {Metric::pearson, 2, true}, ElementType::float32};
    const Problem bytes = cpu::byte_problem(reals).value();
    CHECK(bytes.measure == Measure{});
    CHECK(bytes.type == ElementType::uint8);
    CHECK(bytes.k == 3);
    CHECK(cpu::byte_problem({300, 10, 5, 3, {Metric::l1, 2, true}, ElementType::int8})->measure ==
          Measure{Metric::l1});
    CHECK_FALSE(cpu::byte_problem({300, 10, 5, 3, {Metric::lp, 3, true}, ElementType::int8}));
}

TEST_CASE("cpu vectors: what cannot be searched is refused in a line") {
    const test::RealSet bad = test::real_set("", {1, 2, 3, std::nan("")}, 2);
    const test::RealSet good = test::real_set("", {1, 2, 3, 4}, 2);
    CHECK(test::error_of<std::invalid_argument>([&] { search_on_cpu(bad.rows(), good.rows(), 1, {}); }) ==
          "training set: row 1, column 1 is not finite; expected finite numbers");
    CHECK(test::error_of<std::invalid_argument>([&] { search_on_cpu(good.rows(), bad.rows(), 1, {}); }) ==
          "queries: row 1, column 1 is not finite; expected finite numbers");
    const Problem wide{10, 10, max_columns + 1, 1, real_l2, ElementType::float32};
    CHECK(refuse_problem(wide).value_or("") == "rows of 65537 columns are too long; expected at most 65536");
}

TEST_CASE("cpu vectors: neighbors that need more memory than is free are refused first, as those of bytes") {
    const std::int64_t available = cpu::available_bytes();
    if (available < 0) return;
    const std::int64_t n = available / (max_k * std::int64_t{sizeof(Neighbor)}) + 10'000;
    const std::vector<float> zeros(static_cast<std::size_t>(std::max<std::int64_t>(n, max_k)));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(zeros.data());
    Neighbor untouched{};
    for (const ElementType type : {ElementType::uint8, ElementType::float32}) {
        CAPTURE(name(type));
        const Rows train{bytes, max_k, 1, type}, queries{bytes, n, 1, type};
        const auto index = open_on_cpu(train, n, max_k, measure_of({}, type), 1);
        Timeline timeline;
        const std::string why = test::error_of<MemoryError>([&] {
            index->top_k({.queries = queries, .k = max_k}, {{&untouched, std::size_t(n) * max_k}}, timeline,
                         {});
        });
        CHECK(test::contains(why, "for " + std::to_string(n) + " others needs "));
    }
}

TEST_CASE("cpu vectors: progress is of all queries, also where bytes prove nothing for most of them") {
    constexpr std::size_t n = 4000, dim = 64;
    std::vector<double> values;
    std::mt19937 random(4);
    std::uniform_real_distribution<double> upto(0, 100);
    for (std::size_t i = 0; i < n; ++i)  // those by which the depth is chosen are apart, the others not
        for (std::size_t j = 0; j < dim; ++j)
            values.push_back(i % 125 == 0 ? upto(random) : 500 + 1e-9 * upto(random));
    const test::RealSet set = test::real_set("one place", values, dim);
    std::int64_t last = 0, calls = 0;
    const auto progress = [&](std::int64_t done, std::int64_t total) {
        CHECK(total == std::int64_t{n});
        CHECK((done >= last && done <= total));
        last = done;
        ++calls;
    };
    search_on_cpu(set.rows(), Queries::all_of(set.rows()), 1, real_l2, {.progress = progress}, 1);
    CHECK(calls > 0);
}

TEST_CASE("cpu vectors: a search stops soon") {
    const test::RealSet set = test::normal_set(4000, 400, 9);
    const Rows rows = set.rows();
    for (const Measure& measure : {real_l2, Measure{Metric::lp, 0.7, true}}) {
        std::atomic<bool> stop = false;
        std::chrono::steady_clock::time_point asked;
        std::thread other([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            asked = Clock::now();
            stop = true;
        });
        try {
            for (int i = 0; i < 1000; ++i)
                search_on_cpu(rows, rows, 5, measure, {.progress = nullptr, .stop = &stop}, 1);
            FAIL("was not stopped");
        } catch (const Interrupted&) {
        }
        other.join();
        CHECK(ms_since(asked) < 200);
        const Neighbors found = search_on_cpu(rows, rows.first(2), 9, measure);
        CHECK_THROWS_AS(
            exact_distances(rows, rows.first(2), found, measure, 1, {.progress = nullptr, .stop = &stop}),
            Interrupted);
    }
}

}  // namespace
}  // namespace knn
