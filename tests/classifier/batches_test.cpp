// Devices whose batches are final before the last ones are found, as those of a GPU are.

#include <doctest/doctest.h>

#include <atomic>

#include "classifier/index.h"
#include "classifier/sharded.h"
#include "classifier/vote.h"
#include "cpu/search.h"
#include "tests/support/images.h"
#include "tests/support/oracle.h"

namespace knn {

namespace {

std::atomic<std::int64_t> batch_size = 0;  ///< of the searchers below
std::atomic<int> fails_at = -1;            ///< batch at which they throw; -1: none

/// Searches batch by batch on the CPU.
class InBatches final : public DeviceIndex {
  public:
    InBatches(const Training& training, const Measure& measure, const Plan& plan, Timeline& timeline)
        : training_(training), inner_(cpu::open(training, measure, plan, timeline)) {}

    std::int64_t top_k(const TopK& wanted, const TopKResult& result, Timeline& timeline,
                       const Watch& watch) override {
        require_top_k(wanted, result, training_.rows.count);
        const Queries& queries = wanted.queries;
        int batch = 0;
        for (std::int64_t begin = 0; begin < queries.count(); begin += batch_size, ++batch) {
            if (batch == fails_at) throw DeviceError("no more");
            const std::int64_t n = std::min<std::int64_t>(batch_size, queries.count() - begin);
            const auto here = result.neighbors.subspan(static_cast<std::size_t>(begin * wanted.k),
                                                       static_cast<std::size_t>(n * wanted.k));
            inner_->top_k({.queries = queries.slice(begin, n), .k = wanted.k}, {here}, timeline,
                          watch.quiet());
            ResultBatch rows{begin, here};
            if (wanted.vote != nullptr) {
                const auto voted =
                    result.votes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(n));
                vote_rows(here, wanted.k, training_.labels, *wanted.vote, {}, 1, voted);
                rows.votes = voted;
            }
            if (wanted.on_batch) wanted.on_batch(rows);
        }
        return batch_size;
    }

  private:
    Training training_;
    std::unique_ptr<DeviceIndex> inner_;
};

std::unique_ptr<DeviceIndex> open_in_batches(const Training& training, const Measure& measure,
                                             const Plan& plan, Timeline& timeline) {
    return std::make_unique<InBatches>(training, measure, plan, timeline);
}
const Engine engine{"in batches", "", false, cpu::settle, open_in_batches};
const Engine voting{"in batches", "", false, cpu::settle, open_in_batches, {.votes = true}};

Rows view(const test::Rows& rows) {
    return {rows.pixels.data(), rows.n, rows.dim};
}

Plan plan_for(int devices, SpreadBy spread, std::int64_t memory = 0) {
    Plan plan{.engine = "cpu", .device = cpu_device()};
    plan.threads = 2;
    REQUIRE(!cpu::settle({1, 1, 1, 1}, plan));
    plan.devices.assign(devices > 1 ? static_cast<std::size_t>(devices) : 0, plan.device);
    plan.spread = spread;
    plan.memory = memory;
    return plan;
}

/// Searches, and CHECKs that each query is in one batch, with what is returned.
Neighbors told(const test::Rows& points, const Queries& queries, int k, const Plan& plan) {
    Timeline timeline;
    Sharded sharded(engine, {view(points), {}}, {}, plan, nullptr, timeline);
    Neighbors heard(queries.count(), k), found(queries.count(), k);
    std::vector<int> times(static_cast<std::size_t>(queries.count()));
    const TopK wanted{
        .queries = queries, .k = k, .on_batch = [&](const ResultBatch& batch) {
            CHECK(batch.neighbors.data() == found.row(batch.first).data());
            std::copy(batch.neighbors.begin(), batch.neighbors.end(), heard.row(batch.first).begin());
            for (std::size_t i = 0; i < batch.neighbors.size() / static_cast<std::size_t>(k); ++i)
                ++times[static_cast<std::size_t>(batch.first) + i];
        }};
    sharded.top_k(wanted, {found.rows}, queries.count(), timeline, {});
    for (const int one : times)
        CHECK(one == 1);
    CHECK(heard.rows == found.rows);
    return found;
}

constexpr SpreadBy both[] = {SpreadBy::queries, SpreadBy::training};

}  // namespace

TEST_CASE("tell: devices that tell of batches give what one search gives") {
    // Few values: equal distances and duplicates, in one part and in several.
    const test::Rows points = test::repeated(test::random_rows(31, 4, 3, 3), 2);
    const test::Rows others = test::random_rows(53, 4, 4, 3);
    for (const std::int64_t batch : {1, 7, 64}) {
        batch_size = batch;
        for (const bool leave_one_out : {false, true}) {
            const Queries queries = leave_one_out ? Queries::some_of(view(points), 5, 50) : view(others);
            for (const int k : {1, 20, 61}) {
                const Neighbors right = search_on_cpu(view(points), queries, k, {});
                for (const int devices : {1, 2, 5})
                    for (const SpreadBy spread : both)
                        for (const std::int64_t memory : {0, 60}) {  // of 248 bytes
                            CAPTURE(batch);
                            CAPTURE(leave_one_out);
                            CAPTURE(k);
                            CAPTURE(devices);
                            CAPTURE(spread);
                            CAPTURE(memory);
                            CHECK(told(points, queries, k, plan_for(devices, spread, memory)).rows ==
                                  right.rows);
                        }
            }
        }
    }
}

TEST_CASE("tell: more devices than images") {
    const test::Rows points = test::random_rows(13, 5, 11, 3), queries = test::random_rows(9, 5, 12, 3);
    batch_size = 2;
    for (const SpreadBy spread : both)
        for (const int k : {1, 13})
            CHECK(told(points, view(queries), k, plan_for(20, spread)).rows ==
                  search_on_cpu(view(points), view(queries), k, {}).rows);
}

TEST_CASE("tell: votes and evidence of batches are those of all queries at once") {
    const test::Rows points = test::random_rows(70, 9, 5, 4), queries = test::random_rows(45, 9, 6, 4);
    std::vector<std::uint8_t> labels(70);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint8_t>(i * 7 % 10);
    const Training training{view(points), labels};
    for (const Votes kind : {Votes::majority, Votes::class_mean}) {
        const Method method{.vote = {.k = 4, .votes = kind}};
        const auto classified = [&](const Engine& by, const Plan& plan) {
            Index classifier(training, method, {&by, plan, ""});
            return classifier.search(view(queries));
        };
        const Results right = classified(*find_engine("cpu"), plan_for(1, SpreadBy::automatic));
        for (const bool device_votes : {false, true})
            for (const std::int64_t batch : {1, 8, 45})
                for (const int devices : {1, 3})
                    for (const SpreadBy spread : both) {
                        batch_size = batch;
                        const Results found =
                            classified(device_votes ? voting : engine, plan_for(devices, spread));
                        CHECK(found.neighbors.rows == right.neighbors.rows);
                        CHECK(found.all_voters.rows == right.all_voters.rows);
                        CHECK(found.votes == right.votes);
                        REQUIRE(found.evidence.size() == right.evidence.size());
                        for (std::size_t q = 0; q < right.evidence.size(); ++q) {
                            CHECK(found.evidence[q].share == right.evidence[q].share);
                            CHECK(found.evidence[q].distance == right.evidence[q].distance);
                            CHECK(found.evidence[q].margin == right.evidence[q].margin);
                        }
                    }
    }
}

TEST_CASE("tell: a search that fails after it told of some answers") {
    const test::Rows points = test::random_rows(40, 5, 7, 4), queries = test::random_rows(900, 5, 8, 4);
    const std::vector<std::uint8_t> labels(40);
    batch_size = 10;
    for (const int batch : {0, 1, 20}) {
        fails_at = batch;
        for (const SpreadBy spread : both)
            for (const int devices : {1, 3}) {
                Index classifier(Training{view(points), labels}, {.vote = {.k = 3}},
                                 {&engine, plan_for(devices, spread), ""});
                CHECK_THROWS_WITH_AS(classifier.search(view(queries)), "no more", DeviceError);
            }
    }
    fails_at = -1;
}

}  // namespace knn
