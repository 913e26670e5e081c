#pragma once
/// Pen paths of the ten digits in several handwriting styles.

#include <span>
#include <vector>

namespace knn {

/// In the unit square, x to the right, y down. The curve is smooth at all points except corners.
struct PenPoint {
    float x = 0, y = 0;
    bool corner = false;
};

/// Drawn without lifting the pen.
using Stroke = std::vector<PenPoint>;

/// One style of a digit, and its relative frequency among the styles of the same digit.
struct Skeleton {
    int digit = 0;
    int weight = 1;
    std::vector<Stroke> strokes;
};

/// All styles, grouped by digit in ascending order.
std::span<const Skeleton> skeletons();

/// The points of a stroke and `steps` - 1 more between each two, on Catmull-Rom curves that break at corners.
Stroke smooth(const Stroke& stroke, int steps);

}  // namespace knn
