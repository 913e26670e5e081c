#include "classifier/vote.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "tests/support/oracle.h"

namespace knn {
namespace {

/// Neighbors in order with these labels and squared distances; neighbor i is training image i.
Vote vote_of(const std::vector<std::uint8_t>& labels, const std::vector<std::uint32_t>& distances,
             Weights weights, Tie tie) {
    std::vector<Neighbor> neighbors;
    for (std::size_t i = 0; i < distances.size(); ++i)
        neighbors.push_back({distances[i], static_cast<std::uint32_t>(i)});
    return vote(neighbors, labels, {static_cast<int>(neighbors.size()), weights, tie});
}

TEST_CASE("vote: the majority wins, and its share is the confidence") {
    for (const Tie tie : {Tie::smallest, Tie::nearest}) {
        CHECK(vote_of({4}, {9}, Weights::uniform, tie) == Vote{4, 1.0});
        CHECK(vote_of({7, 3, 3, 9}, {1, 2, 3, 4}, Weights::uniform, tie) == Vote{3, 0.5});
        CHECK(vote_of({255, 255, 0}, {1, 1, 1}, Weights::uniform, tie) == Vote{255, 2.0 / 3.0});
    }
}

TEST_CASE("vote: labels are looked up by the neighbor's index") {
    const std::vector<Neighbor> neighbors{{5, 2}, {6, 0}, {7, 2}};
    const std::vector<std::uint8_t> labels{1, 8, 6};
    CHECK(vote(neighbors, labels, {3, Weights::uniform, Tie::smallest}) == Vote{6, 2.0 / 3.0});
}

TEST_CASE("vote: equal votes go to the smallest label or to the nearest neighbor's") {
    const std::vector<std::uint8_t> labels{9, 2, 5, 2, 5};
    const std::vector<std::uint32_t> distances{10, 20, 30, 40, 50};
    CHECK(vote_of(labels, distances, Weights::uniform, Tie::smallest) == Vote{2, 0.4});
    CHECK(vote_of(labels, distances, Weights::uniform, Tie::nearest) == Vote{2, 0.4});
    CHECK(vote_of({5, 2, 2, 5}, {1, 2, 3, 4}, Weights::uniform, Tie::smallest) == Vote{2, 0.5});
    CHECK(vote_of({5, 2, 2, 5}, {1, 2, 3, 4}, Weights::uniform, Tie::nearest) == Vote{5, 0.5});
    // The nearest neighbor is not among the tied classes, so it does not decide.
    CHECK(vote_of({1, 8, 3, 3, 8}, {1, 2, 3, 4, 5}, Weights::uniform, Tie::nearest) == Vote{8, 0.4});
    CHECK(vote_of({1, 8, 3, 3, 8}, {1, 2, 3, 4, 5}, Weights::uniform, Tie::smallest) == Vote{3, 0.4});
}

TEST_CASE("vote: weights by distance are 1/d² of the squared distance") {
    // 1/4 against 1/8 + 1/16: the single nearer one wins.
    CHECK(vote_of({6, 1, 1}, {4, 8, 16}, Weights::distance, Tie::smallest) ==
          Vote{6, 0.25 / (0.125 + 0.0625 + 0.25)});
    // 1/4 against 1/8 + 1/8: equal sums, and only then the tie rule decides.
    CHECK(vote_of({6, 1, 1}, {4, 8, 8}, Weights::distance, Tie::smallest) == Vote{1, 0.5});
    CHECK(vote_of({6, 1, 1}, {4, 8, 8}, Weights::distance, Tie::nearest) == Vote{6, 0.5});
    // Uniform weights ignore the distance.
    CHECK(vote_of({6, 1, 1}, {4, 8, 16}, Weights::uniform, Tie::nearest) == Vote{1, 2.0 / 3.0});
}

TEST_CASE("vote: sums are added in order of rank, the total in order of labels") {
    const double a = 1.0 / 3.0, b = 1.0 / 7.0, c = 1.0 / 11.0, d = 1.0 / 13.0;
    const Vote got = vote_of({4, 2, 4, 9}, {3, 7, 11, 13}, Weights::distance, Tie::smallest);
    CHECK(got == Vote{4, (a + c) / ((b + (a + c)) + d)});
    CHECK(vote_of({0}, {4'294'966'275U}, Weights::distance, Tie::smallest) == Vote{0, 1.0});
}

TEST_CASE("vote: images at distance 0 alone vote when weights are by distance") {
    CHECK(vote_of({3, 1, 1, 1}, {0, 1, 1, 1}, Weights::distance, Tie::smallest) == Vote{3, 1.0});
    CHECK(vote_of({3, 1, 0, 0}, {0, 0, 1, 1}, Weights::distance, Tie::smallest) == Vote{1, 0.5});
    CHECK(vote_of({3, 1, 0, 0}, {0, 0, 1, 1}, Weights::distance, Tie::nearest) == Vote{3, 0.5});
    CHECK(vote_of({3, 1, 1, 1}, {0, 1, 1, 1}, Weights::uniform, Tie::smallest) == Vote{1, 0.75});
}

TEST_CASE("vote: random votes are the oracle's") {
    std::mt19937 random(5);
    for (int round = 0; round < 4000; ++round) {
        const Measure measure = std::vector<Measure>{
            {Metric::l2, 2}, {Metric::l1, 2}, {Metric::lp, 3}, {Metric::cosine, 2}}[random() % 4];
        const std::size_t k = 1 + random() % 12;
        const std::uint64_t classes = round % 50 == 0 ? 256 : 1 + random() % 5, distances = 1 + random() % 6;
        std::vector<std::uint8_t> labels(20);
        for (std::uint8_t& label : labels)
            label = static_cast<std::uint8_t>(255 - random() % classes);
        std::vector<Neighbor> neighbors(k);
        for (Neighbor& neighbor : neighbors) {
            const auto distance = static_cast<std::uint32_t>(random() % distances);
            neighbor = {is_integral(measure.metric)
                            ? distance
                            : std::bit_cast<std::uint32_t>(static_cast<float>(distance) / 7),
                        static_cast<std::uint32_t>(random() % labels.size())};
        }
        std::sort(neighbors.begin(), neighbors.end());
        std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
        for (const Neighbor& neighbor : neighbors)
            pairs.emplace_back(neighbor.distance, neighbor.index);
        for (const Weights weights : {Weights::uniform, Weights::distance})
            for (const Tie tie : {Tie::smallest, Tie::nearest}) {
                const auto [label, confidence] = test::vote(pairs, labels, weights, tie, measure);
                const Vote got =
                    vote(neighbors, labels, {static_cast<int>(neighbors.size()), weights, tie}, measure);
                REQUIRE(got.label == label);
                REQUIRE(got.confidence == confidence);
            }
    }
}

}  // namespace
}  // namespace knn
