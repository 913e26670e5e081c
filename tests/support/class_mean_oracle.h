#pragma once
/// Oracle of the vote `class-mean`: lists of distances by class.

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "data/core/voting.h"

namespace knn::test {

/// The label that classifier/class_mean.h defines for these neighbors (distance, index), in order. `sizes`: of the 256
/// classes.
inline int class_mean(const std::vector<std::pair<std::int64_t, std::int64_t>>& nearest,
                      std::span<const std::uint8_t> labels, std::span<const std::int64_t> sizes, int j,
                      Tie tie) {
    std::map<int, std::vector<std::int64_t>> by_class;
    for (const auto& [distance, index] : nearest)
        by_class[labels[static_cast<std::size_t>(index)]].push_back(distance);
    std::size_t each = 0;
    for (const auto& [label, distances] : by_class)
        each = std::max(each, std::min(distances.size(), static_cast<std::size_t>(j)));
    std::map<double, std::vector<int>> by_mean;
    for (auto& [label, distances] : by_class) {
        const std::int64_t size = sizes[static_cast<std::size_t>(label)];
        if (distances.size() < each && size > j) continue;
        while (distances.size() < each && std::ssize(distances) + 1 < size)
            distances.push_back(nearest.back().first);
        distances.resize(std::min(each, distances.size()));
        const auto sum =
            static_cast<double>(std::accumulate(distances.begin(), distances.end(), std::int64_t{0}));
        by_mean[sum / static_cast<double>(distances.size())].push_back(label);
    }
    const std::vector<int>& best = by_mean.begin()->second;
    if (tie == Tie::smallest) return best.front();
    for (const auto& neighbor : nearest) {
        const int label = labels[static_cast<std::size_t>(neighbor.second)];
        if (std::find(best.begin(), best.end(), label) != best.end()) return label;
    }
    return -1;
}

}  // namespace knn::test
