#pragma once
/// Puts the path of a pen on a 28×28 picture, framed the way MNIST's digits are.

#include <cstdint>
#include <span>
#include <vector>

#include "data/synthetic/skeletons.h"

namespace knn {

inline constexpr int digit_side = 28;  ///< rows and columns of a picture
inline constexpr int digit_box = 20;   ///< the ink's longer side, as MNIST has it

/// What the pen is like; lengths in pixels of the picture.
struct Pen {
    float width = 2.5f;     ///< where it is pressed normally
    float pressure = 0.2f;  ///< how much of the width comes and goes along a stroke, 0 to 0.5
    float phase = 0;        ///< where along the stroke it is widest, 0 to 1
    float softness = 1;     ///< over how many pixels the ink's border fades
    float blur = 0;         ///< share of each pixel that goes to its neighbors, 0 to 0.5
};

/// Draws dense strokes (in any scale) so that the ink's bounding box fits 20×20, its proportions kept, and
/// its center of mass lies in the middle of the picture. `picture`: 28 × 28 bytes, 0 = paper, 255 = ink.
void draw_digit(std::vector<Stroke>& strokes, const Pen& pen, std::span<std::uint8_t> picture);

}  // namespace knn
