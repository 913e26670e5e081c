/// The votes for all k in one pass, against a vote for each k.

#include "classifier/running_votes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "classifier/class_mean.h"
#include "classifier/vote.h"

using namespace knn;

namespace {

/// A query's neighbors with few different distances and labels, so that there are ties of every kind.
struct Query {
    std::vector<Neighbor> neighbors;
    std::vector<std::uint8_t> labels;
    FirstRanks first;

    Query(std::mt19937& random, int count, unsigned classes, unsigned distances) {
        first.fill(UINT32_MAX);
        for (int i = 0; i < count; ++i) {
            neighbors.push_back(
                {static_cast<std::uint32_t>(random() % distances), static_cast<std::uint32_t>(i)});
            labels.push_back(static_cast<std::uint8_t>(255 - 3 * (random() % classes)));
        }
        std::sort(neighbors.begin(), neighbors.end());
        for (std::uint32_t rank = 0; rank < neighbors.size(); ++rank) {
            std::uint32_t& known = first[labels[neighbors[rank].index]];
            known = std::min(known, rank);
        }
    }
};

}  // namespace

TEST_CASE("running votes: a majority vote for every k") {
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        const Query query(random, 1 + static_cast<int>(random() % 25),
                          1 + static_cast<unsigned>(random() % 5), 1 + static_cast<unsigned>(random() % 9));
        for (const Weights weights : {Weights::uniform, Weights::distance}) {
            RunningMajority running;
            const bool zeros = query.neighbors[0].distance == 0;
            for (std::size_t k = 1; k <= query.neighbors.size(); ++k) {
                const Neighbor& last = query.neighbors[k - 1];
                double weight = 1;
                if (weights == Weights::distance && zeros) weight = last.distance == 0 ? 1 : 0;
                if (weights == Weights::distance && !zeros) weight = 1.0 / last.distance;
                running.add(query.labels[last.index], weight, query.first);
                for (const Tie tie : {Tie::smallest, Tie::nearest})
                    CHECK(running.winner(tie) == vote(std::span(query.neighbors).first(k), query.labels,
                                                      {static_cast<int>(k), weights, tie})
                                                     .label);
            }
        }
    }
}

TEST_CASE("running votes: the class that is nearest on average, for every j and number of neighbors") {
    std::mt19937 random(4);
    for (int round = 0; round < 150; ++round) {
        const Query query(random, 1 + static_cast<int>(random() % 25),
                          1 + static_cast<unsigned>(random() % 5), 1 + static_cast<unsigned>(random() % 9));
        ClassSizes sizes = class_sizes(query.labels);
        if (round % 2 == 0)
            for (std::int64_t& size : sizes)
                size *= 1 + static_cast<std::int64_t>(random() % 9);
        RunningMean running(27, sizes);
        running.clear();
        for (std::size_t n = 1; n <= query.neighbors.size(); ++n) {
            const Neighbor& last = query.neighbors[n - 1];
            running.add(query.labels[last.index], last.distance, query.first);
            for (int j = 1; j <= 27; ++j)
                for (const Tie tie : {Tie::smallest, Tie::nearest})
                    CHECK(running.winner(j, tie, query.first) ==
                          class_mean(std::span(query.neighbors).first(n), query.labels, sizes, j, tie).label);
        }
    }
}
