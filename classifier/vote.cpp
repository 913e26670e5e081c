#include "classifier/vote.h"

#include <algorithm>
#include <array>

namespace knn::cpu {

namespace {

double weight_of(std::uint32_t distance, bool zeros_alone, Weights weights, const Measure& measure) {
    if (weights == Weights::uniform) return 1.0;
    if (zeros_alone) return distance == 0 ? 1.0 : 0.0;
    return inverse_square(measure, distance);
}

}  // namespace

Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, Weights weights, Tie tie,
          const Measure& measure) {
    std::array<double, 256> sums{};
    std::uint8_t largest_label = 0;
    const bool zeros_alone = neighbors.front().distance == 0;
    for (const Neighbor& neighbor : neighbors) {
        const std::uint8_t label = labels[neighbor.index];
        sums[label] += weight_of(neighbor.distance, zeros_alone, weights, measure);
        largest_label = std::max(largest_label, label);
    }

    double total = 0;
    std::uint8_t winner = 0;
    for (std::size_t label = 0; label <= largest_label; ++label) {
        total += sums[label];
        if (sums[label] > sums[winner]) winner = static_cast<std::uint8_t>(label);
    }
    if (tie == Tie::nearest) {
        const double most = sums[winner];
        const auto first = std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
            return sums[labels[neighbor.index]] == most;
        });
        winner = labels[first->index];
    }
    return {winner, sums[winner] / total};
}

}  // namespace knn::cpu
