#pragma once
/// Images at which kernels break: equal, sorted, extreme, and special cases of metrics other than l2.

#include <cstdint>

#include "tests/support/oracle.h"

namespace knn::test {

/// Constant images.
Rows filled(std::int64_t n, std::int64_t dim, std::uint8_t value);

/// Image i has a total brightness of i, filled pixel by pixel: each is farther from black than the previous
/// one. At most dim · 255 + 1 images.
Rows thermometer(std::int64_t n, std::int64_t dim);

/// All images of `of`, again and again, `times` times: copies of one image lie of.n apart.
Rows repeated(const Rows& of, std::int64_t times);

/// Every `step`-th image.
Rows every(std::int64_t step, const Rows& of);

Rows reversed(const Rows& of);

/// Rows that alternate between all 0 and all 255: the largest distance that `dim` allows, and 0.
Rows extremes(std::int64_t n, std::int64_t dim);

/// Images of a ninth of the levels each, times 1, 2 and 3: at distance 0 or nearly so by cosine.
Rows multiples(std::int64_t n, std::int64_t dim, std::uint64_t seed);

/// Image 2i + 1 is the negative of image 2i.
Rows negatives(std::int64_t n, std::int64_t dim, std::uint64_t seed);

/// Every third image random, the others constant, many of them black.
Rows grays(std::int64_t n, std::int64_t dim, std::uint64_t seed);

/// 254 and 255: almost nothing is left after mean-centering.
Rows nearly_white(std::int64_t n, std::int64_t dim, std::uint64_t seed);

/// Black but for one pixel in `one_in`, as digits are; the more so, the later the image.
Rows sparse(std::int64_t n, std::int64_t dim, std::uint64_t seed, std::int64_t one_in);

}  // namespace knn::test
