#include "classifier/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "cpu/threads.h"

namespace knn {

namespace {

double positive_distance(const Measure& measure, std::uint32_t score) {
    return std::max(distance_of(measure, score), is_integral(measure.metric) ? 1.0 : 1e-9);
}

/// The sums of the nearest j distances of each class; where a class has fewer, `missing` counts for each that it lacks.
/// Classes without neighbors are infinitely far.
std::array<double, 256> class_distances(std::span<const double> distances,
                                        std::span<const Neighbor> neighbors,
                                        std::span<const std::uint8_t> labels, int j, double missing) {
    std::array<double, 256> sums{};
    std::array<int, 256> counts{};
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        const std::uint8_t label = labels[neighbors[i].index];
        if (counts[label] == j) continue;
        ++counts[label];
        sums[label] += distances[i];
    }
    for (std::size_t c = 0; c < sums.size(); ++c)
        sums[c] = counts[c] > 0 ? sums[c] + (j - counts[c]) * missing : HUGE_VAL;
    return sums;
}

}  // namespace

Evidence evidence(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const Vote& vote,
                  const VotingRule& rule, const Measure& measure) {
    std::vector<double> distances;
    distances.reserve(neighbors.size());
    for (const Neighbor& neighbor : neighbors)
        distances.push_back(positive_distance(measure, neighbor.distance));
    const int j = rule.votes == Votes::class_mean ? rule.k : 1;
    const double last = distances.back();
    std::array<double, 256> sums = class_distances(distances, neighbors, labels, j, last);
    const double own = sums[vote.label];
    sums[vote.label] = HUGE_VAL;
    const double other = *std::min_element(sums.begin(), sums.end());
    const bool alone = std::isinf(other);

    const std::size_t nearest = std::min(neighbors.size(), static_cast<std::size_t>(rule.k));
    double sum = 0;
    for (std::size_t i = 0; i < nearest; ++i)
        sum += distances[i];
    return {.share = vote.confidence,
            .distance = std::log(sum / static_cast<double>(nearest)),
            .margin = std::log((alone ? j * last : other) / own),
            .alone = alone ? 1.0 : 0.0};
}

void evidence_of_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
                      std::span<const Vote> votes, const VotingRule& rule, const Measure& measure,
                      int threads, std::span<Evidence> all) {
    const auto length = static_cast<std::size_t>(k);
    cpu::for_rows(std::ssize(all), cpu::lists_per_piece(k), threads, nullptr,
                  [&](std::int64_t first, std::int64_t last) {
                      for (auto q = static_cast<std::size_t>(first); q < static_cast<std::size_t>(last); ++q)
                          all[q] = evidence(neighbors.subspan(q * length, length), labels, votes[q], rule,
                                            measure);
                  });
}

}  // namespace knn
