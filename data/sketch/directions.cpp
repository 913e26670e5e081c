#include "data/sketch/directions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/sketch/sketch.h"

namespace knn {

namespace {

/// What is subtracted from a row, and the factor that makes it a unit vector: 0 if there is none.
struct Centering {
    double mean = 0, factor = 0;

    Centering(const std::uint8_t* row, std::int64_t dim, bool centered) {
        std::int64_t sum = 0, squares = 0;
        for (std::int64_t j = 0; j < dim; ++j) {
            sum += row[j];
            squares += row[j] * row[j];
        }
        if (centered) mean = static_cast<double>(sum) / static_cast<double>(dim);
        // Exact before the division: below 2⁴⁹.
        const auto square = centered
                                ? static_cast<double>(dim * squares - sum * sum) / static_cast<double>(dim)
                                : static_cast<double>(squares);
        if (square > 0) factor = 1 / std::sqrt(square);
    }
};

}  // namespace

std::optional<Directions> fit_directions(const Rows& rows, Metric metric) {
    if (metric == Metric::l2) return std::nullopt;
    Directions directions{.centered = metric == Metric::pearson};
    double least = 0, most = 0;
    const std::int64_t n = rows_to_fit(rows.count, rows.dim);
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint8_t* row = rows.row(i * rows.count / n);
        const Centering of(row, rows.dim, directions.centered);
        const auto [low, high] = std::minmax_element(row, row + rows.dim);
        least = std::min(least, (*low - of.mean) * of.factor);
        most = std::max(most, (*high - of.mean) * of.factor);
    }
    if (most > least) directions.factor = 255 / (most - least);
    directions.shift = -least * directions.factor;
    return directions;
}

double direction_of(const Directions& directions, const std::uint8_t* row, std::int64_t dim,
                    std::uint8_t* direction) {
    const Centering of(row, dim, directions.centered);
    const double factor = of.factor * directions.factor, begin = directions.shift - of.mean * factor;
    // By the value of a pixel; squares in steps of 2⁻²⁰, rounded up. Their sum is below 2⁶³, as factor < 2¹⁷ and dim < 2¹⁷.
    std::uint64_t squares[256];
    std::uint8_t bytes[256];
    for (int value = 0; value < 256; ++value) {
        const double exact = begin + value * factor, byte = std::nearbyint(std::clamp(exact, 0.0, 255.0));
        bytes[value] = static_cast<std::uint8_t>(byte);
        squares[value] = static_cast<std::uint64_t>((exact - byte) * (exact - byte) * 0x1p20) + 1;
    }
    std::uint64_t sum = 0;
    for (std::int64_t j = 0; j < dim; ++j) {
        direction[j] = bytes[row[j]];
        sum += squares[row[j]];
    }
    if (of.factor == 0) return std::numeric_limits<double>::infinity();
    return std::sqrt(static_cast<double>(sum)) * 0x1p-10 * (1 + 0x1p-30) +
           0x1p-20;  // more than all roundings
}

}  // namespace knn
