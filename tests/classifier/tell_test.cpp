// Searchers that tell of answers before the last ones are found, as those of a GPU do: batch by batch.

#include <doctest/doctest.h>

#include <atomic>

#include "classifier/classifier.h"
#include "classifier/merge_behind.h"
#include "classifier/spread.h"
#include "classifier/vote.h"
#include "cpu/search.h"
#include "tests/support/images.h"
#include "tests/support/oracle.h"

namespace knn {

namespace {

std::atomic<std::int64_t> batch_size = 0;  ///< of the searchers below
std::atomic<int> fails_at = -1;            ///< batch at which they throw; -1: none
std::atomic<bool> votes_too = false;

/// Searches batch by batch on the CPU.
class InBatches final : public Searcher {
  public:
    InBatches(const Training& training, const Measure& measure, const Plan& plan, Timeline& timeline)
        : training_(training), inner_(cpu::open(training, measure, plan, timeline)) {}

    Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                     const Watch& watch) override {
        Answers answers;
        search_and_tell(queries, k, nullptr, exclude, timeline, watch, {}, answers);
        return std::move(answers.neighbors);
    }
    bool votes(const VotingRule&) const override { return votes_too; }
    void search_and_tell(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                         Timeline& timeline, const Watch& watch, const Tell& tell,
                         Answers& answers) override {
        require_k(k, training_.rows.count, exclude);
        answers = {};
        answers.neighbors = Neighbors(queries.count, k);
        if (rule != nullptr) answers.votes.resize(static_cast<std::size_t>(queries.count));
        int batch = 0;
        for (std::int64_t begin = 0; begin < queries.count; begin += batch_size, ++batch) {
            if (batch == fails_at) throw DeviceError("no more");
            const std::int64_t n = std::min<std::int64_t>(batch_size, queries.count - begin);
            const Neighbors found =
                inner_->search(queries.slice(begin, n), k, exclude.from(begin), timeline, watch.quiet());
            const auto here =
                std::span(answers.neighbors.rows)
                    .subspan(static_cast<std::size_t>(begin * k), static_cast<std::size_t>(n * k));
            std::copy(found.rows.begin(), found.rows.end(), here.begin());
            FoundRows rows{begin, here, {}};
            if (rule != nullptr) {
                const auto voted = std::span(answers.votes)
                                       .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(n));
                vote_rows(here, k, training_.labels, *rule, {}, 1, voted);
                rows.votes = voted;
            }
            if (tell) tell(rows);
        }
    }
    Plan plan() const override { return inner_->plan(); }

  private:
    Training training_;
    std::unique_ptr<Searcher> inner_;
};

const Engine engine{"in batches", "", false, cpu::settle,
                    [](const Training& training, const Measure& measure, const Plan& plan,
                       Timeline& timeline) -> std::unique_ptr<Searcher> {
                        return std::make_unique<InBatches>(training, measure, plan, timeline);
                    }};

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

/// Searches, and CHECKs that each query is told of once, with what is returned.
Neighbors told(const test::Rows& points, const Rows& queries, int k, const Plan& plan, Exclude exclude) {
    Timeline timeline;
    const auto searcher = open_spread(engine, {view(points), {}}, {}, plan, timeline);
    Neighbors heard(queries.count, k);
    std::vector<int> times(static_cast<std::size_t>(queries.count));
    Answers answers;
    searcher->search_and_tell(
        queries, k, nullptr, exclude, timeline, {},
        [&](const FoundRows& rows) {
            CHECK(rows.neighbors.data() == answers.neighbors.row(rows.begin).data());
            std::copy(rows.neighbors.begin(), rows.neighbors.end(), heard.row(rows.begin).begin());
            for (std::size_t i = 0; i < rows.neighbors.size() / static_cast<std::size_t>(k); ++i)
                ++times[static_cast<std::size_t>(rows.begin) + i];
        },
        answers);
    for (const int one : times)
        CHECK(one == 1);
    CHECK(heard.rows == answers.neighbors.rows);
    return answers.neighbors;
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
            const Exclude exclude{.first = leave_one_out ? 5 : -1};
            const Rows queries = leave_one_out ? view(points).slice(5, 50) : view(others);
            for (const int k : {1, 20, 61}) {
                const Neighbors right = search_on_cpu(view(points), queries, k, {}, exclude);
                for (const int devices : {1, 2, 5})
                    for (const SpreadBy spread : both)
                        for (const std::int64_t memory : {0, 60}) {  // of 248 bytes
                            CAPTURE(batch);
                            CAPTURE(leave_one_out);
                            CAPTURE(k);
                            CAPTURE(devices);
                            CAPTURE(spread);
                            CAPTURE(memory);
                            CHECK(told(points, queries, k, plan_for(devices, spread, memory), exclude).rows ==
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
            CHECK(told(points, view(queries), k, plan_for(20, spread), {}).rows ==
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
            Classifier classifier(training, method, {&by, plan, ""});
            return classifier.classify(view(queries), {});
        };
        const Classified right = classified(*find_engine("cpu"), plan_for(1, SpreadBy::automatic));
        for (const bool device_votes : {false, true})
            for (const std::int64_t batch : {1, 8, 45})
                for (const int devices : {1, 3})
                    for (const SpreadBy spread : both) {
                        batch_size = batch;
                        votes_too = device_votes && kind == Votes::majority;
                        const Classified found = classified(engine, plan_for(devices, spread));
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
        votes_too = false;
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
                Classifier classifier(Training{view(points), labels}, {.vote = {.k = 3}},
                                      {&engine, plan_for(devices, spread), ""});
                CHECK_THROWS_WITH_AS(classifier.classify(view(queries), {}), "no more", DeviceError);
            }
    }
    fails_at = -1;
}

}  // namespace knn
