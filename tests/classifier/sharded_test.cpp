// Several devices and ranks against one device and against plain loops.

#include "classifier/sharded.h"

#include "classifier/vote.h"
#include "cpu/search.h"
#include "tests/support/images.h"
#include "tests/support/real_oracle.h"
#include "tests/support/sharded.h"
#include "tests/support/test.h"
#include "tests/support/thread_ranks.h"

namespace knn {

namespace {

/// A configured plan of `devices` times the CPU.
Plan plan_for(int devices, Placement spread, std::int64_t memory = 0, const Measure& measure = {}) {
    Plan plan{.engine = "cpu", .device = cpu_device()};
    plan.threads = 2;
    REQUIRE(!cpu::configure({1, 1, 1, 1, measure}, plan));
    plan.devices.assign(devices > 1 ? static_cast<std::size_t>(devices) : 0, plan.device);
    plan.placement = spread;
    plan.memory = memory;
    return plan;
}

Uninitialized<Neighbor> nearest_in(Sharded& sharded, const Queries& queries, int k, Timeline& timeline,
                                   const ProgressToken& token = {}) {
    Neighbors found(queries.count(), k);
    sharded.top_k({.queries = queries, .k = k}, {found.rows}, queries.count(), timeline, token);
    return found.rows;
}

/// A device of plain loops, whose batches are final before the last ones are found, as those of a GPU are. It takes known
/// neighbors and votes.
class PlainIndex final : public DeviceIndex {
  public:
    static inline std::int64_t batch_size = 1;
    static inline int fails_at = -1;                       ///< the batch at which it throws; -1: none
    static inline std::atomic<int> searches_of_known = 0;  // shards are threads

    PlainIndex(const Training& training, const Measure& measure)
        : points_(training.features.count > 0 ? training.features : training.rows),
          labels_(training.labels),
          measure_(measure) {}

    std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline&,
                       const ProgressToken&) override {
        require_top_k(wanted, result, points_.count);
        if (!wanted.known.neighbors.empty()) ++searches_of_known;
        const Neighbors nearest =
            test::nearest(points_, wanted.queries.rows, static_cast<int>(points_.count), measure_);
        const auto k = static_cast<std::size_t>(wanted.k);
        const std::int64_t n_query = wanted.queries.count();
        for (std::int64_t begin = 0, batch = 0; begin < n_query; begin += batch_size, ++batch) {
            if (batch == fails_at) throw DeviceError("no more");
            const auto first = static_cast<std::size_t>(begin);
            const auto n = static_cast<std::size_t>(std::min(batch_size, n_query - begin));
            const auto rows = result.neighbors.subspan(first * k, n * k);
            for (std::size_t q = 0; q < n; ++q)
                merge(wanted, first + q, nearest.row(static_cast<std::int64_t>(first + q)),
                      rows.subspan(q * k, k));
            ResultBatch found{begin, rows};
            if (wanted.vote != nullptr) {
                const auto voted = result.votes.subspan(first, n);
                vote_rows(rows, wanted.k, labels_, *wanted.vote, {}, 1, voted);
                found.votes = voted;
            }
            if (wanted.on_batch) wanted.on_batch(found);
        }
        return batch_size;
    }

  private:
    /// The nearest here and those that are known.
    static void merge(const TopKRequest& wanted, std::size_t q, std::span<const Neighbor> nearest,
                      std::span<Neighbor> out) {
        const auto known = wanted.known.neighbors;
        std::vector<Neighbor> both;
        if (!known.empty()) {
            const auto row = known.subspan(q * out.size(), out.size());
            both.assign(row.begin(), row.end());
        }
        for (const Neighbor& one : both)
            CHECK((one.index < wanted.known.first || one == no_neighbor));
        for (const auto& [distance, index] : nearest)
            if (!wanted.queries.leaves_out() || index != wanted.queries.images[q])
                both.push_back({distance, index + (known.empty() ? 0 : wanted.known.first)});
        std::sort(both.begin(), both.end());
        std::copy_n(both.begin(), out.size(), out.begin());
    }

    Rows points_;
    std::span<const std::uint8_t> labels_;
    Measure measure_;
};

std::unique_ptr<DeviceIndex> open_plain(const Training& training, const Measure& measure, const Plan&,
                                        Timeline&) {
    return std::make_unique<PlainIndex>(training, measure);
}
const Engine plain{"plain", "", false, nullptr, open_plain},
    with_known{"plain", "", false, nullptr, open_plain, {.known = true}},
    voting{"plain", "", false, nullptr, open_plain, {.votes = true}};

/// An engine, and how many queries are a batch of PlainIndex.
struct Way {
    const Engine* engine;
    std::int64_t batch = 1;
};

/// Equal images, ties, few ties, duplicates in different parts, every metric, and leave-one-out.
std::vector<test::Searched> searches() {
    std::vector<test::Searched> all;
    for (const int levels : {1, 3, 256})
        all.push_back(
            {test::random_rows(83, 5, 11, levels), test::random_rows(29, 5, 12, levels), {1, 40, 83}});
    const test::Rows twice = test::repeated(test::random_rows(30, 3, 5, 3), 2);
    const std::vector<int> ks{1, 6, 9, 10, 59};
    all.push_back({twice, test::random_rows(25, 3, 9, 3), ks});
    for (const auto& [exclude, n] : {std::pair<Exclude, std::int64_t>{{.first = 0}, 60},
                                     {{.first = 17}, 30},
                                     {{.first = 59}, 1},
                                     {{0, 60, 7}, 7},
                                     {{3, 9, 4}, 20}})
        all.push_back({twice, test::taken(twice, exclude, n), ks, exclude});
    for (const Measure& measure : {Measure{Metric::l1, 2}, Measure{Metric::lp, 3}, Measure{Metric::cosine, 2},
                                   Measure{Metric::pearson, 2}})
        all.push_back({test::random_rows(50, 6, 8, 4), test::random_rows(33, 6, 9, 4), {9}, {}, measure});
    return all;
}

/// What all ranks find, which must be the same.
Uninitialized<Neighbor> found_by_ranks(const test::Searched& searched, int k, int size, Placement spread) {
    std::vector<Uninitialized<Neighbor>> found(static_cast<std::size_t>(size));
    test::run_ranks(size, [&](Ranks& ranks) {
        Resolved resolved{find_engine("cpu"), plan_for(1, spread), "", &ranks};
        resolved.plan.ranks = size;
        const Training training{test::view(searched.points), {}};
        Index classifier(training, {.vote = {k}}, resolved);
        Results results = classifier.search(searched.as_queries(), {.vote = false});
        found[static_cast<std::size_t>(ranks.rank())] = std::move(results.neighbors.rows);
        CHECK(results.timeline.device_ms().size() == static_cast<std::size_t>(size));
    });
    for (const auto& rows : found)
        CHECK(rows == found.front());
    return found.front();
}

}  // namespace

TEST_CASE("spread: shares differ by one at most and have no gap") {
    for (const std::int64_t n : {0, 1, 2, 7, 60'000})
        for (const std::int64_t shares : {1, 2, 3, 8, 1'000}) {
            std::int64_t end = 0;
            for (std::int64_t i = 0; i < shares; ++i) {
                const Range share = range_of(n, shares, i);
                CHECK(share.begin == end);
                CHECK(share.count >= n / shares);
                CHECK(share.count <= n / shares + 1);
                end = share.end();
            }
            CHECK(end == n);
        }
    const std::int64_t many = std::int64_t{1} << 62;
    CHECK(range_of(many + 3, 7, 6).end() == many + 3);
}

TEST_CASE("spread: any engine, devices and parts find what plain loops find, and call back once a query") {
    PlainIndex::searches_of_known = 0;
    test::EveryThird combination;
    for (const test::Searched& searched : searches()) {
        const Neighbors expected = searched.expected();
        for (const int k : searched.ks)
            for (const Way& way : {Way{find_engine("cpu")}, {&plain, 7}, {&with_known, 1}, {&with_known, 64}})
                for (const int devices : {1, 2, 5})
                    for (const Placement spread : test::both_placements)
                        for (const std::int64_t memory :
                             {std::int64_t{0}, 20 * searched.points.dim}) {  // parts of 10
                            if (!combination.runs()) continue;
                            CAPTURE(way.batch);
                            PlainIndex::batch_size = way.batch;
                            test::check_found(*way.engine, searched, expected, k,
                                              plan_for(devices, spread, memory, searched.measure));
                        }
    }
    CHECK(PlainIndex::searches_of_known > 0);
}

TEST_CASE("spread: real rows in parts, by an engine that takes known neighbors of bytes") {
    const test::RealSet set = test::normal_set(1500, 12, 3, 4);
    const Rows rows = set.rows();
    Engine engine = *find_engine("cpu");
    engine.can.known = true;
    const Measure measure{Metric::l2, 2, true};
    Plan plan{.engine = "cpu", .device = cpu_device()};
    REQUIRE(!cpu::configure({rows.count, 40, rows.dim, 7, measure, rows.type}, plan));
    plan.memory = rows.bytes() / 3;
    Timeline timeline;
    Sharded sharded(engine, {rows, {}}, measure, plan, nullptr, timeline);
    const Queries own = Queries::some_of(rows, 700, 40);
    CHECK(nearest_in(sharded, own, 7, timeline) ==
          test::nearest_reals(rows, own.rows, 7, measure, own.images).rows);
}

TEST_CASE("spread: more devices than images, and parts of one image") {
    const test::Searched searched{test::random_rows(13, 5, 11, 3), test::random_rows(9, 5, 12, 3), {13}};
    const Neighbors expected = searched.expected();
    for (const Way& way : {Way{find_engine("cpu")}, {&plain, 2}})
        for (const Placement spread : test::both_placements)
            for (const int k : {1, 6, 13}) {
                PlainIndex::batch_size = way.batch;
                test::check_found(*way.engine, searched, expected, k, plan_for(20, spread));
                test::check_found(*way.engine, searched, expected, k, plan_for(2, spread, 1));
            }
}

TEST_CASE("spread: no queries, too large a k, and a search after a search") {
    const test::Rows points = test::random_rows(10, 4, 1), queries = test::random_rows(3, 4, 2);
    Timeline timeline;
    Sharded sharded(*find_engine("cpu"), {test::view(points), {}}, {}, plan_for(3, Placement::shard), nullptr,
                    timeline);
    CHECK(nearest_in(sharded, {}, 3, timeline).empty());
    CHECK_THROWS_AS(nearest_in(sharded, test::view(queries), 11, timeline), std::invalid_argument);
    CHECK_THROWS_AS(nearest_in(sharded, Queries::all_of(test::view(points)), 10, timeline),
                    std::invalid_argument);
    for (int repeat = 0; repeat < 2; ++repeat)
        CHECK(nearest_in(sharded, test::view(queries), 10, timeline) ==
              test::right(points, queries, 10).rows);
    CHECK(timeline.device_ms().size() == 3);
    CHECK(timeline.imbalance() >= 0);
}

TEST_CASE("spread: a stop ends all devices, and an error is that of the device that failed") {
    const test::Rows points = test::random_rows(10, 4, 1), queries = test::random_rows(3, 4, 2);
    const std::atomic<bool> stop = true;
    const ProgressToken token{.progress = {}, .stop = &stop};
    Timeline timeline;
    Sharded sharded(*find_engine("cpu"), {test::view(points), {}}, {}, plan_for(3, Placement::replicate),
                    nullptr, timeline);
    CHECK_THROWS_AS(nearest_in(sharded, test::view(queries), 3, timeline, token), Interrupted);

    const Engine fails{
        "fails", "", false, nullptr,
        [](const Training& training, const Measure&, const Plan&, Timeline&) -> std::unique_ptr<DeviceIndex> {
            if (training.rows.count == 4) throw DeviceError("no memory");
            return nullptr;
        }};
    CHECK_THROWS_WITH_AS(
        Sharded(fails, {test::view(points), {}}, {}, plan_for(3, Placement::shard), nullptr, timeline),
        "cpu: no memory", DeviceError);
}

TEST_CASE("spread: a search that fails after it called back for some queries") {
    const test::Rows points = test::random_rows(40, 5, 7, 4), queries = test::random_rows(900, 5, 8, 4);
    const std::vector<std::uint8_t> labels(40);
    PlainIndex::batch_size = 10;
    for (const int batch : {0, 1, 20}) {
        PlainIndex::fails_at = batch;
        for (const Placement spread : test::both_placements)
            for (const int devices : {1, 3}) {
                Index classifier(Training{test::view(points), labels}, {.vote = {.k = 3}},
                                 {&plain, plan_for(devices, spread), ""});
                CHECK_THROWS_WITH_AS(classifier.search(test::view(queries)), "no more", DeviceError);
            }
    }
    PlainIndex::fails_at = -1;
}

TEST_CASE("spread: 1, 2, 3 and 5 ranks find what plain loops find, all of them") {
    const test::Rows points = test::repeated(test::random_rows(13, 4, 21, 3), 3);
    const Exclude exclude{.first = 20};
    for (const test::Searched& searched :
         {test::Searched{points, test::random_rows(17, 4, 22, 3), {}},
          test::Searched{points, test::taken(points, exclude, 19), {}, exclude}})
        for (const int size : {1, 2, 3, 5})
            for (const Placement spread : test::both_placements)
                for (const int k : {1, 8, 38}) {
                    CAPTURE(size);
                    CAPTURE(spread);
                    CAPTURE(k);
                    CHECK(found_by_ranks(searched, k, size, spread) ==
                          test::right(points, searched.queries, k, searched.exclude).rows);
                }
}

TEST_CASE("spread: features, votes, evidence and re-ranking are those of one device") {
    const test::Rows points = test::random_rows(70, 81, 5, 4), queries = test::random_rows(45, 81, 6, 4);
    const std::vector<std::uint8_t> labels = test::labels_for(70);
    const Training training{test::view(points), labels, {9, 9}};
    const Method majority{.vote = {.k = 4}}, means{.vote = {.k = 4, .votes = VoteKind::class_mean}},
        features{.transform = parse_transform("--transform", "pca:8"), .vote = {5}},
        reranked{.rerank = {.kind = RerankKind::both, .candidates = 12}, .vote = means.vote};
    for (const Method& method : {majority, means, features, reranked}) {
        const auto classified = [&](const Engine& engine, const Plan& plan, Ranks* ranks = nullptr) {
            Resolved resolved{&engine, plan, "", ranks};
            resolved.plan.ranks = ranks != nullptr ? ranks->size() : 1;
            return Index(training, method, resolved).search(test::view(queries));
        };
        const Engine& cpu = *find_engine("cpu");
        const Results one = classified(cpu, plan_for(1, Placement::automatic));
        const auto check = [&](const Results& found, bool is_rank = false) {
            test::check_same(found, one);
            if (!is_rank) CHECK(found.all_voters.rows == one.all_voters.rows);
        };
        test::run_ranks(3, [&](Ranks& ranks) {  // as where one GPU alone cannot hold the training set
            const Placement own = ranks.rank() == 1 ? Placement::shard : Placement::replicate;
            check(classified(cpu, plan_for(1, own), &ranks), true);
        });
        for (const Placement spread : test::both_placements) {
            check(classified(cpu, plan_for(3, spread)));
            check(classified(cpu, plan_for(2, spread, method.transform.is_raw() ? 2'000 : 300)));
            test::run_ranks(3,
                            [&](Ranks& ranks) { check(classified(cpu, plan_for(1, spread), &ranks), true); });
            for (const Way& way : {Way{&plain, 1}, {&plain, 8}, {&voting, 8}, {&voting, 45}})
                for (const int devices : {1, 3}) {
                    PlainIndex::batch_size = way.batch;
                    check(classified(*way.engine, plan_for(devices, spread)));
                }
        }
    }
}

TEST_CASE("spread: rows whose scores tie are merged by the distances of what a transform makes of them") {
    constexpr std::int64_t n = 120, dim = 6;
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i)  // ten places, twelve rows around each, columns of unlike sizes
        for (std::int64_t c = 0; c < dim; ++c)
            values.push_back((static_cast<double>((i % 10) * (c + 3) % 7) - 3 +
                              1e-9 * static_cast<double>(i * (2 * c + 5) % 113)) *
                             std::pow(10.0, static_cast<double>(c)));
    const test::RealSet set = test::real_set("near ties", values, dim, ElementType::float64);
    const std::vector<std::uint8_t> labels = test::labels_for(n);
    const Training training{set.rows(), labels, {1, static_cast<int>(dim)}};
    for (const char* transform : {"zscore", "minmax"})
        for (const Metric metric : {Metric::l2, Metric::cosine, Metric::pearson}) {
            const Method method{.transform = parse_transform("--transform", transform),
                                .measure = {metric},
                                .vote = {.k = 5}};
            const auto found = [&](const Plan& plan, Ranks* ranks = nullptr) {
                Resolved resolved{find_engine("cpu"), plan, "", ranks};
                resolved.plan.ranks = ranks != nullptr ? ranks->size() : 1;
                return Index(training, method, resolved).search(Queries::all_of(set.rows()));
            };
            const Measure real{metric, 2, true};
            const Results one = found(plan_for(1, Placement::automatic, 0, real));
            test::check_same(found(plan_for(3, Placement::shard, 0, real)), one);
            test::run_ranks(3, [&](Ranks& ranks) {
                test::check_same(found(plan_for(1, Placement::shard, 0, real), &ranks), one);
            });
        }
}

TEST_CASE("spread: the slowest of each stage") {
    Timeline a, b;
    a.add({.name = "upload", .launches = 1, .total_ms = 3, .kind = StageKind::copy});
    a.add({.name = "distance", .launches = 2, .total_ms = 5});
    b.add({.name = "distance", .launches = 4, .total_ms = 8});
    b.add({.name = "sort", .launches = 1, .total_ms = 1});
    const Timeline both_devices = slowest({a, b});
    REQUIRE(both_devices.stages().size() == 3);
    CHECK(both_devices.stages()[0].total_ms == 3);
    CHECK(both_devices.stages()[1].total_ms == 8);
    CHECK(both_devices.stages()[1].launches == 4);
    CHECK(both_devices.stages()[2].name == "sort");
    Timeline whole;
    whole.add_device_ms({3, 1});
    whole.add_device_ms({3, 1});
    CHECK(whole.imbalance() == doctest::Approx(0.5));
}

}  // namespace knn
