#include "classifier/class_mean.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "classifier/vote.h"

namespace knn {
namespace {

/// More images of each class than any j.
ClassSizes large() {
    ClassSizes sizes;
    sizes.fill(1000);
    return sizes;
}

Vote vote_of(const std::vector<std::uint8_t>& labels, const std::vector<std::uint32_t>& distances, int j,
             Tie tie, const ClassSizes& sizes = large()) {
    std::vector<Neighbor> neighbors;
    for (std::size_t i = 0; i < distances.size(); ++i)
        neighbors.push_back({distances[i], static_cast<std::uint32_t>(i)});
    return class_mean(neighbors, labels, sizes, j, tie);
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

TEST_CASE("class-mean: a class of few images needs those that it has") {
    ClassSizes sizes = large();
    sizes[7] = 2;  // mean of two, then of the one that is there
    CHECK(vote_of({7, 7, 3, 3, 3}, {0, 12, 10, 10, 10}, 3, Tie::smallest, sizes) ==
          Vote{7, 1.0 / (1.0 + 36.0 / 60.0)});
    CHECK(vote_of({7, 3, 3, 3}, {0, 10, 10, 10}, 3, Tie::nearest, sizes) == Vote{7, 1.0});
    CHECK(vote_of({3, 3, 3, 7}, {10, 10, 10, 11}, 3, Tie::nearest, sizes).label == 3);
    sizes[7] = 4;  // more than j
    CHECK(vote_of({7, 7, 3, 3, 3}, {0, 0, 10, 10, 10}, 3, Tie::smallest, sizes) == Vote{3, 1.0});
    // What one lacks is as far as the last.
    sizes[7] = 3;
    CHECK(vote_of({7, 3, 3, 3}, {4, 10, 10, 15}, 3, Tie::smallest, sizes) ==
          Vote{7, 1.0 / (1.0 + 19.0 * 3 / (35.0 * 2))});
    CHECK(vote_of({7, 3, 3, 3}, {8, 10, 10, 15}, 3, Tie::smallest, sizes).label == 7);
    CHECK(vote_of({7, 3, 3, 3}, {9, 10, 10, 15}, 3, Tie::smallest, sizes).label == 3);
    // Equal means of different counts.
    sizes[9] = 1;
    CHECK(vote_of({3, 9, 3, 3}, {10, 12, 13, 13}, 3, Tie::smallest, sizes) == Vote{3, 0.5});
    CHECK(vote_of({9, 3, 3}, {12, 12, 12}, 2, Tie::nearest, sizes) == Vote{9, 0.5});
    // All images are candidates: not the class with most of them.
    ClassSizes all{};
    all[1] = 5;
    all[4] = 3;
    CHECK(vote_of({4, 4, 4, 1, 1, 1, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}, 50, Tie::smallest, all).label == 4);
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
        const ClassSizes sizes = round % 4 < 2 ? class_sizes(labels) : large();
        std::map<int, std::vector<std::int64_t>> by_class;
        for (const Neighbor& neighbor : neighbors)
            by_class[labels[neighbor.index]].push_back(neighbor.distance);
        std::size_t each = 0;
        for (const auto& [label, distances] : by_class)
            each = std::max(each, distances.size());
        each = std::min(each, static_cast<std::size_t>(j));
        std::map<std::int64_t, std::vector<int>> by_mean;  // 60 times the mean: an integer for up to 5
        for (const auto& [label, distances] : by_class) {
            const auto size = static_cast<std::size_t>(sizes[static_cast<std::size_t>(label)]);
            std::vector<std::int64_t> taken(
                distances.begin(),
                distances.begin() + static_cast<std::ptrdiff_t>(std::min(each, distances.size())));
            if (taken.size() < each && size > static_cast<std::size_t>(j)) continue;
            while (taken.size() < each && taken.size() + 1 < size)
                taken.push_back(neighbors.back().distance);
            const std::int64_t sum = std::accumulate(taken.begin(), taken.end(), std::int64_t{0});
            by_mean[60 * sum / std::ssize(taken)].push_back(label);
        }
        const std::vector<int>& best = by_mean.begin()->second;
        REQUIRE(class_mean(neighbors, labels, sizes, j, Tie::smallest).label == best.front());
        const auto first = std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
            return std::find(best.begin(), best.end(), labels[neighbor.index]) != best.end();
        });
        const Vote nearest = class_mean(neighbors, labels, sizes, j, Tie::nearest);
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
        REQUIRE(one[static_cast<std::size_t>(q)] ==
                class_mean(neighbors.row(q), labels, large(), 2, Tie::smallest));
}

}  // namespace
}  // namespace knn
