#include "app/report/canvas.h"
#include "app/report/drawing.h"

namespace knn {

namespace {

struct Painter {
    Canvas& canvas;

    void operator()(const DrawnLine& line) const {
        canvas.line(line.x1, line.y1, line.x2, line.y2, line.width, rgb(line.color));
    }
    void operator()(const DrawnBox& box) const {
        canvas.box(box.x, box.y, box.width, box.height, rgb(box.color));
    }
    void operator()(const DrawnDisc& disc) const {
        canvas.disc(disc.x, disc.y, disc.radius, rgb(disc.color));
    }
    void operator()(const DrawnText& text) const {
        // The stroke font is wider than a sans-serif font: slightly smaller, it has the same width.
        constexpr double narrower = 0.86;
        const std::string words = printable(text.words);
        const double height = text.height * narrower;
        if (text.upward) return canvas.text_upward(words, text.x, text.y, height, rgb(text.color));
        const Side side = text.anchor == Anchor::left     ? Side::left
                          : text.anchor == Anchor::center ? Side::center
                                                          : Side::right;
        canvas.text(words, text.x, text.y, height, rgb(text.color), side);
    }
};

}  // namespace

bool png_available() {
    return true;
}

std::vector<std::uint8_t> png_of(const Drawing& drawing) {
    Canvas canvas(drawing.width, drawing.height);
    for (const Shape& shape : drawing.shapes)
        std::visit(Painter{canvas}, shape);
    return canvas.png();
}

}  // namespace knn
