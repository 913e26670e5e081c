/// The votes: by hand, against the oracles, for all k in one pass, and on several threads.

#include "classifier/vote.h"

#include "tests/support/points.h"
#include "tests/support/test.h"

namespace knn {
namespace {

/// Neighbor i is training image i.
std::vector<Neighbor> at_distances(const std::vector<std::uint32_t>& distances) {
    std::vector<Neighbor> neighbors;
    for (std::size_t i = 0; i < distances.size(); ++i)
        neighbors.push_back({distances[i], static_cast<std::uint32_t>(i)});
    return neighbors;
}

/// Random neighbors with few different distances and labels, so that there are ties of every kind.
struct Query {
    std::vector<Neighbor> neighbors;
    std::vector<std::uint8_t> labels;

    Query(std::mt19937& random, int most, unsigned classes, unsigned distances) {
        const auto count = 1 + static_cast<std::uint32_t>(random() % static_cast<unsigned>(most));
        for (std::uint32_t i = 0; i < count; ++i) {
            neighbors.push_back({static_cast<std::uint32_t>(random() % distances), i});
            labels.push_back(static_cast<std::uint8_t>(255 - 3 * (random() % classes)));
        }
        std::sort(neighbors.begin(), neighbors.end());
    }
};

Vote class_mean(std::span<const Neighbor> nearest, std::span<const std::uint8_t> labels,
                const ClassSizes& sizes, int j, Tie tie) {
    ClassMeans means(sizes);
    for (const Neighbor& neighbor : nearest)
        means.add(labels[neighbor.index], neighbor.distance);
    return means.vote(j, tie);
}

constexpr Tie ties[] = {Tie::smallest, Tie::nearest};

/// More images of each class than any j.
ClassSizes large() {
    ClassSizes sizes;
    sizes.fill(1000);
    return sizes;
}

TEST_CASE("vote: shares, ties, weights 1/d² of squared distances, and images at distance 0 that vote alone") {
    constexpr Weights uniform = Weights::uniform, distance = Weights::distance;
    constexpr Tie smallest = Tie::smallest, nearest = Tie::nearest;
    struct Row {
        std::vector<std::uint8_t> labels;
        std::vector<std::uint32_t> distances;
        Weights weights;
        Tie tie;
        Vote expected;
    };
    for (const Row& row : {Row{{4}, {9}, uniform, nearest, {4, 1.0}},
                           {{5, 2, 2, 5}, {1, 2, 3, 4}, uniform, smallest, {2, 0.5}},
                           {{5, 2, 2, 5}, {1, 2, 3, 4}, uniform, nearest, {5, 0.5}},
                           // The nearest neighbor is not among the tied classes, so it does not decide.
                           {{1, 8, 3, 3, 8}, {1, 2, 3, 4, 5}, uniform, nearest, {8, 0.4}},
                           {{1, 8, 3, 3, 8}, {1, 2, 3, 4, 5}, uniform, smallest, {3, 0.4}},
                           // 1/4 against 1/8 + 1/16: the single nearer one wins; then equal sums.
                           {{6, 1, 1}, {4, 8, 16}, distance, smallest, {6, 0.25 / (0.125 + 0.0625 + 0.25)}},
                           {{6, 1, 1}, {4, 8, 8}, distance, smallest, {1, 0.5}},
                           {{6, 1, 1}, {4, 8, 8}, distance, nearest, {6, 0.5}},
                           {{0}, {4'294'966'275U}, distance, smallest, {0, 1.0}},
                           {{3, 1, 1, 1}, {0, 1, 1, 1}, distance, smallest, {3, 1.0}},
                           {{3, 1, 0, 0}, {0, 0, 1, 1}, distance, nearest, {3, 0.5}}}) {
        CAPTURE(row.labels.size());
        CHECK(vote(at_distances(row.distances), row.labels,
                   {static_cast<int>(row.labels.size()), row.weights, row.tie}) == row.expected);
    }
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
        for (const Weights weights : {Weights::uniform, Weights::distance})
            for (const Tie tie : ties) {
                const VotingRule rule{static_cast<int>(neighbors.size()), weights, tie};
                REQUIRE(vote(neighbors, labels, rule, measure) ==
                        test::vote(neighbors, labels, weights, tie, measure));
            }
    }
}

TEST_CASE("vote: distances of floats decide in whatever unit they are") {
    const std::vector<std::uint8_t> labels = {3, 0, 0, 0, 1};
    for (const Metric metric : {Metric::l2, Metric::l1})
        for (const double unit : {0x1p-1000, 0x1p-60, 1.0, 0x1p60, 0x1p1000}) {
            std::vector<Neighbor> neighbors;
            for (const double distance : {1, 3, 3, 4, 60})
                neighbors.push_back(
                    {score_of_real(distance * unit), static_cast<std::uint32_t>(neighbors.size())});
            const double sum = metric == Metric::l2 ? 1 / 3. + 1 / 3. + 1 / 4. : 1 / 9. + 1 / 9. + 1 / 16.;
            const double far = metric == Metric::l2 ? 1 / 60. : 1 / 3600.;
            const Vote found =
                vote(neighbors, labels, {5, Weights::distance, Tie::smallest}, {metric, 2, true});
            CHECK(found.label == 3);
            CHECK(found.vote_share == 1 / (sum + far + 1));
        }
}

TEST_CASE("class-mean: which classes have a mean, whose is the least, and its share") {
    constexpr Tie smallest = Tie::smallest, nearest = Tie::nearest;
    constexpr std::uint32_t half = 1U << 31;
    struct Row {
        std::vector<std::uint8_t> labels;
        std::vector<std::uint32_t> distances;
        int j;
        Tie tie;
        Vote expected;                                        ///< confidence 0: any
        std::vector<std::pair<std::size_t, int>> small = {};  ///< classes of few images, and how many
    };
    for (const Row& row : {
             // 5: 10 + 40; 2: 20 + 25. The nearest one is a 5.
             Row{{5, 2, 2, 5}, {10, 20, 25, 40}, 2, nearest, {2, 1.0 / (1.0 + 45.0 / 50.0)}},
             // A class with fewer than j is out, however near.
             {{7, 3, 3, 3}, {0, 10, 10, 10}, 3, nearest, {3, 1.0}},
             {{7, 7, 3, 3, 3}, {0, 0, 10, 10, 10}, 3, smallest, {3, 1.0}},
             // One of few images needs those that it has: the mean of two, then of the one that is there.
             {{7, 7, 3, 3, 3}, {0, 12, 10, 10, 10}, 3, smallest, {7, 1.0 / (1.0 + 36.0 / 60.0)}, {{7, 2}}},
             {{7, 3, 3, 3}, {0, 10, 10, 10}, 3, nearest, {7, 1.0}, {{7, 2}}},
             {{7, 7, 3, 3, 3}, {0, 0, 10, 10, 10}, 3, smallest, {3, 1.0}, {{7, 4}}},  // more than j
             // What one lacks is as far as the last.
             {{7, 3, 3, 3}, {4, 10, 10, 15}, 3, smallest, {7, 1.0 / (1.0 + 19.0 * 3 / (35.0 * 2))}, {{7, 3}}},
             {{7, 3, 3, 3}, {8, 10, 10, 15}, 3, smallest, {7, 0}, {{7, 3}}},
             {{7, 3, 3, 3}, {9, 10, 10, 15}, 3, smallest, {3, 0}, {{7, 3}}},
             // Equal means of different counts.
             {{3, 9, 3, 3}, {10, 12, 13, 13}, 3, smallest, {3, 0.5}, {{9, 1}}},
             {{9, 3, 3}, {12, 12, 12}, 2, nearest, {9, 0.5}, {{9, 1}}},
             // All images are candidates: not the class with most of them.
             {{4, 4, 4, 1, 1, 1, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}, 50, smallest, {4, 0}, {{1, 5}, {4, 3}}},
             // Where no class has j, the majority wins, and equal ones go by distance.
             {{4}, {9}, 4, smallest, {4, 1.0}},
             {{1, 8, 8}, {1, 5, 6}, 4, smallest, {8, 1.0}},
             {{9, 1, 1, 9}, {1, 3, 4, 5}, 4, smallest, {9, 1.0 / (6.0 / 7.0 + 1.0)}},
             // Equal sums; a nearer class that is out, or whose sum is larger, does not decide.
             {{9, 2, 2, 9}, {10, 20, 30, 40}, 2, smallest, {2, 0.5}},
             {{9, 2, 2, 9}, {10, 20, 30, 40}, 2, nearest, {9, 0.5}},
             {{6, 0, 9, 2, 2, 9, 0}, {1, 5, 10, 20, 30, 40, 50}, 2, nearest, {9, 0}},
             {{255, 0, 0, 255}, {0, 0, 0, 0}, 2, smallest, {0, 0.5}},
             {{255, 0, 0, 255}, {0, 0, 0, 0}, 2, nearest, {255, 0.5}},
             // Distance 0 leaves no share to others; 2³² - 2 against 2³².
             {{3, 3, 4, 4}, {0, 0, 1, 1}, 2, smallest, {3, 1.0}},
             {{3, 3, 4, 4}, {half - 1, half - 1, half, half}, 2, smallest, {3, 0}},
         }) {
        ClassSizes sizes = large();
        for (const auto& [label, size] : row.small)
            sizes[label] = size;
        const Vote found = class_mean(at_distances(row.distances), row.labels, sizes, row.j, row.tie);
        CAPTURE(row.distances.back());
        CHECK(found.label == row.expected.label);
        if (row.expected.vote_share > 0) CHECK(found.vote_share == row.expected.vote_share);
    }
}

TEST_CASE("class-mean: random votes are those of a naive one") {
    std::mt19937 random(9);
    for (int round = 0; round < 4000; ++round) {
        const Query query(random, 30, round % 2 == 0 ? 3 : 12, 6);
        const int j = 1 + static_cast<int>(random() % 5);
        const auto nearest = std::span(query.neighbors).first(1 + random() % query.neighbors.size());
        const ClassSizes sizes = round % 4 < 2 ? class_sizes(query.labels) : large();
        for (const Tie tie : ties) {
            const Vote found = class_mean(nearest, query.labels, sizes, j, tie);
            REQUIRE(found.label == test::class_mean_vote(nearest, query.labels, j, tie, sizes).label);
            REQUIRE((found.vote_share > 0 && found.vote_share <= 1));
        }
    }
}

TEST_CASE("class-mean: all queries on any number of threads") {
    Neighbors neighbors(3000, 4);  // several pieces
    std::vector<std::uint8_t> labels(12'000);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<std::uint8_t>(i * i % 7);
        neighbors.rows[i] = {static_cast<std::uint32_t>(i % 4), static_cast<std::uint32_t>(i)};
    }
    const VotingRule rule{.k = 2, .tie = Tie::smallest, .votes = VoteKind::class_mean};
    const std::vector<Vote> one = votes(neighbors, labels, rule, {}, 1);
    CHECK(votes(neighbors, labels, rule, {}, 3) == one);
    for (std::int64_t q = 0; q < 3000; ++q)
        REQUIRE(one[static_cast<std::size_t>(q)] ==
                class_mean(neighbors.row(q), labels, large(), 2, Tie::smallest));
}

TEST_CASE("evidence of many queries is that of each") {
    const std::vector<std::uint8_t> labels = {3, 3, 3, 8, 8, 5};
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
    std::vector<ConfidenceFeatures> all(n);
    confidence_features_of(neighbors.rows, 3, labels, votes, {.k = 3}, {}, 3, all);
    for (std::int64_t q = 0; q < n; ++q) {
        const auto at = static_cast<std::size_t>(q);
        REQUIRE(all[at] == confidence_features(neighbors.row(q), labels, votes[at], {.k = 3}, {}));
    }
}

TEST_CASE("class-mean: one pass over the neighbors has the vote of each k and j") {
    std::mt19937 random(3);
    for (int round = 0; round < 150; ++round) {
        const Query query(random, 25, 1 + static_cast<unsigned>(random() % 5),
                          1 + static_cast<unsigned>(random() % 9));
        ClassSizes sizes = class_sizes(query.labels);
        if (round % 2 == 0)
            for (std::int64_t& size : sizes)
                size *= 1 + static_cast<std::int64_t>(random() % 9);
        ClassMeans means(sizes);
        means.add(9, 5);
        means.clear();
        for (std::size_t k = 1; k <= query.neighbors.size(); ++k) {
            const auto nearest = std::span(query.neighbors).first(k);
            means.add(query.labels[nearest.back().index], nearest.back().distance);
            for (const Tie tie : ties)
                for (int j = 1; j <= 27; ++j)
                    CHECK(means.label(j, tie) == class_mean(nearest, query.labels, sizes, j, tie).label);
        }
    }
}

}  // namespace
}  // namespace knn
