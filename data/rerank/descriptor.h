#pragma once
/// What re-ranking computes once for each image, in integers: a descriptor of bytes. cpu/rerank and gpu/rerank compute it.
///
/// Two parts, each there if the re-ranker needs it. Each is made of the Sobel gradients (gx, gy), with background outside,
/// of the image with a part of its slant sheared out (data/transform/deskew.h): two different parts, because two
/// distances that err on different images are better together.
///
/// 1. Gradients, for `distortion`, gradients_slant_part of the slant out: n = (level(gx), level(gy)), where with
///    d = ⌊√(gx² + gy²)⌋ + 204
///
///      level(g) = sign(g) · ⌊(2 · 5 |g| + d) / 2d⌋,   which is 5 g / (|g| + 0.1) rounded, for pixels in 0..1,
///
///    and p(x, y) = Σ n over the 2 × 2 pixels from (x, y) on that the image has. rows × cols pairs of signed bytes
///    (x, y), in 2 × 2 planes: plane (a, b) has p(2 j + b, 2 i + a), row i, column j. |n|² <= 25, so |p|² <= 400.
///
/// 2. Cells, for `cells`, cells_slant_part of the slant out: histograms of 8 directions of 45°, one for each 2 × 2 pixels.
///    A gradient is the sum of an axis and a diagonal: with a = max(|gx|, |gy|) and b = min(|gx|, |gy|), its axis gets
///    a - b, its diagonal ⌊181 b / 128⌋ (√2 b). Direction i is at 45° · i, from x to y. Cell (c, r), direction i:
///
///      min(63, ⌊√⌊s / 2^cell_shift⌋⌋),  s = Σ weight[x - 2c + 2] · weight[y - 2r + 2] · share_i(x, y)
///
///    over x = 2c - 2 .. 2c + 3, y = 2r - 2 .. 2r + 3 inside of the image, with the binomial weights 1 5 10 10 5 1.
///    ⌈rows / 2⌉ × ⌈cols / 2⌉ × 8 bytes. Sums are below 2²¹.

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/core/neighbors.h"
#include "data/rerank/rerank.h"
#include "data/transform/rounding.h"

namespace knn {

inline constexpr double gradients_slant_part = 0.75, cells_slant_part = 0.5;
inline constexpr int gradient_levels = 5, gradient_offset = 204, gradient_step = 2;
inline constexpr int cell_pixels = 2, cell_bins = 8, cell_taps = 6, cell_limit = 63, cell_shift = 8;
inline constexpr std::int32_t cell_weights[cell_taps] = {1, 5, 10, 10, 5, 1};

/// Where the parts of a descriptor are.
struct DescriptorLayout {
    ImageShape image;
    bool has_gradients = false, has_cells = false;

    DescriptorLayout() = default;
    DescriptorLayout(ImageShape image_, const RerankSpec& rerank)
        : image(image_), has_gradients(rerank.has_gradients()), has_cells(rerank.has_cells()) {}

    /// Of the planes with first row or column `phase`.
    int plane_rows(int phase) const { return (image.rows - phase + gradient_step - 1) / gradient_step; }
    int plane_cols(int phase) const { return (image.cols - phase + gradient_step - 1) / gradient_step; }
    /// Offset of plane (a, b) in pairs.
    std::int64_t plane(int a, int b) const {
        return std::int64_t{a * plane_rows(0)} * image.cols + std::int64_t{plane_rows(a)} * b * plane_cols(0);
    }
    int cell_rows() const { return (image.rows + cell_pixels - 1) / cell_pixels; }
    int cell_cols() const { return (image.cols + cell_pixels - 1) / cell_pixels; }
    std::int64_t gradient_bytes() const { return has_gradients ? 2 * image.dim() : 0; }
    std::int64_t cell_bytes() const {
        return has_cells ? std::int64_t{cell_rows()} * cell_cols() * cell_bins : 0;
    }
    /// The gradients come first.
    std::int64_t bytes() const { return gradient_bytes() + cell_bytes(); }
    friend bool operator==(const DescriptorLayout&, const DescriptorLayout&) = default;
};

/// The descriptors of some images, one after another.
struct Descriptors {
    DescriptorLayout layout;
    std::vector<std::uint8_t> bytes;               ///< count × layout.bytes(), unless they are
    std::span<const std::uint8_t> elsewhere = {};  ///< in memory of somebody else, such as a mapped file

    std::span<const std::uint8_t> all() const {
        return elsewhere.empty() ? std::span<const std::uint8_t>(bytes) : elsewhere;
    }
    const std::uint8_t* row(std::int64_t i) const { return all().data() + i * layout.bytes(); }
    std::int64_t count() const {
        return layout.bytes() > 0 ? static_cast<std::int64_t>(all().size()) / layout.bytes() : 0;
    }
};

/// A re-ranker and what it knows of the training set.
struct FittedReranking {
    RerankSpec rerank;
    std::span<const std::uint32_t> density = {};  ///< density_factors, if it has density
    std::span<const std::int64_t> spread = {};    ///< spread_terms of the training images, if it is `spread`

    /// How many neighbors have to be searched for k, among `n_train` images of which one may be excluded.
    int candidates(int k, std::int64_t n_train, bool exclude) const {
        const std::int64_t wanted = k > rerank.candidates ? k : rerank.candidates;
        const std::int64_t limit = n_train - (exclude ? 1 : 0);
        return static_cast<int>(wanted < limit ? wanted : limit);
    }
};

/// Candidates of each query, to order again; what they refer to must outlive this.
struct RerankWork {
    RerankSpec rerank;
    ImageShape shape;
    Rows train, queries;  ///< pixels
    const Neighbors& candidates;
};

/// ⌊√n⌋ for 0 <= n < 2²²: the nearest float of the root is below the next integer, because √(k² - 1) is at least
/// 2⁻¹² below k <= 2¹¹, and floats there are at most 2⁻¹³ apart.
KNN_HOST_DEVICE inline int integer_root(int n) {
    return static_cast<int>(std::sqrt(static_cast<float>(n)));
}
KNN_HOST_DEVICE inline int gradient_divisor(int gx, int gy) {
    return integer_root(gx * gx + gy * gy) + gradient_offset;
}
KNN_HOST_DEVICE inline int gradient_level(int g, int divisor) {
    const int size = (2 * gradient_levels * (g < 0 ? -g : g) + divisor) / (2 * divisor);
    return g < 0 ? -size : size;
}

/// The share of direction 0..7 in a gradient.
KNN_HOST_DEVICE inline int direction_share(int direction, int gx, int gy) {
    // Turned back by multiples of 90°, the direction is 0 or 1.
    for (int turns = direction / 2; turns > 0; --turns) {
        const int x = gx;
        gx = gy;
        gy = -x;
    }
    if (direction % 2 == 0) {
        const int rest = gx - (gy < 0 ? -gy : gy);
        return rest > 0 ? rest : 0;
    }
    const int both = gx < gy ? gx : gy;
    return both > 0 ? 181 * both >> 7 : 0;
}

KNN_HOST_DEVICE inline std::uint8_t cell_value(std::int32_t sum) {
    const int scaled = sum >> cell_shift;
    constexpr int most = cell_limit * cell_limit;
    return static_cast<std::uint8_t>(integer_root(scaled < most ? scaled : most));
}

}  // namespace knn
