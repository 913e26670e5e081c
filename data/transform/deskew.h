#pragma once
/// `deskew:S`: removes S times the slant of an image by shearing, and moves its center of mass to the middle.
///
/// The slant is the covariance of x and y over the variance of y, with pixels as weights (seed 003, section 5).
/// Pixel (x, y) of the result is read at x + shift_x + slope · (y − (rows − 1) / 2), y + shift_y, by bilinear
/// interpolation with weights of 1/256: first down the column, unrounded, then along the row, rounded to 8 bits.
/// Outside of the image there is background, 0.

#include <cstdint>

#include "data/transform/rounding.h"
#include "data/transform/spec.h"

namespace knn {

/// Sums over the pixels p of an image at x, y.
struct Moments {
    std::int64_t p = 0, px = 0, py = 0, pxy = 0, pyy = 0;
};

/// Fixed-point numbers with 16 bits after the point.
struct Skew {
    std::int64_t slope = 0, shift_x = 0, shift_y = 0;
};

/// The steepest shear, in pixels per row.
inline constexpr double max_slope = 4;

inline Moments moments_of(const std::uint8_t* image, ImageShape shape) {
    Moments sum;
    for (int y = 0; y < shape.rows; ++y) {
        std::int64_t p = 0, px = 0;
        for (int x = 0; x < shape.cols; ++x) {
            const std::int64_t value = image[std::int64_t{y} * shape.cols + x];
            p += value;
            px += value * x;
        }
        sum.p += p;
        sum.px += px;
        sum.py += p * y;
        sum.pxy += px * y;
        sum.pyy += p * y * y;
    }
    return sum;
}

/// An image without ink is not moved, one without height is not sheared.
KNN_HOST_DEVICE inline Skew skew_of(const Moments& sum, ImageShape shape, double part) {
    if (sum.p == 0) return {};
    const auto p = static_cast<double>(sum.p), px = static_cast<double>(sum.px);
    const auto py = static_cast<double>(sum.py), pxy = static_cast<double>(sum.pxy);
    const double variance = p * static_cast<double>(sum.pyy) - py * py;
    double slope = variance > 0 ? (p * pxy - px * py) / variance * part : 0;
    slope = slope < -max_slope ? -max_slope : slope > max_slope ? max_slope : slope;
    return {rounded(slope * 65536), sum.px * 65536 / sum.p - (shape.cols - 1) * std::int64_t{32768},
            sum.py * 65536 / sum.p - (shape.rows - 1) * std::int64_t{32768}};
}

/// A position between two pixels: the first of them, and 256 times the part of the second.
struct Between {
    int first, part;
};
KNN_HOST_DEVICE inline Between between(std::int64_t offset) {
    return {static_cast<int>((offset + 128) >> 16), static_cast<int>(((offset + 128) >> 8) & 255)};
}
KNN_HOST_DEVICE inline Between column_offset(const Skew& skew) {
    return between(skew.shift_y);
}
KNN_HOST_DEVICE inline Between row_offset(const Skew& skew, ImageShape shape, int y) {
    return between(skew.shift_x + ((skew.slope * (2 * y - (shape.rows - 1))) >> 1));
}

/// Pixel (x, y) of the deskewed image.
KNN_HOST_DEVICE inline std::uint8_t deskewed(const std::uint8_t* image, ImageShape shape, const Skew& skew,
                                             int x, int y) {
    const Between down = column_offset(skew), along = row_offset(skew, shape, y);
    const auto pixel = [&](int at_x, int at_y) -> int {
        const bool inside = at_x >= 0 && at_x < shape.cols && at_y >= 0 && at_y < shape.rows;
        return inside ? image[std::int64_t{at_y} * shape.cols + at_x] : 0;
    };
    const auto column = [&](int at_x) {
        return (256 - down.part) * pixel(at_x, y + down.first) + down.part * pixel(at_x, y + down.first + 1);
    };
    const int left = column(x + along.first), right = column(x + along.first + 1);
    return static_cast<std::uint8_t>(((256 - along.part) * left + along.part * right + (1 << 15)) >> 16);
}

}  // namespace knn
