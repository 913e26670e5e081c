#pragma once
/// Real rows beside their bytes, whose distances bound the real ones from below: docs/vectors.md has the proof. cpu/vectors/real_rows.h
/// makes them.

#include <cmath>
#include <cstdint>
#include <span>

#include "data/core/host_device.h"
#include "data/core/metric.h"
#include "data/core/rows.h"

namespace knn {

/// Of a row as cosine and pearson have it: its mean (of pearson), a·a, and 1 / √(a·a) within 2⁻⁵² of it, 0 if a·a is 0.
struct RealNorm {
    double mean = 0, square = 0, inverse_length = 0;
};

/// What distances of bytes prove, where x became the bytes nearest to u = (x − offset) · scale.
struct ByteBound {
    bool is_l1 = false, is_angle = false;
    double scale = 1;

    /// Above what a row loses by that, and above every rounding: of u some 2⁻⁵² of |u| <= 255 + lost in each of 65,536 columns, of a row
    /// of length 1 2⁻⁵⁰ in all, of the sums 2⁻³⁶ of them. sum: Σ |u − byte| by l1, else Σ (u − byte)².
    KNN_HOST_DEVICE double lost(double sum) const {
        constexpr double relative = 1 + 1e-9, absolute = 1e-7, of_length = 1e-14;
        return (is_l1 ? sum : std::sqrt(sum)) * relative + absolute + (is_angle ? scale * of_length : 0);
    }

    /// Less than the exact distance of every row whose score of bytes is at least this, where the errors of the two rows add up to
    /// `lost`.
    KNN_HOST_DEVICE double least_distance(std::uint32_t score, double lost) const {
        // Above the roundings of this function and of an exact distance, 2⁻³⁸ of it, and what its squares may lose below 2⁻¹⁰²².
        constexpr double relative = 1 - 1e-9, absolute = 1e-290, of_angle = 1e-10;
        const double by_bytes = is_l1 ? score : std::sqrt(static_cast<double>(score));
        const double length = (by_bytes - lost) / scale;
        if (!(length > 0)) return -1;
        if (is_l1) return length * relative - absolute;
        if (is_angle) return 0.5 * length * length * relative - of_angle;
        return length * length * relative - absolute;
    }
};

/// Training rows, and how bytes are made of rows. Does not own what it refers to.
struct QuantizedRows {
    Rows rows;
    Measure measure;
    std::span<const RealNorm> norms;  ///< of the rows; empty unless the measure is cosine or pearson
    std::span<const double> offsets;  ///< of the columns
    ByteBound bound;
    double largest_lost = 0;  ///< by one of the rows
};

}  // namespace knn
