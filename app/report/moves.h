#pragma once
/// Draws where a re-ranker finds the pixels of a query in a neighbor.

#include <cstdint>

#include "app/report/canvas.h"
#include "data/rerank/rerank.h"

namespace knn {

/// The neighbor as it is compared, with its slant out, as a square of `side`; on it a dot at each point of the query that
/// has a gradient, and a line from there to the place in the neighbor that looks like it, if that is another one. Both
/// images have shape.rows × shape.cols pixels.
void draw_moves(Canvas& canvas, const Rerank& rerank, ImageShape shape, const std::uint8_t* query,
                const std::uint8_t* neighbor, double x, double y, double side);

}  // namespace knn
