#include "data/core/metric.h"

#include <algorithm>

#include "data/core/exact_distance.h"

namespace knn {

double real_distance_of(const Measure& measure, std::uint32_t score) {
    return shown_distance(measure, real_of_score(score));
}

double inverse_square(const Measure& measure, std::uint32_t score) {
    const double distance = distance_of(measure, score);
    if (measure.metric == Metric::l2) return 1.0 / distance;
    return 1.0 / (distance * distance);
}

std::array<double, 256> power_table(double p) {
    std::array<double, 256> table{};
    for (std::size_t v = 0; v < table.size(); ++v)
        table[v] =
            static_cast<double>(std::pow(static_cast<long double>(v) / 255.0L, static_cast<long double>(p)));
    return table;
}

std::uint32_t cosine_score(std::int64_t dot, std::int64_t norm_a, std::int64_t norm_b) {
    if (norm_a == 0 || norm_b == 0) return std::bit_cast<std::uint32_t>(1.0f);
    const double product = static_cast<double>(norm_a) * static_cast<double>(norm_b);
    const double distance = 1.0 - static_cast<double>(dot) / std::sqrt(product);
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::max(distance, 0.0)));
}

}  // namespace knn
