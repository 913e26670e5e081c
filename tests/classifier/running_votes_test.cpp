/// Majority votes for all k in one pass, against a vote for each k.

#include "classifier/vote.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace knn;

namespace {

/// A query's neighbors with few different distances and labels, so that there are ties of every kind.
struct Query {
    std::vector<Neighbor> neighbors;
    std::vector<std::uint8_t> labels;

    Query(std::mt19937& random, int count, unsigned classes, unsigned distances) {
        for (int i = 0; i < count; ++i) {
            neighbors.push_back(
                {static_cast<std::uint32_t>(random() % distances), static_cast<std::uint32_t>(i)});
            labels.push_back(static_cast<std::uint8_t>(255 - 3 * (random() % classes)));
        }
        std::sort(neighbors.begin(), neighbors.end());
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
                running.add(query.labels[last.index], weight);
                for (const Tie tie : {Tie::smallest, Tie::nearest})
                    CHECK(running.winner(tie) == vote(std::span(query.neighbors).first(k), query.labels,
                                                      {static_cast<int>(k), weights, tie})
                                                     .label);
            }
        }
    }
}
