#pragma once

#include <cmath>
#include <cstdint>

namespace knn {

/// ⌊√n⌋ for n < 2⁶³, in integers but for the first guess.
inline std::uint64_t whole_root(std::uint64_t n) {
    auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(n)));
    while (root * root > n)
        --root;
    while ((root + 1) * (root + 1) <= n)
        ++root;
    return root;
}

}  // namespace knn
