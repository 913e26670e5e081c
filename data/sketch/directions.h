#pragma once
/// Directions of rows as bytes, so that sketches, which bound squared distances, bound cosine and pearson too.
///
/// For a row x, its mean m (pearson; for cosine 0) and its length n = ‖x − m‖:
///
///   u = factor / n · (x − m)
///   y = shift + u, rounded and clamped to 0 .. 255     the direction
///   rest >= ‖y − shift − u‖                            what rounding and clamping took
///
/// Rows at the distance d = 1 − cos have ‖u − u'‖² = 2 d factor², so ‖y − y'‖ <= factor √(2 d) + rest + rest'. This is true of any
/// factor and shift. A row of length 0 is at distance 1 from all others; its rest is infinite.

#include <cstdint>
#include <optional>

#include "data/core/metric.h"
#include "data/core/rows.h"

namespace knn {

struct Directions {
    bool centered = false;
    double factor = 0, shift = 0;
};

/// By the rows that a sketch is fitted to: what is largest among them uses the range of bytes. Nothing for l2, which needs none.
std::optional<Directions> fit_directions(const Rows& rows, Metric metric);

/// Writes the direction of a row of `dim` bytes; returns its rest.
double direction_of(const Directions& directions, const std::uint8_t* row, std::int64_t dim,
                    std::uint8_t* direction);

}  // namespace knn
