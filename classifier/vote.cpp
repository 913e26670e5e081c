#include "classifier/vote.h"

#include "classifier/class_mean.h"

#include <algorithm>
#include <numeric>

#include "cpu/threads.h"

namespace knn {

namespace {}  // namespace

double vote_weight(std::uint32_t distance, bool zeros_alone, Weights weights, const Measure& measure) {
    if (weights == Weights::uniform) return 1.0;
    if (zeros_alone) return distance == 0 ? 1.0 : 0.0;
    return inverse_square(measure, distance);
}

std::array<double, 256> class_sums(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels,
                                   Weights weights, const Measure& measure) {
    std::array<double, 256> sums{};
    const bool zeros_alone = neighbors.front().distance == 0;
    for (const Neighbor& neighbor : neighbors)
        sums[labels[neighbor.index]] += vote_weight(neighbor.distance, zeros_alone, weights, measure);
    return sums;
}

Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const VotingRule& rule,
          const Measure& measure) {
    const std::array<double, 256> sums = class_sums(neighbors, labels, rule.weights, measure);
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    const auto largest = std::max_element(sums.begin(), sums.end());  // the first: of the smallest label
    auto winner = static_cast<std::uint8_t>(largest - sums.begin());
    if (rule.tie == Tie::nearest) {
        const auto first = std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
            return sums[labels[neighbor.index]] == *largest;
        });
        winner = labels[first->index];
    }
    return {winner, sums[winner] / total};
}

void vote_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
               const VotingRule& rule, const Measure& measure, int threads, std::span<Vote> votes) {
    const auto row_of = [&](std::int64_t q) {
        return neighbors.subspan(static_cast<std::size_t>(q * k), static_cast<std::size_t>(k));
    };
    cpu::for_lists(std::ssize(votes), k, threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q)
            votes[static_cast<std::size_t>(q)] = rule.votes == Votes::class_mean
                                                     ? class_mean(row_of(q), labels, rule.k, rule.tie)
                                                     : vote(row_of(q), labels, rule, measure);
    });
}

std::vector<Vote> votes(const Neighbors& neighbors, std::span<const std::uint8_t> labels,
                        const VotingRule& rule, const Measure& measure, int threads) {
    std::vector<Vote> all(static_cast<std::size_t>(neighbors.n_query));
    vote_rows(neighbors.rows, neighbors.k, labels, rule, measure, threads, all);
    return all;
}

}  // namespace knn
