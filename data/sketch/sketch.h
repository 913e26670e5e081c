#pragma once
/// Sketches: rows of 64 or 128 bytes that bound squared distances of longer rows from below. docs/sketches.md has the proof.
///
/// For a row x of `dim` bytes and axis i, with integers alone:
///
///   v = Σⱼ weight[i][j] · x[j] − center[i]             weights: a unit vector in steps of 2⁻¹⁴
///   q = (v · scale + 2²¹) >> 22                        in steps of 2⁻¹⁰
///   s = (q + 512) >> 10, clamped to −127 .. 127        column i is the byte 128 + s; the others are 128
///   r = q − 1024 · s                                   what rounding and clamping took
///   error = min(2²², ⌈√Σ r²⌉ + 6)                      in steps of 2⁻¹⁰
///
/// With S = Σ (a − b)² over the columns of two sketches a and b, their errors, and d their rows' distance:
///
///   1024 √S <= reach(d²) + error of a + error of b
///
/// A pair for which that does not hold with a squared distance d² is farther than d. This is true of any weights, centers and
/// scale, so how well they are fitted affects the speed only.

#include <cmath>
#include <cstdint>
#include <vector>

#include "data/core/host_device.h"
#include "data/core/progress_token.h"
#include "data/core/rows.h"

namespace knn {

/// Columns of a sketch. The last of them are always 128, for kernels that have a use for them.
inline constexpr std::int64_t most_columns = 128, spare_columns = 4;

/// An error or a reach that no pair is beyond: S <= 124 · 254² < 2²³.
inline constexpr std::uint32_t no_bound = std::uint32_t{1} << 22;

struct Sketch {
    std::int64_t columns = 0, dim = 0, axes = 0;  ///< axes <= columns − spare_columns
    std::vector<std::int16_t> weights;            ///< axes × dim
    std::vector<std::int32_t> centers;            ///< axes
    std::int64_t scale = 0;                       ///< 0 to 2²⁴
    double stretch = 0;  ///< at least the most that q changes where a row changes by a vector of length 1
};

/// The rows to which a sketch is fitted, m of n: 1,024, or fewer if they are long.
std::int64_t rows_to_fit(std::int64_t n, std::int64_t dim);

/// Fits it to rows ⌊i · n / m⌋, i < m. columns: 64 or 128. The axes are an orthonormal base of
/// the space that two steps of subspace iteration find, turned at random: all columns have about the same range, so 8 bits suffice
/// with one scale, by which the largest value of those rows is 127.
Sketch fit_sketch(const Rows& rows, std::int64_t columns, const ProgressToken& token = {});

/// fit_sketch; with `uses_cache` its result is kept in the user's cache, and found again by the SHA-256 of the rows that it was fitted
/// to, so a set under another name, features that were computed again, or a shard with the same images find it too.
Sketch cached_fit(const Rows& rows, std::int64_t columns, bool uses_cache, const ProgressToken& token = {});

/// What a row has in one column.
struct SketchColumn {
    std::uint8_t byte;
    std::int32_t rest;  ///< r, at most no_bound either way
};

/// v: |v| < 2³¹ for up to max_dim bytes, as 2¹⁴ · 255 · √66,051 < 2³⁰.
KNN_HOST_DEVICE inline SketchColumn sketch_column(std::int32_t v, std::int64_t scale) {
    const std::int64_t q = (v * scale + (std::int64_t{1} << 21)) >> 22;
    const std::int64_t nearest = (q + 512) >> 10, s = nearest < -127 ? -127 : nearest > 127 ? 127 : nearest;
    const std::int64_t r = q - 1024 * s, most = no_bound;
    return {static_cast<std::uint8_t>(128 + s), static_cast<std::int32_t>(r < -most  ? -most
                                                                          : r > most ? most
                                                                                     : r)};
}

/// squares: Σ r² < 2⁵¹.
KNN_HOST_DEVICE inline std::uint32_t sketch_error(std::uint64_t squares) {
    auto root = static_cast<std::uint64_t>(sqrt(static_cast<double>(squares)));  // a guess, corrected
    while (root * root < squares)
        ++root;
    while (root > 0 && (root - 1) * (root - 1) >= squares)
        --root;
    // 6: q is rounded too, by half a step for each of 124 axes.
    return root + 6 < no_bound ? static_cast<std::uint32_t>(root + 6) : no_bound;
}

/// Writes the columns of a row with these weighted sums, before the centers are subtracted; returns its error.
std::uint32_t sketch_sums(const Sketch& sketch, const std::int32_t* sums, std::uint8_t* columns);

/// The same of the row itself.
std::uint32_t sketch_row(const Sketch& sketch, const std::uint8_t* row, std::uint8_t* columns);

/// At least 1024 times the sketches' distance, without errors, of rows with this squared distance.
KNN_HOST_DEVICE inline std::uint32_t sketch_reach(double stretch, double squared_distance) {
    const double reach = sqrt(squared_distance) * stretch;
    return reach < no_bound - 1 ? static_cast<std::uint32_t>(reach) + 1 : no_bound;
}

/// The largest S of pairs that may be as near as the reach: of a query, with its error and that of an image added. The others are
/// farther. Saturates at 2²⁴, above every S.
KNN_HOST_DEVICE inline std::uint32_t sketch_limit(std::uint64_t reach) {
    return reach < no_bound ? static_cast<std::uint32_t>((reach * reach) >> 20) : std::uint32_t{1} << 24;
}

}  // namespace knn
