#include "app/report/distance.h"

#include <bit>
#include <charconv>

#include "app/options.h"
#include "app/report/format.h"

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

}  // namespace

Measure measure_of(const Settings& settings) {
    return {metric_named("settings.metric", settings.metric), settings.p};
}

const char* distance_name(Metric metric) {
    switch (metric) {
        case Metric::l2:
            return "squared distance";
        case Metric::l1:
            return "L1 distance";
        case Metric::lp:
            return "Minkowski distance";
        case Metric::cosine:
            return "cosine distance";
        case Metric::pearson:
            return "Pearson distance";
    }
    return "distance";
}

double distance_number(const Measure& measure, std::uint32_t score) {
    // Neighboring sums S of lp differ by 2⁻²⁴, so their roots by 2⁻²⁴ / 15 at least, 4 · 10⁻⁹: 12 digits tell
    // them apart, and the library's last bit does not show.
    if (measure.metric == Metric::lp)
        return through_text(distance_of(measure.metric, measure.p, score), std::chars_format::general, 12);
    if (is_integral(measure.metric)) return score;
    return through_text(std::bit_cast<float>(score));
}

std::string distance_text(const Measure& measure, std::uint32_t score, bool commas) {
    if (is_integral(measure.metric)) return commas ? with_commas(score) : std::to_string(score);
    const double distance = distance_of(measure.metric, measure.p, score);
    if (measure.metric != Metric::lp) return fixed(distance, 5);
    if (distance < 1e6) return fixed(distance, distance < 1e5 ? 2 : 0);
    char text[32];  // the roots of a small exponent are long
    return {text, std::to_chars(text, text + sizeof text, distance, std::chars_format::scientific, 5).ptr};
}

}  // namespace knn
