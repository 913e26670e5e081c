#pragma once
/// Confidence intervals of error rates, and a test for the difference of two classifiers.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/voting.h"

namespace knn {

/// A proportion with its confidence interval.
struct Interval {
    double low = 0, high = 0;
};

/// The 95 % Wilson score interval of the share `count` / `total` (E. B. Wilson, 1927); {0, 0} of nothing.
Interval wilson_interval(std::int64_t count, std::int64_t total);

/// McNemar's exact test of two classifiers on the same images, of which `only_a` are right by the first alone and
/// `only_b` by the second alone: if both were equally good, each of these n images would fall to either side with
/// probability 1/2. Returns the probability of a difference at least this large, two-sided:
/// min(1, 2 Σ_{i = 0}^{min(only_a, only_b)} C(n, i) / 2^n). The relative error is below 1e-7 for n up to 10^6.
double mcnemar_p(std::int64_t only_a, std::int64_t only_b);

/// From this p on the difference is not significant.
inline constexpr double significance = 0.05;

// Two classifiers on one test set: which images only one of them gets right.

/// A test image that one of two classifiers gets right and the other wrong.
struct Disagreement {
    std::int64_t index = 0;
    int label = 0, a = 0, b = 0;  ///< the true label and both answers; one of them is the label

    friend bool operator==(const Disagreement&, const Disagreement&) = default;
};

struct Comparison {
    std::int64_t both_right = 0, only_a = 0, only_b = 0, both_wrong = 0;
    double p_value = 1;                       ///< McNemar's exact test
    std::vector<Disagreement> disagreements;  ///< by index

    std::int64_t total() const { return both_right + only_a + only_b + both_wrong; }
};

/// One vote of each for every true label.
Comparison compare(std::span<const Vote> a, std::span<const Vote> b, std::span<const std::uint8_t> truth);

}  // namespace knn
