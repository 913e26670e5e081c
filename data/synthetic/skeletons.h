#pragma once
/// How people write the ten digits: the path of the pen, without its width.

#include <span>
#include <vector>

namespace knn {

/// In the unit square, x to the right, y down. At a corner the pen turns at once; elsewhere it runs smoothly
/// through the point.
struct PenPoint {
    float x = 0, y = 0;
    bool corner = false;
};

/// The pen stays on the paper.
using Stroke = std::vector<PenPoint>;

/// One way of writing a digit, and how often it is chosen among the ways of the same digit.
struct Skeleton {
    int digit = 0;
    int weight = 1;
    std::vector<Stroke> strokes;
};

/// All ways, grouped by digit in ascending order.
std::span<const Skeleton> skeletons();

/// The points of a stroke and `steps` - 1 more between each two, on Catmull-Rom curves that break at corners.
Stroke smooth(const Stroke& stroke, int steps);

}  // namespace knn
