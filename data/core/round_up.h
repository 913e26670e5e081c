#pragma once

#include <cstddef>
#include <cstdint>

namespace knn {

/// An index as containers take it.
constexpr std::size_t at(std::int64_t i) {
    return static_cast<std::size_t>(i);
}
/// ⌈n / by⌉, n >= 0.
constexpr std::int64_t divide_up(std::int64_t n, std::int64_t by) {
    return (n + by - 1) / by;
}
/// The smallest multiple of `to` that is >= n.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) {
    return divide_up(n, to) * to;
}

}  // namespace knn
