#pragma once
/// Histograms of oriented gradients, the common part of `gradients` and `hog`: gradients of an image, each shared
/// between the two nearest directions, summed with weights in cells.
///
/// Of a gradient (gx, gy), direction i of n gets max(0, min(a × g, g × b)) / sin(2π/n), where a and b are the unit
/// vectors of the directions before and after it: linear interpolation between the two directions that enclose g. The
/// vectors are multiplied by 64 / sin(2π/n) and rounded to integers, which defines the result bit for bit:
///
///   share = ⌊max(0, min(a × g, g × b)) · gain(|g|)⌋,  gain = numerator / (|g| + offset), each operation in float
///   cell (c, r), direction i = Σ over pixels of row weight[r][y] · column weight[c][x] · share
///
/// All sums are integers below 2²⁴, exact in float in any order.

#include <cstdint>
#include <vector>

#include "data/transform/rounding.h"
#include "data/transform/spec.h"

namespace knn {

/// The pixels that contribute to one cell along an axis, and where their weights begin.
struct CellSpan {
    std::int32_t first, count, weights;
};

/// The cells along one axis.
struct Axis {
    std::vector<CellSpan> cells;
    std::vector<std::int32_t> weights;

    int count() const { return static_cast<int>(cells.size()); }
};

/// A unit vector times 64 / sin(2π/n).
struct Direction {
    std::int32_t x, y;
};

enum class Derivative {
    centered,  ///< p(x + 1) − p(x − 1)
    sobel,     ///< 3 × 3
};

struct Histograms {
    ImageShape image;
    Derivative derivative = Derivative::sobel;
    std::vector<Direction> directions;
    bool has_sign = true;             ///< false: direction i + n/2 counts as i, and n/2 are left
    float numerator = 0, offset = 0;  ///< of the gain; offset 0: the gain is the numerator
    Axis rows, cols;
    bool has_blocks = false;  ///< hog: cells are normalized in blocks of 2 × 2

    int bins() const { return static_cast<int>(directions.size()) / (has_sign ? 1 : 2); }
    std::int64_t cells() const { return std::int64_t{rows.count()} * cols.count(); }
    /// Cells of a block: of `gradients` one; of `hog` 2 × 2, but an image of one row of cells has blocks of one row.
    int block_rows() const { return has_blocks && rows.count() > 1 ? 2 : 1; }
    int block_cols() const { return has_blocks && cols.count() > 1 ? 2 : 1; }
    /// Blocks along the axes; they overlap.
    int grid_rows() const { return rows.count() - block_rows() + 1; }
    int grid_cols() const { return cols.count() - block_cols() + 1; }
    /// Features of a block: its cells × bins.
    int depth() const { return block_rows() * block_cols() * bins(); }
    std::int64_t dim() const { return std::int64_t{grid_rows()} * grid_cols() * depth(); }
};

/// `gradients`, after deskew:0.75. Chosen by leave-one-out on MNIST's training set (docs/accuracy.md): 16 directions,
/// Sobel gradients g of pixels in 0..1, divided by |g| + 0.3, cells of about 4 × 4 pixels blurred by a Gaussian of
/// 1.5 pixels, the square root of the sums. Layout: cell row, cell column, direction.
Histograms gradient_histograms(ImageShape image);
inline constexpr double gradients_slant = 0.75;

/// `hog` (Dalal and Triggs 2005): centered differences, 9 directions over 180 degrees, cells of about 4 × 4 pixels with
/// bilinear weights (fewer errors than 7 × 7 by leave-one-out: docs/accuracy.md), overlapping blocks of 2 × 2 cells,
/// each normalized, clipped at 0.2 and normalized again.
/// Layout: block row, block column, cell in the block, direction.
Histograms hog_histograms(ImageShape image);

struct Gradient {
    int x, y;
};
KNN_HOST_DEVICE inline Gradient gradient_at(const std::uint8_t* image, ImageShape shape,
                                            Derivative derivative, int x, int y) {
    const auto pixel = [&](int at_x, int at_y) -> int {
        const bool inside = at_x >= 0 && at_x < shape.cols && at_y >= 0 && at_y < shape.rows;
        return inside ? image[std::int64_t{at_y} * shape.cols + at_x] : 0;
    };
    if (derivative == Derivative::centered)
        return {pixel(x + 1, y) - pixel(x - 1, y), pixel(x, y + 1) - pixel(x, y - 1)};
    const auto column = [&](int at) { return pixel(at, y - 1) + 2 * pixel(at, y) + pixel(at, y + 1); };
    const auto row = [&](int at) { return pixel(x - 1, at) + 2 * pixel(x, at) + pixel(x + 1, at); };
    return {column(x + 1) - column(x - 1), row(y + 1) - row(y - 1)};
}

KNN_HOST_DEVICE inline float gain(Gradient g, float numerator, float offset) {
    if (offset == 0) return numerator;
    return numerator / (std::sqrt(static_cast<float>(g.x * g.x + g.y * g.y)) + offset);
}

/// `before` and `after`: the directions next to the one whose share this is.
KNN_HOST_DEVICE inline int share(Gradient g, Direction before, Direction after, float gain_of_g) {
    const int from_before = before.x * g.y - before.y * g.x, to_after = g.x * after.y - g.y * after.x;
    const int nearer = from_before < to_after ? from_before : to_after;
    return nearer > 0 ? static_cast<int>(static_cast<float>(nearer) * gain_of_g) : 0;
}

/// A feature of `gradients`: the square root, scaled so that one in 10,000 of MNIST's training set exceeds 255.
inline constexpr float root_scale = 0.1325f;
KNN_HOST_DEVICE inline std::uint8_t root_feature(std::int32_t sum) {
    const int value = rounded(std::sqrt(static_cast<float>(sum)) * root_scale);
    return static_cast<std::uint8_t>(value < 255 ? value : 255);
}

/// Of a block of `hog`: with Σv² = squares, v / √(squares + 1), at most 0.2, in steps of 2⁻¹⁶.
KNN_HOST_DEVICE inline std::int32_t clipped(std::int32_t sum, std::int64_t squares) {
    const double part = static_cast<double>(sum) / std::sqrt(static_cast<double>(squares + 1)) * 65536;
    constexpr double limit = 13107;  // 0.2 · 2¹⁶
    return static_cast<std::int32_t>(part < limit ? part : limit);
}
/// The same values normalized again, where `squares` is their sum of squares, in steps of 1/255.
KNN_HOST_DEVICE inline std::uint8_t block_feature(std::int32_t clipped_value, std::int64_t squares) {
    if (squares == 0) return 0;
    return static_cast<std::uint8_t>(
        rounded(static_cast<double>(clipped_value * 255) / std::sqrt(static_cast<double>(squares))));
}

}  // namespace knn
