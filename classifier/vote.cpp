#include "classifier/vote.h"

#include "classifier/class_mean.h"

#include <algorithm>
#include <bit>

#include "cpu/host/threads.h"

namespace knn {

double vote_weight(std::uint32_t distance, bool zeros_alone, Weights weights, const Measure& measure) {
    if (weights == Weights::uniform) return 1.0;
    if (zeros_alone) return distance == 0 ? 1.0 : 0.0;
    return inverse_square(measure, distance);
}

namespace {

/// add(label, weight) for each neighbor.
template <typename Add>
void for_weights(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, Weights weights,
                 const Measure& measure, const Add& add) {
    const bool zeros_alone = neighbors.front().distance == 0;
    for (const Neighbor& neighbor : neighbors)
        add(labels[neighbor.index], vote_weight(neighbor.distance, zeros_alone, weights, measure));
}

}  // namespace

std::array<double, 256> class_sums(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels,
                                   Weights weights, const Measure& measure) {
    std::array<double, 256> sums{};
    for_weights(neighbors, labels, weights, measure,
                [&](std::uint8_t label, double weight) { sums[label] += weight; });
    return sums;
}

Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const VotingRule& rule,
          const Measure& measure) {
    // Of the labels that are there: to add up and compare 256 sums would take longer than all the rest.
    std::array<double, 256> sums;
    std::array<std::uint64_t, 4> there{};
    for_weights(neighbors, labels, rule.weights, measure, [&](std::uint8_t label, double weight) {
        std::uint64_t& word = there[label / 64];
        const std::uint64_t bit = std::uint64_t{1} << label % 64;
        sums[label] = (word & bit) == 0 ? weight : sums[label] + weight;
        word |= bit;
    });
    double total = 0, largest = 0;
    std::uint8_t winner = 0;
    for (unsigned i = 0; i < there.size(); ++i)
        for (std::uint64_t bits = there[i]; bits != 0; bits &= bits - 1) {
            const auto label =
                static_cast<std::uint8_t>(64 * i + static_cast<unsigned>(std::countr_zero(bits)));
            total += sums[label];
            if (sums[label] <= largest) continue;
            largest = sums[label];
            winner = label;
        }
    if (rule.tie == Tie::nearest) {
        const auto first = std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
            return sums[labels[neighbor.index]] == largest;
        });
        winner = labels[first->index];
    }
    return {winner, largest / total};
}

void vote_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
               const VotingRule& rule, const Measure& measure, int threads, std::span<Vote> votes) {
    const auto row_of = [&](std::int64_t q) {
        return neighbors.subspan(static_cast<std::size_t>(q * k), static_cast<std::size_t>(k));
    };
    const bool by_mean = rule.votes == Votes::class_mean;
    const ClassSizes sizes = by_mean ? class_sizes(labels) : ClassSizes{};
    cpu::for_lists(std::ssize(votes), k, threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q)
            votes[static_cast<std::size_t>(q)] = by_mean
                                                     ? class_mean(row_of(q), labels, sizes, rule.k, rule.tie)
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
