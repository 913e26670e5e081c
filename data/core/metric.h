#pragma once
/// Definition of each metric, and its representation in 32 bits.
///
/// Engines compare distances as unsigned 32-bit scores. The order of scores is that of the metric, so
/// selectors, ties and files work the same for all metrics:
///
///   metric   value of two images a, b of dim pixels                      score
///   l2       Σ (a − b)²                                                  the integer
///   l1       Σ |a − b|                                                   the integer
///   lp       S = Σ (|a − b| / 255)^p; the distance is 255 · S^(1/p)      S as float
///   cosine   1 − a·b / √(‖a‖² ‖b‖²)                                      that as float
///   pearson  the same for mean-centered a and b                          that as float
///
/// Nonnegative floats are ordered like their bits, which are the score. So that every engine and device gives
/// the same bits, the steps are part of the definition:
///
///   lp       each term is looked up in `power_table(p)`; terms are added in double precision in pixel order,
///            and the sum is rounded to float once.
///   cosine   a·b, ‖a‖², ‖b‖² are exact integers; `cosine_score` does the rest in double precision, one
///            rounding per operation, and rounds to float once. A blank image (‖a‖² = 0) is at distance 1
///            from every image, including itself. Results below 0 by rounding count as 0.
///   pearson  cosine_score of the exact integers dim · Σab − Σa Σb and dim · Σa² − (Σa)². A constant image is
///            at distance 1 from every image.
///
/// Equal images that are not constant are at distance exactly 0: √(n · n) is n in double precision.
/// Accuracy: cosine and pearson within 2⁻²⁴ of the value (absolute), lp within 2⁻²⁴ of S (relative). All
/// integers are below 66,051² · 255² < 2⁴⁹, so a double holds them too.
///
/// Rows of any other type than uint8 (Measure::real) have distances in double precision, which
/// data/core/exact_distance.h defines, and are ordered by them. Their score is that double rounded to 32 bits, exponent and
/// sign included: 21 bits after the point, the whole range of a double, in the same order. Where two scores are equal the
/// distances need not be, so a list stays in the order in which the search found it.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "data/core/element_type.h"
#include "data/core/host_device.h"
#include "data/core/names.h"

namespace knn {

enum class Metric { l2, l1, lp, cosine, pearson };
template <>
inline constexpr std::array name_list<Metric>{"l2", "l1", "lp", "cosine", "pearson"};

/// The exponents that `lp` takes. Below, distances 255 · S^(1/p) grow beyond any use (S^10 at 0.1), and soon
/// beyond a double; above, (1/255)^p is no normal 32-bit float.
inline constexpr double min_p = 0.1, max_p = 15;

/// A metric with its exponent; defines what scores mean.
struct Measure {
    Metric metric = Metric::l2;
    double p = 2;       ///< the exponent of `lp`; no other metric reads it
    bool real = false;  ///< of rows that are not uint8

    friend bool operator==(const Measure&, const Measure&) = default;
};

/// The same for rows of this type.
constexpr Measure measure_of(Measure measure, ElementType type) {
    measure.real = type != ElementType::uint8;
    return measure;
}

/// Whether scores of the metric are plain integers.
constexpr bool is_integral(Metric metric) {
    return metric == Metric::l2 || metric == Metric::l1;
}

constexpr bool is_integral(const Measure& measure) {
    return is_integral(measure.metric) && !measure.real;
}

/// The score of a real distance, which is no NaN and not negative: the nearest number with 21 bits after the point, ties
/// to even. That of a distance above 0 is above 0.
KNN_HOST_DEVICE constexpr std::uint32_t score_of_real(double distance) {
    constexpr int lost = 31;
    const auto bits = __builtin_bit_cast(std::uint64_t, distance);
    const auto score = static_cast<std::uint32_t>(
        (bits + ((std::uint64_t{1} << (lost - 1)) - 1) + (bits >> lost & 1)) >> lost);
    return score == 0 && distance > 0 ? 1 : score;
}
/// The number that a score stands for, infinity included.
constexpr double real_of_score(std::uint32_t score) {
    return std::bit_cast<double>(std::uint64_t{score} << 31);
}

double real_distance_of(const Measure& measure, std::uint32_t score);

/// The distance that users see: l2 squared, l1, lp as 255 · S^(1/p) or of real rows S^(1/p), cosine and pearson as they
/// are. Of real rows it is as exact as the score; exact_distance is exact.
inline double distance_of(const Measure& measure, std::uint32_t score) {
    if (measure.real) return real_distance_of(measure, score);
    if (is_integral(measure.metric)) return score;
    const double value = std::bit_cast<float>(score);
    return measure.metric == Metric::lp ? 255.0 * std::pow(value, 1.0 / measure.p) : value;
}

/// 1/d² of a nonzero score, the weight of a vote with Weights::distance. A score of l2 is already d²; others
/// are squared first, with one rounding per operation in double precision.
double inverse_square(const Measure& measure, std::uint32_t score);

/// (v / 255)^p for v = 0..255, the nearest doubles: computed in extended precision if available, so
/// that the libraries of two machines almost never differ.
std::array<double, 256> power_table(double p);

/// The score of `cosine` from exact integers. gpu/distance/gemm.cu has the same with CUDA intrinsics.
std::uint32_t cosine_score(std::int64_t dot, std::int64_t norm_a, std::int64_t norm_b);

}  // namespace knn
