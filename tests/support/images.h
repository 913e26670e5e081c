#pragma once
/// Images at which kernels break: equal, sorted, extreme, and special cases of metrics other than l2.

#include <cstdint>
#include <functional>

#include "tests/support/oracle.h"

namespace knn::test {

/// n images of which `value` says every pixel.
Rows made(std::int64_t n, std::int64_t dim,
          const std::function<int(std::int64_t image, std::int64_t pixel)>& value);

/// n images of others; `image` says which.
Rows picked(const Rows& of, std::int64_t n, const std::function<std::int64_t(std::int64_t)>& image);

/// Constant images.
Rows filled(std::int64_t n, std::int64_t dim, std::uint8_t value);

/// All images of `of`, again and again, `times` times: copies of one image lie of.n apart.
Rows repeated(const Rows& of, std::int64_t times);

Rows reversed(const Rows& of);

/// Black but for one pixel in `one_in`, as digits are; the more so, the later the image.
Rows sparse(std::int64_t n, std::int64_t dim, std::uint64_t seed, std::int64_t one_in);

}  // namespace knn::test
