#pragma once
/// The descriptor of one image in loops over rows that compilers turn into vectors: included by one file per instruction
/// set, whose flags it gets. data/rerank/descriptor.h defines the bytes.

#include <cstring>

#include "cpu/lanes/kernel.h"

namespace knn::cpu {
namespace {

/// body(i) for i = 0 .. count - 1, in blocks of row_block.
template <class Body>
[[gnu::always_inline]] inline void for_blocks(std::int64_t count, const Body& body) {
    for (std::int64_t first = 0; first < count; first += row_block)
        for (std::int64_t i = first; i < first + row_block; ++i)
            body(i);
}

/// Sobel gradients of row y.
void gradients_of_row(const RerankShape& shape, const DescribeWork& work, int y) {
    const std::int16_t* above = work.padded + y * work.stride;
    const std::int16_t *here = above + work.stride, *below = here + work.stride;
    std::int16_t* __restrict gx = work.gx, * __restrict gy = work.gy;
    for_blocks(work.stride, [=](std::int64_t x) {
        gx[x] = static_cast<std::int16_t>(above[x + 2] + 2 * here[x + 2] + below[x + 2] - above[x] -
                                          2 * here[x] - below[x]);
        gy[x] = static_cast<std::int16_t>(below[x] + 2 * below[x + 1] + below[x + 2] - above[x] -
                                          2 * above[x + 1] - above[x + 2]);
    });
    for (std::int64_t x = shape.cols; x < work.stride; ++x)
        gx[x] = gy[x] = 0;
}

/// Quotients and roots in float are exact after truncation: numerators are below 2¹⁴, so a quotient below an integer
/// is at least 1/3,294 below it; for the roots see integer_root.
void levels_of_row(const DescribeWork& work, int y) {
    const std::int16_t *from_x = work.gx, *from_y = work.gy;
    std::int8_t* __restrict to = work.levels + 2 * y * work.stride;
    for_blocks(work.stride, [=](std::int64_t x) {
        const int gx = from_x[x], gy = from_y[x];
        const int divisor = static_cast<int>(__builtin_sqrtf(static_cast<float>(gx * gx + gy * gy))) + 204;
        const auto level = [&](int g) {
            const int size = static_cast<int>(static_cast<float>(10 * (g < 0 ? -g : g) + divisor) /
                                              static_cast<float>(2 * divisor));
            return static_cast<std::int8_t>(g < 0 ? -size : size);
        };
        to[2 * x] = level(gx);
        to[2 * x + 1] = level(gy);
    });
}

/// What each direction gets of the gradients of row y.
void shares_of_row(const DescribeWork& work, int y) {
    const std::int64_t stride = work.stride;
    const std::int16_t *from_x = work.gx, *from_y = work.gy;
    std::uint16_t* __restrict to = work.shares + y * 8 * stride;
    const auto positive = [](int value) { return static_cast<std::uint16_t>(value > 0 ? value : 0); };
    const auto diagonal = [](int a, int b) {
        const int both = a < b ? a : b;
        return static_cast<std::uint16_t>(both > 0 ? 181 * both >> 7 : 0);
    };
    for_blocks(stride, [=](std::int64_t x) {
        const int gx = from_x[x], gy = from_y[x], ax = gx < 0 ? -gx : gx, ay = gy < 0 ? -gy : gy;
        to[x] = positive(gx - ay);
        to[stride + x] = diagonal(gx, gy);
        to[2 * stride + x] = positive(gy - ax);
        to[3 * stride + x] = diagonal(-gx, gy);
        to[4 * stride + x] = positive(-gx - ay);
        to[5 * stride + x] = diagonal(-gx, -gy);
        to[6 * stride + x] = positive(-gy - ax);
        to[7 * stride + x] = diagonal(gx, -gy);
    });
}

/// Sums over 2 × 2 pixels, in four planes.
void write_planes(const RerankShape& shape, const DescribeWork& work, std::uint8_t* to) {
    const std::int64_t stride = 2 * work.stride;
    const int even = shape.grid_cols, odd = shape.cols / 2;
    std::int8_t* __restrict boxes = work.boxes;
    for (int y = 0; y < shape.rows; ++y) {
        const std::int8_t* row = work.levels + y * stride;
        for_blocks(stride, [=](std::int64_t x) {
            boxes[x] = static_cast<std::int8_t>(row[x] + row[x + 2] + row[stride + x] + row[stride + x + 2]);
        });
        const int a = y % 2, rows = (shape.rows - a + 1) / 2;
        std::uint8_t* plane = to + 2 * a * std::int64_t{shape.grid_rows} * shape.cols;
        std::uint8_t* even_to = plane + std::int64_t{y / 2} * 2 * even;
        std::uint8_t* odd_to = plane + 2 * (std::int64_t{rows} * even + std::int64_t{y / 2} * odd);
        for (int x = 0; x < even; ++x)
            std::memcpy(even_to + 2 * x, boxes + 4 * x, 2);
        for (int x = 0; x < odd; ++x)
            std::memcpy(odd_to + 2 * x, boxes + 4 * x + 2, 2);
    }
}

/// A row of cells, all directions at once: the weights 1 5 10 10 5 1 down the columns (below 2¹⁶), then along the row.
void write_cells(const RerankShape& shape, const DescribeWork& work, int row, std::uint8_t* to) {
    constexpr int weights[6] = {1, 5, 10, 10, 5, 1};
    const std::int64_t size = 8 * work.stride;
    std::uint16_t* __restrict column = work.column + 2;
    std::memset(column, 0, static_cast<std::size_t>(size) * sizeof *column);
    for (int i = 0; i < 6; ++i) {
        const int y = 2 * row - 2 + i, weight = weights[i];
        if (y < 0 || y >= shape.rows) continue;
        const std::uint16_t* from = work.shares + y * size;
        for_blocks(size, [=](std::int64_t x) {
            column[x] = static_cast<std::uint16_t>(column[x] + weight * from[x]);
        });
    }
    const std::uint16_t* at = work.column;
    std::uint8_t* __restrict values = work.values;
    for_blocks(size, [=](std::int64_t x) {  // every second is needed, but a stride of 2 is slower
        const int ends = at[x] + at[x + 5], inner = at[x + 1] + at[x + 4], middle = at[x + 2] + at[x + 3];
        const int scaled = (ends + 5 * inner + 10 * middle) >> 8;
        values[x] = static_cast<std::uint8_t>(
            static_cast<int>(__builtin_sqrtf(static_cast<float>(scaled < 63 * 63 ? scaled : 63 * 63))));
    });
    for (int c = 0; c < shape.grid_cols; ++c)
        for (int bin = 0; bin < 8; ++bin)
            to[8 * c + bin] = values[bin * work.stride + 2 * c];
}

void pad(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work) {
    for (int y = 0; y < shape.rows; ++y) {
        std::int16_t* row = work.padded + (y + 1) * work.stride + 1;
        for (int x = 0; x < shape.cols; ++x)
            row[x] = image[std::int64_t{y} * shape.cols + x];
    }
}

void gradients_of_image(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                        std::uint8_t* to) {
    pad(shape, image, work);
    for (int y = 0; y < shape.rows; ++y) {
        gradients_of_row(shape, work, y);
        levels_of_row(work, y);
    }
    write_planes(shape, work, to);
}

void cells_of_image(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                    std::uint8_t* to) {
    pad(shape, image, work);
    for (int y = 0; y < shape.rows; ++y) {
        gradients_of_row(shape, work, y);
        shares_of_row(work, y);
    }
    for (int row = 0; row < shape.grid_rows; ++row)
        write_cells(shape, work, row, to + std::int64_t{row} * shape.grid_cols * 8);
}

}  // namespace
}  // namespace knn::cpu
