// Several devices and ranks against one searcher and against plain loops.

#include "classifier/sharded.h"

#include <doctest/doctest.h>

#include <atomic>

#include "classifier/index.h"
#include "cpu/search.h"
#include "tests/support/images.h"
#include "tests/support/oracle.h"
#include "tests/support/search.h"
#include "tests/support/thread_ranks.h"

namespace knn {

namespace {

Rows view(const test::Rows& rows) {
    return {rows.pixels.data(), rows.n, rows.dim};
}

/// The k nearest of each query among all points except the excluded one, by the oracle.
Uninitialized<Neighbor> right(const test::Rows& points, const test::Rows& queries, int k,
                              Exclude exclude = {}, const Measure& measure = {}) {
    const auto all = test::nearest(points, queries, static_cast<int>(points.n), measure);
    Uninitialized<Neighbor> found;
    for (std::int64_t q = 0; q < queries.n; ++q) {
        int left = k;
        for (const auto& [distance, index] : all[static_cast<std::size_t>(q)])
            if (index != exclude.index_of(q) && left-- > 0)
                found.push_back({static_cast<std::uint32_t>(distance), static_cast<std::uint32_t>(index)});
    }
    return found;
}

/// A settled plan of `devices` times the CPU.
Plan plan_for(int devices, SpreadBy spread, std::int64_t memory = 0, const Measure& measure = {}) {
    Plan plan{.engine = "cpu", .device = cpu_device()};
    plan.threads = 2;
    REQUIRE(!cpu::settle({1, 1, 1, 1, measure}, plan));
    plan.devices.assign(devices > 1 ? static_cast<std::size_t>(devices) : 0, plan.device);
    plan.spread = spread;
    plan.memory = memory;
    return plan;
}

Uninitialized<Neighbor> nearest_in(Sharded& sharded, const Queries& queries, int k, Timeline& timeline,
                                   const Watch& watch = {}) {
    Neighbors found(queries.count(), k);
    sharded.top_k({.queries = queries, .k = k}, {found.rows}, queries.count(), timeline, watch);
    return found.rows;
}

Uninitialized<Neighbor> found_by(const test::Rows& points, const test::Rows& queries, int k, const Plan& plan,
                                 Exclude exclude = {}, const Measure& measure = {}) {
    Timeline timeline;
    Sharded sharded(*find_engine("cpu"), {view(points), {}}, measure, plan, nullptr, timeline);
    return nearest_in(sharded, test::queries_of(view(queries), exclude, view(points)), k, timeline);
}

/// A device of plain loops that takes known neighbors, and calls back for one query after another.
class PlainIndex final : public DeviceIndex {
  public:
    PlainIndex(const Training& training, const Measure& measure)
        : points_{{training.rows.pixels, training.rows.row(training.rows.count)},
                  training.rows.count,
                  training.rows.dim},
          measure_(measure) {}

    std::int64_t top_k(const TopK& wanted, const TopKResult& result, Timeline&, const Watch&) override {
        require_top_k(wanted, result, points_.n);
        const Rows& rows = wanted.queries.rows;
        const test::Rows queries{{rows.pixels, rows.row(rows.count)}, rows.count, rows.dim};
        const auto all = test::nearest(points_, queries, static_cast<int>(points_.n), measure_);
        const std::span<const Neighbor> known = wanted.known.neighbors;
        for (std::int64_t q = 0; q < rows.count; ++q) {
            const auto begin = static_cast<std::size_t>(q * wanted.k), k = static_cast<std::size_t>(wanted.k);
            std::vector<Neighbor> both;
            if (!known.empty()) both.assign(known.begin() + q * wanted.k, known.begin() + (q + 1) * wanted.k);
            for (const Neighbor& one : both)
                CHECK((one.index < wanted.known.first || one == no_neighbor));
            for (const auto& [distance, index] : all[static_cast<std::size_t>(q)])
                if (!wanted.queries.leaves_out() ||
                    index != wanted.queries.images[static_cast<std::size_t>(q)])
                    both.push_back(
                        {static_cast<std::uint32_t>(distance),
                         static_cast<std::uint32_t>(index) + (known.empty() ? 0 : wanted.known.first)});
            std::sort(both.begin(), both.end());
            std::copy_n(both.begin(), k, result.neighbors.begin() + q * wanted.k);
            if (wanted.on_batch) wanted.on_batch({q, result.neighbors.subspan(begin, k)});
        }
        if (!known.empty()) ++searches_of_known;
        return 1;
    }

    static inline std::atomic<int> searches_of_known = 0;  // shards are threads

  private:
    test::Rows points_;
    Measure measure_;
};

const Engine plain{
    "plain",
    "",
    false,
    nullptr,
    [](const Training& training, const Measure& measure, const Plan&,
       Timeline&) -> std::unique_ptr<DeviceIndex> { return std::make_unique<PlainIndex>(training, measure); },
    {.known = true}};

/// What all ranks find, which must be the same.
Uninitialized<Neighbor> found_by_ranks(const test::Rows& points, const test::Rows& queries, int k, int size,
                                       SpreadBy spread, Exclude exclude = {}) {
    std::vector<Uninitialized<Neighbor>> found(static_cast<std::size_t>(size));
    test::run_ranks(size, [&](Ranks& ranks) {
        Resolved resolved{find_engine("cpu"), plan_for(1, spread), "", &ranks};
        resolved.plan.ranks = size;
        const Training training{view(points), {}};
        Index classifier(training, {.vote = {k}}, resolved);
        Results results =
            classifier.search(test::queries_of(view(queries), exclude, view(points)), {.vote = false});
        found[static_cast<std::size_t>(ranks.rank())] = std::move(results.neighbors.rows);
        CHECK(results.timeline.device_ms().size() == static_cast<std::size_t>(size));
    });
    for (const auto& rows : found)
        CHECK(rows == found.front());
    return found.front();
}

constexpr SpreadBy both[] = {SpreadBy::queries, SpreadBy::training};

}  // namespace

TEST_CASE("spread: shares differ by one at most and have no gap") {
    for (const std::int64_t n : {0, 1, 2, 7, 60'000})
        for (const std::int64_t shares : {1, 2, 3, 8, 1'000}) {
            std::int64_t end = 0;
            for (std::int64_t i = 0; i < shares; ++i) {
                const Share share = share_of(n, shares, i);
                CHECK(share.begin == end);
                CHECK(share.count >= n / shares);
                CHECK(share.count <= n / shares + 1);
                end = share.end();
            }
            CHECK(end == n);
        }
    const std::int64_t many = std::int64_t{1} << 62;
    CHECK(share_of(many + 3, 7, 6).end() == many + 3);
}

TEST_CASE("spread: any number of devices and parts finds what plain loops find") {
    for (const int levels : {1, 3, 256}) {  // with 1, all images are equal
        const test::Rows points = test::random_rows(83, 5, 11, levels);
        const test::Rows queries = test::random_rows(29, 5, 12, levels);
        for (const int k : {1, 40, 83}) {
            const auto expected = right(points, queries, k);
            for (const int devices : {1, 2, 3, 7})
                for (const SpreadBy spread : both)
                    for (const std::int64_t memory : {0, 100}) {  // of 415 bytes in all
                        CAPTURE(levels);
                        CAPTURE(k);
                        CAPTURE(devices);
                        CAPTURE(spread);
                        CAPTURE(memory);
                        CHECK(found_by(points, queries, k, plan_for(devices, spread, memory)) == expected);
                    }
        }
    }
}

TEST_CASE("spread: more devices than images, and parts of one image") {
    const test::Rows points = test::random_rows(13, 5, 11, 3), queries = test::random_rows(5, 5, 12, 3);
    for (const SpreadBy spread : both) {
        CHECK(found_by(points, queries, 13, plan_for(20, spread)) == right(points, queries, 13));
        CHECK(found_by(points, queries, 6, plan_for(2, spread, 1)) == right(points, queries, 6));
    }
}

TEST_CASE("spread: duplicates in different parts are ordered by index") {
    const test::Rows points = test::repeated(test::random_rows(9, 4, 3, 3), 6);
    const test::Rows queries = test::random_rows(20, 4, 3, 3);
    for (const int devices : {2, 3, 5})
        for (const SpreadBy spread : both)
            CHECK(found_by(points, queries, 25, plan_for(devices, spread)) == right(points, queries, 25));
}

TEST_CASE("spread: leave-one-out, where one part has the excluded image") {
    const test::Rows points = test::repeated(test::random_rows(30, 3, 5, 3), 2);
    const std::pair<Exclude, std::int64_t> cases[] = {
        {{.first = 0}, 60}, {{.first = 17}, 30}, {{.first = 59}, 1}, {{0, 60, 7}, 7}, {{3, 9, 4}, 20}};
    for (const auto& one : cases) {
        const Exclude exclude = one.first;
        const test::Rows queries = test::taken(points, exclude, one.second);
        for (const int k : {1, 6, 59}) {
            const auto expected = right(points, queries, k, exclude);
            for (const int devices : {1, 2, 5})
                for (const SpreadBy spread : both)
                    for (const std::int64_t memory : {0, 50}) {
                        CAPTURE(exclude.first);
                        CAPTURE(exclude.n);
                        CAPTURE(k);
                        CAPTURE(devices);
                        CAPTURE(spread);
                        CAPTURE(memory);
                        CHECK(found_by(points, queries, k, plan_for(devices, spread, memory), exclude) ==
                              expected);
                    }
        }
    }
}

TEST_CASE(
    "spread: parts begin with the neighbors of those before, also without an image, and call back for each "
    "query "
    "once") {
    const test::Rows points = test::repeated(test::random_rows(30, 3, 5, 3), 2);
    const std::pair<Exclude, std::int64_t> cases[] = {
        {{}, 25}, {{.first = 0}, 60}, {{.first = 17}, 30}, {{0, 60, 7}, 7}, {{3, 9, 4}, 20}};
    for (const auto& one : cases)
        for (const int k : {1, 6, 9, 59})  // parts have 10 images
            for (const int devices : {1, 2})
                for (const SpreadBy spread : both) {
                    const Exclude exclude = one.first;
                    const std::int64_t n = one.second;
                    CAPTURE(exclude.first);
                    CAPTURE(k);
                    CAPTURE(devices);
                    CAPTURE(spread);
                    const test::Rows queries =
                        exclude.any() ? test::taken(points, exclude, n) : test::random_rows(n, 3, 9, 3);
                    const auto expected = right(points, queries, k, exclude);
                    Timeline timeline;
                    Sharded sharded(plain, {view(points), {}}, {}, plan_for(devices, spread, 60), nullptr,
                                    timeline);
                    Uninitialized<Neighbor> told(expected.size()), found(expected.size());
                    std::int64_t count = 0;
                    PlainIndex::searches_of_known = 0;
                    const TopK wanted{.queries = test::queries_of(view(queries), exclude, view(points)),
                                      .k = k,
                                      .on_batch = [&, k = k](const ResultBatch& batch) {
                                          std::copy(batch.neighbors.begin(), batch.neighbors.end(),
                                                    told.begin() + batch.first * k);
                                          count += std::ssize(batch.neighbors) / k;
                                      }};
                    sharded.top_k(wanted, {found}, n, timeline, {});
                    CHECK(found == expected);
                    CHECK(told == expected);
                    CHECK(count == n);
                    CHECK((PlainIndex::searches_of_known > 0) == (k <= 9));
                }
}

TEST_CASE("spread: every metric") {
    const test::Rows points = test::random_rows(50, 6, 8, 4), queries = test::random_rows(33, 6, 9, 4);
    for (const Measure& measure : {Measure{Metric::l1, 2}, Measure{Metric::lp, 3}, Measure{Metric::cosine, 2},
                                   Measure{Metric::pearson, 2}})
        for (const SpreadBy spread : both)
            CHECK(found_by(points, queries, 9, plan_for(3, spread, 60, measure), {}, measure) ==
                  right(points, queries, 9, {}, measure));
}

TEST_CASE("spread: no queries, too large a k, and a search after a search") {
    const test::Rows points = test::random_rows(10, 4, 1), queries = test::random_rows(3, 4, 2);
    Timeline timeline;
    Sharded sharded(*find_engine("cpu"), {view(points), {}}, {}, plan_for(3, SpreadBy::training), nullptr,
                    timeline);
    CHECK(nearest_in(sharded, {}, 3, timeline).empty());
    CHECK_THROWS_AS(nearest_in(sharded, view(queries), 11, timeline), std::invalid_argument);
    CHECK_THROWS_AS(nearest_in(sharded, Queries::all_of(view(points)), 10, timeline), std::invalid_argument);
    for (int repeat = 0; repeat < 2; ++repeat)
        CHECK(nearest_in(sharded, view(queries), 10, timeline) == right(points, queries, 10));
    CHECK(timeline.device_ms().size() == 3);
    CHECK(timeline.imbalance() >= 0);
}

TEST_CASE("spread: a stop ends all devices, and an error is that of the device that failed") {
    const test::Rows points = test::random_rows(10, 4, 1), queries = test::random_rows(3, 4, 2);
    std::atomic<bool> stop = true;
    Watch watch;
    watch.stop = &stop;
    Timeline timeline;
    Sharded sharded(*find_engine("cpu"), {view(points), {}}, {}, plan_for(3, SpreadBy::queries), nullptr,
                    timeline);
    CHECK_THROWS_AS(nearest_in(sharded, view(queries), 3, timeline, watch), Interrupted);

    const Engine fails{
        "fails", "", false, nullptr,
        [](const Training& training, const Measure&, const Plan&, Timeline&) -> std::unique_ptr<DeviceIndex> {
            if (training.rows.count == 4) throw DeviceError("no memory");
            return nullptr;
        }};
    CHECK_THROWS_WITH_AS(
        Sharded(fails, {view(points), {}}, {}, plan_for(3, SpreadBy::training), nullptr, timeline),
        "cpu: no memory", DeviceError);
}

TEST_CASE("spread: 1, 2, 3 and 5 ranks find what plain loops find, all of them") {
    const test::Rows points = test::repeated(test::random_rows(13, 4, 21, 3), 3);
    const test::Rows queries = test::random_rows(17, 4, 22, 3);
    for (const int size : {1, 2, 3, 5})
        for (const SpreadBy spread : both)
            for (const int k : {1, 8, 38}) {
                CAPTURE(size);
                CAPTURE(spread);
                CAPTURE(k);
                CHECK(found_by_ranks(points, queries, k, size, spread) == right(points, queries, k));
                const Exclude exclude{.first = 20};
                const test::Rows others = test::taken(points, exclude, 19);
                CHECK(found_by_ranks(points, others, k, size, spread, exclude) ==
                      right(points, others, k, exclude));
            }
}

TEST_CASE("spread: features, votes and re-ranking are those of one device") {
    std::vector<std::uint8_t> labels(36);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint8_t>(i * 7 % 10);
    const Method features{.transform = parse_transform("--transform", "pca:8"), .vote = {5}};
    const Method reranked{.rerank = {.kind = Reranker::both, .candidates = 12},
                          .vote = {.k = 4, .votes = Votes::class_mean}};
    for (const Method& method : {features, reranked}) {
        const int side = method.reranks() ? 28 : 6;
        const test::Rows points = test::random_rows(36, side * side, 31, 3),
                         queries = test::random_rows(8, side * side, 32, 3);
        const Training training{view(points), labels, {side, side}};
        const auto classified = [&](const Plan& plan, Ranks* ranks) {
            Resolved resolved{find_engine("cpu"), plan, "", ranks};
            resolved.plan.ranks = ranks != nullptr ? ranks->size() : 1;
            Index classifier(training, method, resolved);
            return classifier.search(view(queries));
        };
        const Results one = classified(plan_for(1, SpreadBy::automatic), nullptr);
        const auto check = [&](const Results& found) {
            CHECK(found.neighbors.rows == one.neighbors.rows);
            REQUIRE(found.votes.size() == one.votes.size());
            for (std::size_t i = 0; i < one.votes.size(); ++i) {
                CHECK(found.votes[i].label == one.votes[i].label);
                CHECK(found.votes[i].confidence == one.votes[i].confidence);
            }
        };
        for (const SpreadBy spread : both) {
            check(classified(plan_for(3, spread), nullptr));
            check(classified(plan_for(2, spread, 20'000), nullptr));
            test::run_ranks(3, [&](Ranks& ranks) { check(classified(plan_for(1, spread), &ranks)); });
        }
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
