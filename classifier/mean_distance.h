#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "data/core/metric.h"
#include "data/core/neighbors.h"

namespace knn {

/// The mean over at most the nearest five neighbors: for l2 of Euclidean distances, for other metrics of the
/// distances that users see.
inline double mean_distance(std::span<const Neighbor> neighbors, const Measure& measure) {
    const auto nearest = neighbors.first(std::min<std::size_t>(neighbors.size(), 5));
    double sum = 0;
    for (const Neighbor& neighbor : nearest) {
        const double distance = distance_of(measure, neighbor.distance);
        sum += measure.metric == Metric::l2 ? std::sqrt(distance) : distance;
    }
    return sum / static_cast<double>(nearest.size());
}

}  // namespace knn
