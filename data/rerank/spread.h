#pragma once
/// `spread`: distances scaled by how far a training image lies from others of its class (Garrett, "GPU parallelized KNN
/// algorithm", section 6: "some coefficient of clustering", normalized, "either added or multiplied").
///
///   d_i      distances of training image t to its nearest `neighbors` others of the same class by the search, n of them
///   a        ⌊Σ d_i / n⌋
///   s        16 a, or of `deviation` 16 ⌊√(Σ ⌊(d_i - a)² / n⌋)⌋
///   m, M     the means of s and 16 a of all images that have others of their class, rounded down, m at least 1
///   r        s within ⌈m / 16⌉ .. 16 m; of an image that is alone in its class, m
///   times    distance · (r / m)^w in fixed point with 24 bits: with q = ⌊2²⁴ r / m⌋ (w < 0: ⌊2²⁴ m / r⌋) and the powers 1,
///            1/2, 1/4, 1/8 of q by ⌊√(2²⁴ q)⌋, the factor is the product of those that make up |w|, each rounded down
///   plus     distance + 8 w (⌊D ⌊2²⁴ r / m⌋ / 2²⁴⌋ - D) / 8 with D = ⌊M / 16⌋, rounded toward 0
///
/// Results outside of 0 .. 2³² - 2 become the nearest of these. A positive weight makes outliers farther, as the paper
/// proposes, a negative one nearer.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/core/names.h"
#include "data/core/neighbors.h"

namespace knn {

enum class SpreadOf { mean, deviation };
template <>
inline constexpr std::array name_list<SpreadOf>{"mean", "deviation"};
enum class Scaling { times, plus };
template <>
inline constexpr std::array name_list<Scaling>{"times", "plus"};

inline constexpr int max_spread_neighbors = 1023;  ///< max_candidates with the image itself
inline constexpr int spread_weight_parts = 8;      ///< weights are eighths, -1 to 1

/// Defaults were chosen by leave-one-out on MNIST's training set (docs/accuracy.md).
struct LocalScaling {
    int neighbors = 7;
    SpreadOf of = SpreadOf::mean;
    Scaling by = Scaling::times;
    int weight = -3;  ///< in eighths

    friend bool operator==(const LocalScaling&, const LocalScaling&) = default;
};

/// ":7:mean:times:-0.5", or empty for the defaults.
std::string spread_parameters(const LocalScaling& spread);
/// Reads "NEIGHBORS[:OF[:BY[:WEIGHT]]]". Throws UsageError, which begins with `option`.
LocalScaling parse_spread(std::string_view option, std::string_view parameters);

/// Of one training image.
struct ClassDistances {
    std::uint64_t mean = 0, size = 0;  ///< 16 a and s
};
/// None if there are no neighbors.
std::optional<ClassDistances> class_distances(SpreadOf of, std::span<const Neighbor> nearest);

/// The factor of each training image with 24 bits behind the point, or what is added to its distances.
std::vector<std::int64_t> spread_terms(const LocalScaling& spread,
                                       std::span<const std::optional<ClassDistances>> images);

std::uint32_t scaled_by_spread(Scaling by, std::uint32_t distance, std::int64_t term);

}  // namespace knn
