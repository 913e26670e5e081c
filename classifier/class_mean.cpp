#include "classifier/class_mean.h"

#include <algorithm>

namespace knn {

namespace {

/// Of a class's nearest neighbors. Sums of 1,024 distances, times 1,024, are exact as doubles.
struct Mean {
    std::uint64_t sum = 0;
    int count = 0;
    bool is_in = false;
};

/// sum / count of a, compared with that of b.
std::uint64_t scaled(const Mean& a, const Mean& b) {
    return a.sum * static_cast<std::uint64_t>(b.count);
}

using Means = std::array<Mean, 256>;

Means means_of(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels,
               const ClassSizes& sizes, int j) {
    std::array<int, 256> counts{};
    for (const Neighbor& neighbor : neighbors)
        ++counts[labels[neighbor.index]];
    const int each = std::min(j, *std::max_element(counts.begin(), counts.end()));
    Means means{};
    for (const Neighbor& neighbor : neighbors) {
        Mean& mean = means[labels[neighbor.index]];
        if (mean.count == each) continue;
        ++mean.count;
        mean.sum += neighbor.distance;
    }
    for (std::size_t label = 0; label < means.size(); ++label) {
        Mean& mean = means[label];
        const int missing = needed_neighbors(sizes[label], each) - mean.count;
        mean.is_in = missing <= 0 || (is_small(sizes[label], j) && mean.count > 0);
        if (missing <= 0 || !mean.is_in) continue;
        mean.sum += static_cast<std::uint64_t>(missing) * neighbors.back().distance;
        mean.count += missing;
    }
    return means;
}

}  // namespace

ClassSizes class_sizes(std::span<const std::uint8_t> labels) {
    ClassSizes sizes{};
    for (const std::uint8_t label : labels)
        ++sizes[label];
    return sizes;
}

bool is_small(std::int64_t class_size, int j) {
    return class_size - 1 < j;
}

int needed_neighbors(std::int64_t class_size, int each) {
    return static_cast<int>(std::clamp<std::int64_t>(class_size - 1, 1, each));
}

Vote class_mean(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels,
                const ClassSizes& sizes, int j, Tie tie) {
    const Means means = means_of(neighbors, labels, sizes, j);
    const Mean* least = nullptr;
    for (const Mean& mean : means)
        if (mean.is_in && (least == nullptr || scaled(mean, *least) < scaled(*least, mean))) least = &mean;
    const auto wins = [&](std::size_t label) {
        return means[label].is_in && scaled(means[label], *least) == scaled(*least, means[label]);
    };

    std::uint8_t winner = 0;
    if (tie == Tie::smallest)
        while (!wins(winner))
            ++winner;
    else
        winner = labels[std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
                            return wins(labels[neighbor.index]);
                        })->index];
    double total = 0;
    for (std::size_t label = 0; label < means.size(); ++label)
        if (means[label].is_in)
            total += wins(label) ? 1.0
                                 : static_cast<double>(scaled(*least, means[label])) /
                                       static_cast<double>(scaled(means[label], *least));
    return {winner, 1.0 / total};
}

}  // namespace knn
