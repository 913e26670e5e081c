#include "classifier/statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace knn {

Interval wilson_interval(std::int64_t count, std::int64_t total) {
    if (total == 0) return {};
    constexpr double z = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
    const double n = static_cast<double>(total), p = static_cast<double>(count) / n;
    const double center = p + z * z / (2 * n);
    const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    const double scale = 1 + z * z / n;
    // At the ends the interval reaches 0 or 1 exactly, which rounding would miss.
    return {count == 0 ? 0 : (center - half) / scale, count == total ? 1 : (center + half) / scale};
}

double mcnemar_p(std::int64_t only_a, std::int64_t only_b) {
    const std::int64_t n = only_a + only_b, fewer = std::min(only_a, only_b);
    // Relative to the largest term, the last: C(n, i - 1) = C(n, i) · i / (n - i + 1).
    double sum = 1, term = 1;
    for (std::int64_t i = fewer; i > 0 && term > 0; --i) {
        term *= static_cast<double>(i) / static_cast<double>(n - i + 1);
        sum += term;
    }
    const auto whole = static_cast<double>(n), part = static_cast<double>(fewer);
    const double log_largest = std::lgamma(whole + 1) - std::lgamma(part + 1) -
                               std::lgamma(whole - part + 1) - whole * std::log(2.0);
    return std::min(1.0, 2 * std::exp(log_largest + std::log(sum)));
}

Comparison compare(std::span<const Vote> a, std::span<const Vote> b, std::span<const std::uint8_t> truth) {
    if (a.size() != truth.size() || b.size() != truth.size())
        throw std::invalid_argument("two votes for each true label were expected");
    Comparison result;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const bool a_right = a[i].label == truth[i], b_right = b[i].label == truth[i];
        ++(a_right ? (b_right ? result.both_right : result.only_a)
                   : (b_right ? result.only_b : result.both_wrong));
        if (a_right != b_right)
            result.disagreements.push_back({static_cast<std::int64_t>(i), truth[i], a[i].label, b[i].label});
    }
    result.p_value = mcnemar_p(result.only_a, result.only_b);
    return result;
}

}  // namespace knn
