#pragma once
/// Pen paths of the ten digits in several handwriting styles, and drawing them on a 28×28 picture, scaled and centered like
/// MNIST's digits.

#include <cstdint>
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

inline constexpr int digit_side = 28;  ///< rows and columns of a picture
inline constexpr int digit_box = 20;   ///< the ink's longer side, as in MNIST

/// Properties of the pen; lengths in pixels of the picture.
struct Pen {
    float width = 2.5f;     ///< at normal pressure
    float pressure = 0.2f;  ///< relative variation of the width along a stroke, 0 to 0.5
    float phase = 0;        ///< position along the stroke of the largest width, 0 to 1
    float softness = 1;     ///< pixels over which the edge fades
    float blur = 0;         ///< share of each pixel that is given to its neighbors, 0 to 0.5
};

/// Draws dense strokes (in any scale) so that the ink's bounding box fits in 20×20, with its proportions
/// preserved and its center of mass in the middle. `picture`: 28 × 28 bytes, 0 = paper, 255 = ink.
void draw_digit(std::vector<Stroke>& strokes, const Pen& pen, std::span<std::uint8_t> picture);

}  // namespace knn
