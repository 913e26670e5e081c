#include "app/report/distance.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "data/core/format.h"

namespace knn {

namespace {

/// `value` as text and back.
template <class Number, class... Form>
double through_text(Number value, Form... form) {
    char text[64];
    const char* end = std::to_chars(text, text + sizeof text, value, form...).ptr;
    double read = 0;
    std::from_chars(text, end, read);
    return read;
}

/// The fewest digits that are nearer to the distance of this score than to that of any other: 7 to 9, as for
/// a float. The distance rounded to a float would not do: roots of different scores may round to the same
/// float, and neighbors would appear out of order; the 10th power of a score may overflow.
double minkowski_number(double p, std::uint32_t score) {
    if (score == 0) return 0;
    const auto distance = [p](std::uint32_t of) { return distance_of({Metric::lp, p}, of); };
    const double exact = distance(score);
    const double tolerance = std::min(exact - distance(score - 1), distance(score + 1) - exact) / 2;
    constexpr int max_digits = 12;  // adjacent sums differ by 2⁻²⁴, so their roots by at least 2⁻²⁴ / 15
    double rounded = exact;
    for (int digits = 6; digits <= max_digits; ++digits) {
        rounded = through_text(exact, std::chars_format::general, digits);
        if (std::abs(rounded - exact) < tolerance) break;
    }
    return rounded;
}

}  // namespace

std::string distance_name(const Method& method) {
    constexpr std::array names{"squared distance", "L1 distance", "Minkowski distance", "cosine distance",
                               "Pearson distance"};  // in the order of Metric
    const std::string name = names.at(static_cast<std::size_t>(method.measure.metric));
    if (method.reranks()) return std::string("distance by ") + knn::name(method.rerank.kind);
    return method.transform.is_raw() ? name : name + " of features";
}

double distance_number(const Measure& measure, std::uint32_t score) {
    if (measure.metric == Metric::lp) return minkowski_number(measure.p, score);
    if (is_integral(measure.metric)) return score;
    return through_text(std::bit_cast<float>(score));
}

std::string distance_text(const Measure& measure, std::uint32_t score, bool commas) {
    if (is_integral(measure.metric)) return commas ? with_commas(score) : std::to_string(score);
    const double distance = distance_of(measure, score);
    if (measure.metric != Metric::lp) return fixed(distance, 5);
    if (distance < 1e6) return fixed(distance, distance < 1e5 ? 2 : 0);
    char text[32];  // the roots of a small exponent are long
    return {text, std::to_chars(text, text + sizeof text, distance, std::chars_format::scientific, 5).ptr};
}

}  // namespace knn
