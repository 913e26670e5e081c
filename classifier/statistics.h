#pragma once
/// Confidence intervals of error rates, and a test for the difference of two classifiers.

#include <cstdint>

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

}  // namespace knn
