#pragma once
/// A picture as a list of shapes, written as SVG by every build and as PNG by builds with OpenCV.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace knn {

/// Lengths in pixels, y down; colors 0xRRGGBB.
struct DrawnLine {
    double x1, y1, x2, y2, width;
    int color;
};
struct DrawnBox {
    double x, y, width, height;
    int color;
};
/// A filled circle around (x, y).
struct DrawnDisc {
    double x, y, radius;
    int color;
};
enum class Anchor { left, center, right };
/// Placed by its baseline and sized by the height of its capitals; upward: from bottom to top, around (x, y).
struct DrawnText {
    std::string words;
    double x, y, height;
    int color;
    Anchor anchor = Anchor::left;
    bool upward = false;
};

using Shape = std::variant<DrawnLine, DrawnBox, DrawnDisc, DrawnText>;

struct Drawing {
    double width = 0, height = 0;
    std::vector<Shape> shapes;
};

std::string svg_of(const Drawing& drawing);

/// Throws DataError if the build cannot draw; see `png_available`.
std::vector<std::uint8_t> png_of(const Drawing& drawing);
bool png_available();

}  // namespace knn
