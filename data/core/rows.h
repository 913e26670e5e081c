#pragma once

#include <cstdint>

namespace knn {

/// The size of images, in pixels.
struct ImageShape {
    int rows = 0, cols = 0;

    std::int64_t dim() const { return std::int64_t{rows} * cols; }
    friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Images as rows of bytes: count × dim, without padding. Does not own them.
struct Rows {
    const std::uint8_t* pixels = nullptr;
    std::int64_t count = 0;
    std::int64_t dim = 0;

    const std::uint8_t* row(std::int64_t i) const { return pixels + i * dim; }
    Rows first(std::int64_t n) const { return {pixels, n < count ? n : count, dim}; }
    Rows slice(std::int64_t begin, std::int64_t n) const { return {row(begin), n, dim}; }
};

}  // namespace knn
