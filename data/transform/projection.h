#pragma once
/// `pca:N`: the first N principal components of the training set, quantized to 8 bits by one scale.
///
/// Component i of a row x is 128 + Σⱼ eᵢⱼ (xⱼ − meanⱼ) · 127 / (4 σ₁), rounded and clamped to 0..255: e are unit
/// eigenvectors of the covariance matrix in steps of 2⁻¹⁴, each with its largest entry positive, and σ₁ is the
/// standard deviation of the first component. So distances of features are proportional to those of projections.

#include <cstdint>
#include <vector>

#include "data/core/rows.h"
#include "data/transform/rounding.h"

namespace knn {

struct Projection {
    std::int64_t n_out = 0, dim = 0;
    std::vector<std::int16_t> weights;  ///< n_out × dim, 2¹⁴ times the eigenvectors
    std::vector<std::int32_t> centers;  ///< n_out: the weighted sums of the mean image
    std::int64_t scale = 0;             ///< 2³² times what one unit of a centered sum is worth
};

/// Fits it to `rows`; 1 <= n_out <= rows.dim. Rows that are all equal give zero components.
Projection fit_projection(const Rows& rows, std::int64_t n_out);

/// |sum| < 2³¹ for up to max_dim bytes: 2¹⁴ · 255 · √66,051 < 2³⁰.
KNN_HOST_DEVICE inline std::uint8_t quantized(std::int32_t centered_sum, std::int64_t scale) {
    const std::int64_t value = 128 + ((centered_sum * scale + (std::int64_t{1} << 31)) >> 32);
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

inline std::int32_t weighted_sum(const std::int16_t* weights, const std::uint8_t* row, std::int64_t dim) {
    std::int32_t sum = 0;
    for (std::int64_t j = 0; j < dim; ++j)
        sum += weights[j] * row[j];
    return sum;
}

}  // namespace knn
