#include "app/report/moves.h"

#include <algorithm>
#include <vector>

#include "data/rerank/distance.h"
#include "data/transform/deskew.h"

namespace knn {

namespace {

const Color at_place = rgb(0x58a6ff), moved = rgb(0xf0883e);

std::vector<std::uint8_t> straightened(const std::uint8_t* image, ImageShape shape, double part) {
    const Skew skew = skew_of(moments_of(image, shape), shape, part);
    std::vector<std::uint8_t> straight;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x)
            straight.push_back(deskewed(image, shape, skew, x, y));
    return straight;
}

std::vector<std::uint8_t> descriptor_of(const DescriptorLayout& layout, const std::uint8_t* image) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(layout.bytes()));
    describe(layout, image, bytes.data());
    return bytes;
}

}  // namespace

void draw_moves(Canvas& canvas, const Rerank& rerank, ImageShape shape, const std::uint8_t* query,
                const std::uint8_t* neighbor, double x, double y, double side) {
    const DescriptorLayout layout(shape, rerank);
    const double part = layout.has_gradients ? gradients_slant_part : cells_slant_part;
    canvas.image(straightened(neighbor, shape, part).data(), shape.rows, shape.cols, x, y, side);
    const double pixel = side / std::max(shape.rows, shape.cols);
    // The square is centered, and a point of the grid, like a cell, stands for 2 × 2 pixels.
    constexpr double middle = 1;
    const double left = x + (side - pixel * shape.cols) / 2 + middle * pixel;
    const double top = y + (side - pixel * shape.rows) / 2 + middle * pixel;
    for (const Move& move :
         moves(layout, descriptor_of(layout, query).data(), descriptor_of(layout, neighbor).data())) {
        const double from_x = left + move.x * pixel, from_y = top + move.y * pixel;
        const bool stays = move.dx == 0 && move.dy == 0;
        if (!stays)
            canvas.line(from_x, from_y, from_x + move.dx * pixel, from_y + move.dy * pixel, 0.25 * pixel,
                        moved);
        canvas.disc(from_x, from_y, 0.3 * pixel, stays ? at_place : moved);
    }
}

}  // namespace knn
