#pragma once
/// `blur:SIGMA`: a Gaussian with a standard deviation of SIGMA pixels, cut off at 3 SIGMA. Background, 0, outside.
///
/// Weights are multiples of 2⁻¹⁴ that add up to 1. Along the row the sum keeps 8 bits after the point, rounded down;
/// down the column it is rounded to 8 bits.

#include <cstdint>
#include <vector>

#include "data/transform/rounding.h"
#include "data/transform/spec.h"

namespace knn {

struct Blur {
    std::vector<std::int32_t> weights;  ///< 2 · radius + 1

    int radius() const { return static_cast<int>(weights.size() / 2); }
};

/// 256 times the image blurred along row y, at x.
KNN_HOST_DEVICE inline std::int32_t blurred_along_row(const std::uint8_t* image, ImageShape shape,
                                                      const std::int32_t* weights, int radius, int x, int y) {
    const std::uint8_t* row = image + std::int64_t{y} * shape.cols;
    const int first = x < radius ? -x : -radius, last = x + radius < shape.cols ? radius : shape.cols - 1 - x;
    std::int32_t sum = 0;
    for (int i = first; i <= last; ++i)
        sum += weights[i + radius] * row[x + i];
    return sum >> 6;
}

/// Pixel y of a column that was blurred along rows; `stride` numbers apart.
KNN_HOST_DEVICE inline std::uint8_t blurred_down_column(const std::int32_t* column, std::int64_t stride,
                                                        int rows, const std::int32_t* weights, int radius,
                                                        int y) {
    const int first = y < radius ? -y : -radius, last = y + radius < rows ? radius : rows - 1 - y;
    std::int32_t sum = 0;
    for (int i = first; i <= last; ++i)
        sum += weights[i + radius] * column[(y + i) * stride];
    return static_cast<std::uint8_t>((sum + (1 << 21)) >> 22);
}

}  // namespace knn
