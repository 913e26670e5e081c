#pragma once
/// The body of the transforms' kernels: included by one file per instruction set, whose compiler flags it gets, and
/// which defines `lane_bytes` before. Vectors are those of the compiler, which has them on every processor.

#include <cstring>

#include "cpu/lanes/kernel.h"

namespace knn::cpu {
namespace {

/// As many directions as a register holds: `lane_bytes` is that of the instruction set.
constexpr int lanes = lane_bytes / 4, groups = histogram_lanes / lanes;
using FloatLanes [[gnu::vector_size(lane_bytes)]] = float;
using IntLanes [[gnu::vector_size(lane_bytes)]] = std::int32_t;
using ByteLanes [[gnu::vector_size(lanes)]] = std::uint8_t;

FloatLanes load(const float* from) {
    FloatLanes value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
void store(float* to, const FloatLanes& value) {
    std::memcpy(to, &value, sizeof value);
}

/// Widens a row of pixels; `to` has `wide` numbers, of which those after the row stay 0.
void widen(const std::uint8_t* row, int cols, int wide, std::uint8_t* bytes, std::int32_t* __restrict to) {
    std::memcpy(bytes, row, static_cast<std::size_t>(cols));
    for (int x = 0; x < wide; ++x)
        to[x] = bytes[x];
}

void shear_rows(const Shear& shear, const std::uint8_t* in, std::uint8_t* out) {
    const int cols = shear.cols, wide = shear.wide;
    const std::int32_t upper = 256 - shear.down_part, lower = shear.down_part;
    std::int32_t* __restrict above = shear.above, * __restrict below = shear.below;
    std::int32_t* __restrict middle = shear.row + wide + 1;  // background on both sides
    std::uint8_t* __restrict bytes = shear.bytes;
    const auto read = [&](int y, std::int32_t* to) {
        if (y >= 0 && y < shear.rows)
            widen(in + std::int64_t{y} * cols, cols, wide, bytes, to);
        else
            std::memset(to, 0, static_cast<std::size_t>(wide) * sizeof *to);
    };
    std::memset(shear.row, 0, static_cast<std::size_t>(3 * wide + 2) * sizeof(std::int32_t));
    std::memset(bytes, 0, static_cast<std::size_t>(wide));
    read(shear.down_first, below);
    for (int y = 0; y < shear.rows; ++y) {
        std::int32_t* const next = above;
        above = below;
        below = next;
        read(y + shear.down_first + 1, below);
        for (int x = 0; x < wide; ++x)
            middle[x] = upper * above[x] + lower * below[x];
        const std::int32_t shift = shear.along[y].first, right = shear.along[y].part, left = 256 - right;
        const std::int32_t* __restrict from = middle + (shift < -wide - 1 ? -wide - 1
                                                        : shift > wide    ? wide
                                                                          : shift);
        std::uint8_t* __restrict to = shear.sheared;
        for (int x = 0; x < wide; ++x)
            to[x] = static_cast<std::uint8_t>((left * from[x] + right * from[x + 1] + (1 << 15)) >> 16);
        std::memcpy(out + std::int64_t{y} * cols, to, static_cast<std::size_t>(cols));
    }
}

/// Gradients and gains of row y.
void row_of_gradients(const LaneHistograms& work, int y) {
    const int wide = work.wide, stride = wide + 2;
    const std::int32_t* above = work.padded + std::int64_t{y} * stride;
    const std::int32_t *here = above + stride, *below = here + stride;
    float* __restrict gx = work.gradient_x, * __restrict gy = work.gradient_y, * __restrict gains = work.gains;
    for (int x = 0; x < wide; ++x) {
        const std::int32_t left = above[x] + 2 * here[x] + below[x];
        const std::int32_t right = above[x + 2] + 2 * here[x + 2] + below[x + 2];
        const std::int32_t top = above[x] + 2 * above[x + 1] + above[x + 2];
        const std::int32_t bottom = below[x] + 2 * below[x + 1] + below[x + 2];
        gx[x] = static_cast<float>(right - left);
        gy[x] = static_cast<float>(bottom - top);
    }
    const float numerator = work.numerator, offset = work.offset;
    for (int x = 0; x < wide; ++x)
        gains[x] = numerator / (__builtin_sqrtf(gx[x] * gx[x] + gy[x] * gy[x]) + offset);
}

/// Pixels first .. last - 1 of a row have gradients other than 0.
struct Inked {
    int first, last;
};

/// The shares of each direction in the gradients of a row: cols × 16. All numbers are integers below 2²⁴, so floats
/// are exact.
Inked row_of_shares(const LaneHistograms& work) {
    const float *gx = work.gradient_x, *gy = work.gradient_y, *gains = work.gains;
    Inked inked{0, work.cols};
    while (inked.first < inked.last && gx[inked.first] == 0 && gy[inked.first] == 0)
        ++inked.first;
    while (inked.first < inked.last && gx[inked.last - 1] == 0 && gy[inked.last - 1] == 0)
        --inked.last;
    float* __restrict shares_of_row = work.shares;
    for (int group = 0; group < groups; ++group) {
        const int lane = group * lanes;
        const float* next = work.directions + lane;
        const FloatLanes before_x = load(next), before_y = load(next + histogram_lanes);
        const FloatLanes after_x = load(next + 2 * histogram_lanes),
                         after_y = load(next + 3 * histogram_lanes);
        const FloatLanes zero{};
        for (int x = inked.first; x < inked.last; ++x) {
            const FloatLanes from_before = before_x * gy[x] - before_y * gx[x];
            const FloatLanes to_after = after_y * gx[x] - after_x * gy[x];
            FloatLanes shares = from_before < to_after ? from_before : to_after;
            shares = (shares > zero ? shares : zero) * gains[x];
            store(shares_of_row + std::int64_t{x} * histogram_lanes + lane,
                  __builtin_convertvector(__builtin_convertvector(shares, IntLanes), FloatLanes));
        }
    }
    return inked;
}

/// Sums the shares of a row in the cells of the row, and adds these to the rows of cells that row y contributes to.
void add_row_to_cells(const LaneHistograms& work, Inked inked, int y) {
    const Span rows = work.row_cells[y];
    const std::int64_t row_size = std::int64_t{work.cell_cols} * histogram_lanes;
    const float* row_weights = work.row_weights + rows.weights;
    float* sums = work.sums + rows.first * row_size;
    for (int cell = 0; cell < work.cell_cols; ++cell) {
        const Span span = work.cells[cell];
        const float* weights = work.col_weights + span.weights - span.first;
        const int first = span.first > inked.first ? span.first : inked.first;
        const int end = span.first + span.count, last = end < inked.last ? end : inked.last;
        if (first >= last) continue;
        for (int lane = 0; lane < histogram_lanes; lane += lanes) {
            const float* shares = work.shares + lane;
            FloatLanes sum{};
            for (int x = first; x < last; ++x)
                sum += load(shares + std::int64_t{x} * histogram_lanes) * weights[x];
            for (int i = 0; i < rows.count; ++i) {
                float* to = sums + i * row_size + cell * histogram_lanes + lane;
                store(to, load(to) + sum * row_weights[i]);
            }
        }
    }
}

/// The square roots, rounded: adding 1.5 · 2²³ and subtracting it rounds to the nearest integer, ties to even.
void write_features(float* __restrict sums, std::int64_t size, float scale, std::uint8_t* __restrict out) {
    constexpr float rounder = 12582912;
    for (std::int64_t i = 0; i < size; ++i) {
        const float feature = (__builtin_sqrtf(sums[i]) * scale + rounder) - rounder;
        sums[i] = feature < 255 ? feature : 255;
    }
    for (std::int64_t i = 0; i < size; i += lanes) {
        const ByteLanes bytes =
            __builtin_convertvector(__builtin_convertvector(load(sums + i), IntLanes), ByteLanes);
        std::memcpy(out + i, &bytes, sizeof bytes);
    }
}

void sum_histograms(const LaneHistograms& work, const std::uint8_t* in, std::uint8_t* out) {
    const int cols = work.cols, wide = work.wide;
    std::memset(work.bytes, 0, static_cast<std::size_t>(wide));
    for (int y = 0; y < work.rows; ++y)
        widen(in + std::int64_t{y} * cols, cols, wide, work.bytes,
              work.padded + std::int64_t{y + 1} * (wide + 2) + 1);
    const std::int64_t size = std::int64_t{work.cell_rows} * work.cell_cols * histogram_lanes;
    std::memset(work.sums, 0, static_cast<std::size_t>(size) * sizeof(float));
    for (int y = 0; y < work.rows; ++y) {
        row_of_gradients(work, y);
        const Inked inked = row_of_shares(work);
        if (inked.first < inked.last) add_row_to_cells(work, inked, y);
    }
    write_features(work.sums, size, work.root_scale, out);
}

}  // namespace
}  // namespace knn::cpu
