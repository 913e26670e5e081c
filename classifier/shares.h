#pragma once
/// Work in equal shares.

#include <cstdint>

namespace knn {

/// `count` consecutive items from `begin`.
struct Share {
    std::int64_t begin = 0, count = 0;

    std::int64_t end() const { return begin + count; }
};

/// Share `i` of n items among `shares`: they differ by at most one item; with fewer items than shares some are
/// empty.
inline Share share_of(std::int64_t n, std::int64_t shares, std::int64_t i) {
    const std::int64_t begin = n / shares * i + n % shares * i / shares;
    const std::int64_t end = n / shares * (i + 1) + n % shares * (i + 1) / shares;
    return {begin, end - begin};
}

}  // namespace knn
