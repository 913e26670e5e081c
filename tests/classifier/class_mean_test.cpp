#include "classifier/class_mean.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "classifier/vote.h"

namespace knn {
namespace {

Vote vote_of(const std::vector<std::uint8_t>& labels, const std::vector<std::uint32_t>& distances, int j,
             Tie tie) {
    std::vector<Neighbor> neighbors;
    for (std::size_t i = 0; i < distances.size(); ++i)
        neighbors.push_back({distances[i], static_cast<std::uint32_t>(i)});
    return class_mean(neighbors, labels, j, tie);
}

TEST_CASE("class-mean: the class whose nearest j are nearest on average wins") {
    for (const Tie tie : {Tie::smallest, Tie::nearest}) {
        // 5: 10 + 40; 2: 20 + 25. The nearest one is a 5.
        CHECK(vote_of({5, 2, 2, 5}, {10, 20, 25, 40}, 2, tie) == Vote{2, 1.0 / (1.0 + 45.0 / 50.0)});
        CHECK(vote_of({5, 2, 2, 5}, {10, 20, 25, 40}, 1, tie).label == 5);
        // Only the nearest two of a class count.
        CHECK(vote_of({5, 5, 2, 2, 2, 2}, {10, 20, 21, 22, 23, 24}, 2, tie).label == 5);
    }
}

TEST_CASE("class-mean: a class with fewer than j is out, however near") {
    CHECK(vote_of({7, 3, 3, 3}, {0, 10, 10, 10}, 3, Tie::nearest) == Vote{3, 1.0});
    CHECK(vote_of({7, 7, 3, 3, 3}, {0, 0, 10, 10, 10}, 3, Tie::smallest) == Vote{3, 1.0});
}

TEST_CASE("class-mean: where no class has j, the majority wins, and equal ones go by distance") {
    CHECK(vote_of({4}, {9}, 4, Tie::smallest) == Vote{4, 1.0});
    CHECK(vote_of({1, 8, 8}, {1, 5, 6}, 4, Tie::smallest) == Vote{8, 1.0});
    CHECK(vote_of({9, 1, 1, 9}, {1, 3, 4, 5}, 4, Tie::smallest) == Vote{9, 1.0 / (6.0 / 7.0 + 1.0)});
}

TEST_CASE("class-mean: equal sums go to the smallest label or to the class of the nearest") {
    CHECK(vote_of({9, 2, 2, 9}, {10, 20, 30, 40}, 2, Tie::smallest) == Vote{2, 0.5});
    CHECK(vote_of({9, 2, 2, 9}, {10, 20, 30, 40}, 2, Tie::nearest) == Vote{9, 0.5});
    // A nearer class that is out, or whose sum is larger, does not decide.
    CHECK(vote_of({6, 0, 9, 2, 2, 9, 0}, {1, 5, 10, 20, 30, 40, 50}, 2, Tie::nearest).label == 9);
    CHECK(vote_of({255, 0, 0, 255}, {0, 0, 0, 0}, 2, Tie::smallest) == Vote{0, 0.5});
    CHECK(vote_of({255, 0, 0, 255}, {0, 0, 0, 0}, 2, Tie::nearest) == Vote{255, 0.5});
}

TEST_CASE("class-mean: distance 0 leaves no share to others, and sums exceed 32 bits") {
    CHECK(vote_of({3, 3, 4, 4}, {0, 0, 1, 1}, 2, Tie::smallest) == Vote{3, 1.0});
    // 2³² - 2 against 2³².
    const std::uint32_t half = 1U << 31;
    CHECK(vote_of({3, 3, 4, 4}, {half - 1, half - 1, half, half}, 2, Tie::smallest).label == 3);
}

TEST_CASE("class-mean: random votes are those of a naive one") {
    std::mt19937 random(9);
    for (int round = 0; round < 4000; ++round) {
        std::vector<std::uint8_t> labels(30);
        for (std::uint8_t& label : labels)
            label = static_cast<std::uint8_t>(random() % (round % 2 == 0 ? 3 : 12));
        std::vector<Neighbor> neighbors(1 + random() % 30);
        for (std::size_t i = 0; i < neighbors.size(); ++i)
            neighbors[i] = {static_cast<std::uint32_t>(random() % 6), static_cast<std::uint32_t>(i)};
        std::sort(neighbors.begin(), neighbors.end());
        const int j = 1 + static_cast<int>(random() % 5);
        std::map<int, std::vector<std::int64_t>> by_class;
        for (const Neighbor& neighbor : neighbors)
            by_class[labels[neighbor.index]].push_back(neighbor.distance);
        std::size_t each = 0;
        for (const auto& [label, distances] : by_class)
            each = std::max(each, distances.size());
        each = std::min(each, static_cast<std::size_t>(j));
        std::map<std::int64_t, std::vector<int>> by_sum;
        for (const auto& [label, distances] : by_class) {
            std::int64_t sum = 0;
            for (std::size_t i = 0; i < each && i < distances.size(); ++i)
                sum += distances[i];
            if (distances.size() >= each) by_sum[sum].push_back(label);
        }
        const std::vector<int>& best = by_sum.begin()->second;
        REQUIRE(class_mean(neighbors, labels, j, Tie::smallest).label == best.front());
        const auto first = std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
            return std::find(best.begin(), best.end(), labels[neighbor.index]) != best.end();
        });
        const Vote nearest = class_mean(neighbors, labels, j, Tie::nearest);
        REQUIRE(nearest.label == labels[first->index]);
        REQUIRE((nearest.confidence > 0 && nearest.confidence <= 1));
    }
}

TEST_CASE("class-mean: all queries on any number of threads") {
    Neighbors neighbors(3000, 4);  // several pieces
    std::vector<std::uint8_t> labels(12'000);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<std::uint8_t>(i * i % 7);
        neighbors.rows[i] = {static_cast<std::uint32_t>(i % 4), static_cast<std::uint32_t>(i)};
    }
    const VotingRule rule{.k = 2, .tie = Tie::smallest, .votes = Votes::class_mean};
    const std::vector<Vote> one = votes(neighbors, labels, rule, {}, 1);
    CHECK(votes(neighbors, labels, rule, {}, 3) == one);
    for (std::int64_t q = 0; q < 3000; ++q)
        REQUIRE(one[static_cast<std::size_t>(q)] == class_mean(neighbors.row(q), labels, 2, Tie::smallest));
}

}  // namespace
}  // namespace knn
