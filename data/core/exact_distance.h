#pragma once
/// The distance of two rows that are not uint8, defined bit for bit.
///
/// Elements are converted to double, which is exact, and compared in double precision. Element j belongs to partial sum j mod 8; the
/// sums begin at 0, take their elements in ascending order, and are added as
///
///   ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
///
/// which is how 2, 4 or 8 lanes of a vector unit and the threads of a GPU add most easily. With d = a − b, rounded:
///
///   l2       s = fma(d, d, s)                 Σ (a − b)²
///   l1       s = s + |d|                      Σ |a − b|
///   lp       s = s + power(|d|, p)            S = Σ |a − b|^p, which is the order; users see its root
///   cosine   a·b, a·a and b·b, each by s = fma(x, y, s), to `cosine_distance`
///   pearson  the same of a − mean(a) and b − mean(b), rounded; a mean is the sum by s = s + a, divided by dim. A row whose
///            elements are all equal has a·a = 0
///
/// Every operation is rounded by itself, to nearest, ties to even. So equal rows are at distance 0, unless they are blank (cosine)
/// or constant (pearson), which are at distance 1 from every row. Neighbors are ordered by (distance, index).
///
/// Elements are finite, and so large at most that no sum becomes infinite (refuse_elements). Squares, products and powers below
/// 2⁻¹⁰²² lose bits or are 0, which no float32 reaches but by `power`.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "data/core/host_device.h"
#include "data/core/metric.h"
#include "data/core/rows.h"

namespace knn {

/// As above; of lp it is S. a, b: dim elements of the type, at any address. Any type, uint8 too.
double exact_distance(const Measure& measure, const std::uint8_t* a, const std::uint8_t* b, std::int64_t dim,
                      ElementType type);

/// What users see of it: the `root` of S for lp, else the same.
double shown_distance(const Measure& measure, double exact);

/// max(1 − a·b / √(a·a · b·b), 0), or 1 if a·a or b·b is 0. Before the root, the three are multiplied by powers of 2 that keep all
/// products in range and the quotient as it is: a·a to [1, 2), b·b to [1, 4).
KNN_HOST_DEVICE inline double cosine_distance(double dot, double norm_a, double norm_b) {
    if (!(norm_a > 0 && norm_b > 0)) return 1;
    const int e_a = std::ilogb(norm_a), half = (e_a + std::ilogb(norm_b)) >> 1;
    const double root = std::sqrt(std::ldexp(norm_a, -e_a) * std::ldexp(norm_b, e_a - 2 * half));
    const double distance = 1 - std::ldexp(dot, -half) / root;
    return distance > 0 ? distance : 0;
}

/// x^p, x finite and not negative, p > 0. With p = n or n + ½ for an integer n < 16: by squarings and multiplications for the bits of
/// n, the highest first, then times √x. Any other p: 2^(p log₂ x) by the polynomials in exact_distance.cpp, within 2 units of the
/// last place. No C library decides about a bit.
double power(double x, double p);

/// A number whose `power` is nearest to s >= 0: of power(x, p) x itself, unless others have the same power. √s or s² for p = 2 and ½; else
/// from 2^(log₂ s / p) to the next smaller and the next larger numbers, as long as they are nearer.
double root(double s, double p);

/// The largest magnitude of an element among rows, infinity if one is not finite, and the place of the first such element.
struct Magnitude {
    double largest = 0;
    std::int64_t row = 0, column = 0;
    bool is_negative = false;

    bool is_finite() const { return largest <= std::numeric_limits<double>::max(); }
};
Magnitude magnitude_of(const Rows& rows);

/// The largest magnitude with which a sum of n terms of the measure is certainly finite, as those of a distance of n columns.
double largest_element(const Measure& measure, std::int64_t n);

/// "row 3, column 5 is not finite; expected finite numbers", or "row 3, column 5 is -1e+160, so that a sum of 2 squares could be
/// infinite; expected a magnitude of at most 1.15e+150". `from`: the number of the first row and column.
std::optional<std::string> refuse_elements(const Measure& measure, const Magnitude& magnitude, std::int64_t n,
                                           std::int64_t from = 0);

}  // namespace knn
