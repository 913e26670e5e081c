#include "data/synthetic/pen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace knn {

namespace {

constexpr int side = digit_side;

/// Keeps thin and blurred strokes dark, like scanned pencil on paper.
constexpr float ink_contrast = 1.35f;

/// Ink from 0 to 1, row by row.
using Canvas = std::array<float, side * side>;

/// Moves and scales the strokes so that the ink, with the pen's width, fills the box in the middle.
void fit_box(std::vector<Stroke>& strokes, float width) {
    constexpr float none = std::numeric_limits<float>::max();
    float left = none, right = -none, top = none, bottom = -none;
    for (const Stroke& stroke : strokes)
        for (const PenPoint& p : stroke) {
            left = std::min(left, p.x);
            right = std::max(right, p.x);
            top = std::min(top, p.y);
            bottom = std::max(bottom, p.y);
        }
    const float extent = std::max({right - left, bottom - top, 1e-6f});
    const float scale = (static_cast<float>(digit_box) - width) / extent;
    constexpr float middle = side / 2.f;
    for (Stroke& stroke : strokes)
        for (PenPoint& p : stroke) {
            p.x = middle + scale * (p.x - 0.5f * (left + right));
            p.y = middle + scale * (p.y - 0.5f * (top + bottom));
        }
}

/// Inks the straight piece from a to b: full within `radius`, fading over `softness`.
void draw_piece(Canvas& canvas, PenPoint a, PenPoint b, float radius, float softness) {
    const float reach = radius + 0.5f * softness;
    const auto first = [&](float p, float q) {
        return std::clamp(static_cast<int>(std::min(p, q) - reach - 0.5f), 0, side - 1);
    };
    const auto last = [&](float p, float q) {
        return std::clamp(static_cast<int>(std::max(p, q) + reach + 0.5f), 0, side - 1);
    };
    const float dx = b.x - a.x, dy = b.y - a.y;
    const float length2 = std::max(dx * dx + dy * dy, 1e-12f);
    for (int row = first(a.y, b.y); row <= last(a.y, b.y); ++row)
        for (int col = first(a.x, b.x); col <= last(a.x, b.x); ++col) {
            const float x = static_cast<float>(col) + 0.5f - a.x, y = static_cast<float>(row) + 0.5f - a.y;
            const float t = std::clamp((x * dx + y * dy) / length2, 0.f, 1.f);
            const float off_x = x - t * dx, off_y = y - t * dy;
            const float distance2 = off_x * off_x + off_y * off_y;
            if (distance2 >= reach * reach) continue;
            const float distance = std::sqrt(distance2);
            float& ink = canvas[static_cast<std::size_t>(row * side + col)];
            ink = std::max(ink, std::min((reach - distance) / softness, 1.f));
        }
}

/// The pen's relative width at `t` (0 to 1) of a stroke: a wave of parabolas with period 1.
float press(const Pen& pen, float t) {
    const float u = t + pen.phase - std::floor(t + pen.phase);
    return 1 + pen.pressure * (8 * u * (1 - u) - 1);
}

void draw_stroke(Canvas& canvas, const Stroke& stroke, const Pen& pen) {
    const auto pieces = static_cast<float>(stroke.size());
    for (std::size_t i = 0; i + 1 < stroke.size(); ++i) {
        const float radius = 0.5f * pen.width * press(pen, static_cast<float>(i) / pieces);
        draw_piece(canvas, stroke[i], stroke[i + 1], radius, pen.softness);
    }
}

/// Distributes a share of each pixel to its two neighbors along rows (step 1) or columns (step side). The
/// border of the canvas is paper, so nothing wraps around.
Canvas spread(const Canvas& in, float share, std::size_t step) {
    Canvas out = {};
    for (std::size_t i = 0; i < in.size(); ++i) {
        const float before = i >= step ? in[i - step] : 0, after = i + step < in.size() ? in[i + step] : 0;
        out[i] = (1 - share) * in[i] + 0.5f * share * (before + after);
    }
    return out;
}

/// How many whole pixels bring the center of mass to the middle, along x and y.
std::array<int, 2> centering(const Canvas& canvas) {
    float mass = 1e-6f, x = 0, y = 0;
    for (int row = 0; row < side; ++row)
        for (int col = 0; col < side; ++col) {
            const float ink = canvas[static_cast<std::size_t>(row * side + col)];
            mass += ink;
            x += ink * (static_cast<float>(col) + 0.5f);
            y += ink * (static_cast<float>(row) + 0.5f);
        }
    constexpr float middle = side / 2.f;
    return {static_cast<int>(std::floor(middle - x / mass + 0.5f)),
            static_cast<int>(std::floor(middle - y / mass + 0.5f))};
}

}  // namespace

void draw_digit(std::vector<Stroke>& strokes, const Pen& pen, std::span<std::uint8_t> picture) {
    fit_box(strokes, pen.width);
    Canvas canvas = {};
    for (const Stroke& stroke : strokes)
        draw_stroke(canvas, stroke, pen);
    canvas = spread(spread(canvas, pen.blur, 1), pen.blur, side);
    for (float& ink : canvas)
        ink = std::min(ink * ink_contrast, 1.f);

    const auto [right, down] = centering(canvas);
    for (int row = 0; row < side; ++row)
        for (int col = 0; col < side; ++col) {
            const int y = row - down, x = col - right;
            const bool inside = x >= 0 && x < side && y >= 0 && y < side;
            const float ink = inside ? canvas[static_cast<std::size_t>(y * side + x)] : 0;
            picture[static_cast<std::size_t>(row * side + col)] = static_cast<std::uint8_t>(ink * 255 + 0.5f);
        }
}

}  // namespace knn
