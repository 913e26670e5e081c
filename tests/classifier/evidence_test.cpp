#include "classifier/vote.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace knn;

namespace {
const std::vector<std::uint8_t> labels = {3, 3, 3, 8, 8, 5};
}

TEST_CASE("evidence of a majority: the nearest of the winner and of the nearest other class") {
    const std::vector<Neighbor> row = {{100, 3}, {200, 0}, {300, 1}, {400, 5}};
    const Evidence found = evidence(row, labels, {3, 0.5}, {.k = 4}, {});
    CHECK(found.share == 0.5);
    CHECK(found.distance == doctest::Approx(std::log(250.0)));
    CHECK(found.margin == doctest::Approx(std::log(100.0 / 200)));  // the winner is not the nearest
    CHECK(found.alone == 0);
}

TEST_CASE("evidence of neighbors that all agree: another class is at least as far as the last") {
    const std::vector<Neighbor> row = {{0, 0}, {50, 1}, {80, 2}};
    const Evidence found = evidence(row, labels, {3, 1}, {.k = 3}, {});
    CHECK(found.alone == 1);
    CHECK(found.distance == doctest::Approx(std::log(131.0 / 3)));  // 0 counts as 1
    CHECK(found.margin == doctest::Approx(std::log(80.0)));
}

TEST_CASE("evidence of class means: classes that lack neighbors get the last distance") {
    const VotingRule rule{.k = 2, .votes = Votes::class_mean};
    const std::vector<Neighbor> row = {{10, 0}, {20, 3}, {30, 1}, {40, 5}, {60, 4}, {90, 2}};
    const Evidence found = evidence(row, labels, {3, 0.7}, rule, {});
    CHECK(found.share == 0.7);
    CHECK(found.distance == doctest::Approx(std::log(15.0)));
    CHECK(found.margin == doctest::Approx(std::log((20.0 + 60) / (10 + 30))));  // 5 has (40 + 90) / 2
    CHECK(found.alone == 0);
}

TEST_CASE("evidence of class means that all agree: the mean of another class is at least the last distance") {
    const std::vector<Neighbor> row = {{10, 0}, {30, 1}, {60, 2}};
    const Evidence found = evidence(row, labels, {3, 1}, {.k = 2, .votes = Votes::class_mean}, {});
    CHECK(found.alone == 1);
    CHECK(found.margin == doctest::Approx(std::log(2.0 * 60 / (10 + 30))));
}

TEST_CASE("evidence of many queries is that of each") {
    constexpr std::int64_t n = 3000;  // several pieces, on several threads
    Neighbors neighbors(n, 3);
    std::vector<Vote> votes;
    for (std::int64_t q = 0; q < n; ++q) {
        const auto d = static_cast<std::uint32_t>(q);
        neighbors.row(q)[0] = {d, d % 6};
        neighbors.row(q)[1] = {d + 5, (d + 1) % 6};
        neighbors.row(q)[2] = {d + 9, (d + 4) % 6};
        votes.push_back({labels[d % 6], 0.5});
    }
    std::vector<Evidence> all(n);
    evidence_of_rows(neighbors.rows, 3, labels, votes, {.k = 3}, {}, 3, all);
    for (std::int64_t q = 0; q < n; ++q) {
        const auto at = static_cast<std::size_t>(q);
        const Evidence one = evidence(neighbors.row(q), labels, votes[at], {.k = 3}, {});
        REQUIRE(all[at].distance == one.distance);
        REQUIRE(all[at].margin == one.margin);
        REQUIRE(all[at].alone == one.alone);
    }
}
