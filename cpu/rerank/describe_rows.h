#pragma once
/// The descriptor of one image in loops over rows that compilers turn into vectors: included by one file per instruction
/// set, whose flags it gets. The same bytes as `describe` of data/rerank/descriptor.h, which defines them.

#include <cstring>

#include "cpu/rerank/kernel.h"

namespace knn::cpu {
namespace {

/// Sobel gradients of row y.
void gradients_of_row(const RerankShape& shape, const DescribeWork& work, int y) {
    const std::int64_t stride = shape.cols + 2;
    const std::int16_t* above = work.padded + y * stride;
    const std::int16_t *here = above + stride, *below = here + stride;
    std::int16_t *__restrict gx = work.gx, *__restrict gy = work.gy;
    for (int x = 0; x < shape.cols; ++x) {
        gx[x] = static_cast<std::int16_t>(above[x + 2] + 2 * here[x + 2] + below[x + 2] - above[x] -
                                          2 * here[x] - below[x]);
        gy[x] = static_cast<std::int16_t>(below[x] + 2 * below[x + 1] + below[x + 2] - above[x] -
                                          2 * above[x + 1] - above[x + 2]);
    }
}

/// Quotients and roots in float are exact after truncation: numerators are below 2¹⁴, so a quotient below an integer
/// is at least 1/3,294 below it; for the roots see integer_root.
void levels_of_row(const RerankShape& shape, const DescribeWork& work, int y) {
    std::int8_t* __restrict to = work.levels + 2 * std::int64_t{y} * (shape.cols + 2);
    for (int x = 0; x < shape.cols; ++x) {
        const int gx = work.gx[x], gy = work.gy[x];
        const int divisor =
            static_cast<int>(__builtin_sqrtf(static_cast<float>(gx * gx + gy * gy))) + 204;
        const auto level = [&](int g) {
            const int size = static_cast<int>(static_cast<float>(10 * (g < 0 ? -g : g) + divisor) /
                                              static_cast<float>(2 * divisor));
            return static_cast<std::int8_t>(g < 0 ? -size : size);
        };
        to[2 * x] = level(gx);
        to[2 * x + 1] = level(gy);
    }
}

/// What each direction gets of the gradients of row y.
void shares_of_row(const RerankShape& shape, const DescribeWork& work, int y) {
    const int cols = shape.cols;
    const std::int64_t stride = cols + 2;
    std::uint16_t* __restrict to = work.shares + y * 8 * stride;
    const auto positive = [](int value) { return static_cast<std::uint16_t>(value > 0 ? value : 0); };
    const auto diagonal = [](int a, int b) {
        const int both = a < b ? a : b;
        return static_cast<std::uint16_t>(both > 0 ? 181 * both >> 7 : 0);
    };
    for (int x = 0; x < cols; ++x) {
        const int gx = work.gx[x], gy = work.gy[x], ax = gx < 0 ? -gx : gx, ay = gy < 0 ? -gy : gy;
        to[x] = positive(gx - ay);
        to[stride + x] = diagonal(gx, gy);
        to[2 * stride + x] = positive(gy - ax);
        to[3 * stride + x] = diagonal(-gx, gy);
        to[4 * stride + x] = positive(-gx - ay);
        to[5 * stride + x] = diagonal(-gx, -gy);
        to[6 * stride + x] = positive(-gy - ax);
        to[7 * stride + x] = diagonal(gx, -gy);
    }
}

/// Sums over step × step pixels, in step² planes.
void write_planes(const RerankShape& shape, const DescribeWork& work, std::uint8_t* to) {
    const std::int64_t stride = 2 * std::int64_t{shape.cols + 2};
    for (int a = 0; a < shape.step; ++a) {
        const int rows = (shape.rows - a + shape.step - 1) / shape.step;
        for (int i = 0; i < rows; ++i) {
            const std::int8_t* row = work.levels + (i * shape.step + a) * stride;
            std::uint8_t* at = to + std::int64_t{i} * 2 * ((shape.cols + shape.step - 1) / shape.step);
            if (shape.step == 1) {
                std::memcpy(at, row, 2 * static_cast<std::size_t>(shape.cols));
                continue;
            }
            for (int x = 0; x < 2 * shape.cols; ++x)
                work.boxes[x] =
                    static_cast<std::int8_t>(row[x] + row[x + 2] + row[stride + x] + row[stride + x + 2]);
            const int even = (shape.cols + 1) / 2, odd = shape.cols / 2;
            std::uint8_t* odd_at = to + 2 * (std::int64_t{rows} * even + std::int64_t{i} * odd);
            for (int x = 0; x < even; ++x)
                std::memcpy(at + 2 * x, work.boxes + 4 * x, 2);
            for (int x = 0; x < odd; ++x)
                std::memcpy(odd_at + 2 * x, work.boxes + 4 * x + 2, 2);
        }
        to += 2 * std::int64_t{rows} * shape.cols;
    }
}

/// Direction `bin` of a row of cells: the weights 1 5 10 10 5 1 down the columns (below 2¹⁶), then along the row.
void cells_of_row(const RerankShape& shape, const DescribeWork& work, int row, int bin, std::uint8_t* to) {
    constexpr std::uint16_t weights[6] = {1, 5, 10, 10, 5, 1};
    const int cols = shape.cols;
    const std::int64_t stride = cols + 2;
    std::uint16_t* __restrict column = work.column + 2;
    std::memset(column, 0, static_cast<std::size_t>(cols) * sizeof *column);
    for (int i = 0; i < 6; ++i) {
        const int y = 2 * row - 2 + i;
        if (y < 0 || y >= shape.rows) continue;
        const std::uint16_t* from = work.shares + (y * 8 + bin) * stride;
        for (int x = 0; x < cols; ++x)
            column[x] = static_cast<std::uint16_t>(column[x] + weights[i] * from[x]);
    }
    std::uint8_t* __restrict values = work.values;
    for (int x = 0; x < cols; ++x) {  // every second is needed, but a stride of 2 is slower
        const std::uint16_t* at = work.column + x;
        const int ends = at[0] + at[5], inner = at[1] + at[4], middle = at[2] + at[3];
        const int scaled = (ends + 5 * inner + 10 * middle) >> 8;
        values[x] = static_cast<std::uint8_t>(
            __builtin_sqrtf(static_cast<float>(scaled < 63 * 63 ? scaled : 63 * 63)));
    }
    for (int c = 0; c < shape.cell_cols; ++c)
        to[8 * c + bin] = values[2 * c];
}

void pad(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work) {
    for (int y = 0; y < shape.rows; ++y) {
        std::int16_t* row = work.padded + std::int64_t{y + 1} * (shape.cols + 2) + 1;
        for (int x = 0; x < shape.cols; ++x)
            row[x] = image[std::int64_t{y} * shape.cols + x];
    }
}

void gradients_of_image(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                        std::uint8_t* to) {
    pad(shape, image, work);
    for (int y = 0; y < shape.rows; ++y) {
        gradients_of_row(shape, work, y);
        levels_of_row(shape, work, y);
    }
    write_planes(shape, work, to);
}

void cells_of_image(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                    std::uint8_t* to) {
    pad(shape, image, work);
    for (int y = 0; y < shape.rows; ++y) {
        gradients_of_row(shape, work, y);
        shares_of_row(shape, work, y);
    }
    for (int row = 0; row < shape.cell_rows; ++row)
        for (int bin = 0; bin < 8; ++bin)
            cells_of_row(shape, work, row, bin, to + std::int64_t{row} * shape.cell_cols * 8);
}

}  // namespace
}  // namespace knn::cpu
