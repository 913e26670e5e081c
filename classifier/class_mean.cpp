#include "classifier/class_mean.h"

#include <algorithm>
#include <array>

namespace knn {

namespace {

using Counts = std::array<int, 256>;
using Sums = std::array<std::uint64_t, 256>;

Counts counts_of(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels) {
    Counts counts{};
    for (const Neighbor& neighbor : neighbors)
        ++counts[labels[neighbor.index]];
    return counts;
}

/// Of the nearest j neighbors of each class.
Sums sums_of(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, int j) {
    Sums sums{};
    Counts taken{};
    for (const Neighbor& neighbor : neighbors) {
        const std::uint8_t label = labels[neighbor.index];
        if (taken[label]++ < j) sums[label] += neighbor.distance;
    }
    return sums;
}

}  // namespace

Vote class_mean(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, int j, Tie tie) {
    const Counts counts = counts_of(neighbors, labels);
    const int each = std::min(j, *std::max_element(counts.begin(), counts.end()));
    const Sums sums = sums_of(neighbors, labels, each);
    std::uint64_t least = UINT64_MAX;
    for (std::size_t label = 0; label < sums.size(); ++label)
        if (counts[label] >= each) least = std::min(least, sums[label]);
    const auto wins = [&](std::size_t label) { return counts[label] >= each && sums[label] == least; };

    std::uint8_t winner = 0;
    if (tie == Tie::smallest)
        while (!wins(winner))
            ++winner;
    else
        winner = labels[std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
                            return wins(labels[neighbor.index]);
                        })->index];
    double total = 0;
    for (std::size_t label = 0; label < sums.size(); ++label)
        if (counts[label] >= each)
            total += wins(label) ? 1.0 : static_cast<double>(least) / static_cast<double>(sums[label]);
    return {winner, 1.0 / total};
}

}  // namespace knn
