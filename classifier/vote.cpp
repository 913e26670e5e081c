#include "classifier/vote.h"

#include "classifier/class_mean.h"

#include <algorithm>
#include <numeric>

#include "cpu/threads.h"

namespace knn {

namespace {

constexpr std::int64_t queries_per_piece = 128;

}  // namespace

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

std::vector<Vote> votes(const Neighbors& neighbors, std::span<const std::uint8_t> labels,
                        const VotingRule& rule, const Measure& measure, int threads) {
    std::vector<Vote> all(static_cast<std::size_t>(neighbors.n_query));
    cpu::for_rows(neighbors.n_query, queries_per_piece, std::max(threads, 1), nullptr,
                  [&](std::int64_t first, std::int64_t last) {
                      for (std::int64_t q = first; q < last; ++q)
                          all[static_cast<std::size_t>(q)] =
                              rule.votes == Votes::class_mean
                                  ? class_mean(neighbors.row(q), labels, rule.k, rule.tie)
                                  : vote(neighbors.row(q), labels, rule, measure);
                  });
    return all;
}

}  // namespace knn
