#pragma once
/// What the oracles of transforms and of re-ranking share: planes of numbers, straightened images and their gradients.

#include <cstdint>
#include <vector>

#include "data/core/rows.h"

namespace knn::test {

using Pixels = std::vector<std::uint8_t>;

/// Numbers in the plane, 0 outside.
struct Plane {
    int rows = 0, cols = 0;
    std::vector<std::int64_t> numbers;

    Plane(int n_rows, int n_cols)
        : rows(n_rows),
          cols(n_cols),
          numbers(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(n_cols)) {}
    Plane(ImageShape shape, const Pixels& pixels)
        : rows(shape.rows), cols(shape.cols), numbers(pixels.begin(), pixels.end()) {}
    std::int64_t& put(int y, int x) { return numbers[static_cast<std::size_t>(std::int64_t{y} * cols + x)]; }
    std::int64_t at(std::int64_t y, std::int64_t x) const {
        return y < 0 || y >= rows || x < 0 || x >= cols ? 0 : numbers[static_cast<std::size_t>(y * cols + x)];
    }
};

struct Vector {
    std::int64_t x = 0, y = 0;
};

/// The transform `deskew`, with a part of the slant.
Pixels straightened(ImageShape shape, const Pixels& pixels, double part);

inline constexpr int sobel[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};

/// The gradient at each pixel, by a 3 × 3 mask for x and its transpose for y.
std::vector<Vector> gradients_of(const Plane& image, const int (&mask)[3][3]);

/// The largest r with r² <= n.
std::int64_t floor_root(__int128 n);

}  // namespace knn::test
