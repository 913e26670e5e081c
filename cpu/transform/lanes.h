#pragma once
/// The body of the transforms' kernels: included by one file per instruction set, whose compiler flags it gets.
/// Vectors are those of the compiler, which has them on every processor.

#include <cstring>

#include "cpu/transform/kernel.h"

namespace knn::cpu {
namespace {

using FloatLanes [[gnu::vector_size(4 * histogram_lanes)]] = float;
using IntLanes [[gnu::vector_size(4 * histogram_lanes)]] = std::int32_t;

/// Adds `weight` times row `from` of the image, or nothing if that is outside.
void add_row(const Shear& shear, const std::uint8_t* in, int from, int weight, std::int32_t* to) {
    if (from < 0 || from >= shear.rows) return;
    const std::uint8_t* pixels = in + std::int64_t{from} * shear.cols;
    for (int x = 0; x < shear.cols; ++x)
        to[x] += weight * pixels[x];
}

void shear_rows(const Shear& shear, const std::uint8_t* in, std::uint8_t* out) {
    const int cols = shear.cols;
    std::int32_t* middle = shear.row + cols + 1;  // background on both sides
    for (int i = 0; i < 3 * cols + 2; ++i)
        shear.row[i] = 0;
    for (int y = 0; y < shear.rows; ++y) {
        for (int x = 0; x < cols; ++x)
            middle[x] = 0;
        add_row(shear, in, y + shear.down_first, 256 - shear.down_part, middle);
        add_row(shear, in, y + shear.down_first + 1, shear.down_part, middle);
        const int shift = shear.along[y].first, part = shear.along[y].part;
        const std::int32_t* left = middle + (shift < -cols - 1 ? -cols - 1 : shift > cols ? cols : shift);
        std::uint8_t* to = out + std::int64_t{y} * cols;
        for (int x = 0; x < cols; ++x)
            to[x] =
                static_cast<std::uint8_t>(((256 - part) * left[x] + part * left[x + 1] + (1 << 15)) >> 16);
    }
}

/// Gradients and gains of row y. False if all gradients are 0.
bool row_of_gradients(const LaneHistograms& work, int y) {
    const int cols = work.cols, stride = cols + 2;
    const std::int32_t* above = work.padded + std::int64_t{y} * stride;
    const std::int32_t *here = above + stride, *below = here + stride;
    float *gx = work.gradient_x, *gy = work.gradient_y, *gains = work.gains;
    std::int32_t any = 0;
    for (int x = 0; x < cols; ++x) {
        const std::int32_t left = above[x] + 2 * here[x] + below[x];
        const std::int32_t right = above[x + 2] + 2 * here[x + 2] + below[x + 2];
        const std::int32_t top = above[x] + 2 * above[x + 1] + above[x + 2];
        const std::int32_t bottom = below[x] + 2 * below[x + 1] + below[x + 2];
        any |= (right - left) | (bottom - top);
        gx[x] = static_cast<float>(right - left);
        gy[x] = static_cast<float>(bottom - top);
    }
    if (any == 0) return false;
    for (int x = 0; x < cols; ++x)
        gains[x] = work.numerator / (__builtin_sqrtf(gx[x] * gx[x] + gy[x] * gy[x]) + work.offset);
    return true;
}

FloatLanes load(const float* from) {
    FloatLanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

void add_to(float* sums, const FloatLanes& value) {
    const FloatLanes sum = load(sums) + value;
    std::memcpy(sums, &sum, sizeof sum);
}

/// Adds the gradients of a row to `row_sums`. All numbers are integers below 2²⁴, so floats are exact.
void sum_row(const LaneHistograms& work) {
    const FloatLanes before_x = load(work.before_x), before_y = load(work.before_y);
    const FloatLanes after_x = load(work.after_x), after_y = load(work.after_y);
    const FloatLanes zero{};
    for (int x = 0; x < work.cols; ++x) {
        const float gx = work.gradient_x[x], gy = work.gradient_y[x];
        if (gx == 0 && gy == 0) continue;
        const FloatLanes from_before = before_x * gy - before_y * gx, to_after = after_y * gx - after_x * gy;
        FloatLanes shares = from_before < to_after ? from_before : to_after;
        shares = shares > zero ? shares : zero;
        shares =
            __builtin_convertvector(__builtin_convertvector(shares * work.gains[x], IntLanes), FloatLanes);
        const PixelCells& cells = work.col_cells[x];
        for (int i = 0; i < cells.count; ++i)
            add_to(work.row_sums + std::int64_t{cells.first + i} * histogram_lanes,
                   shares * work.col_weights[cells.weights + i]);
    }
}

void sum_histograms(const LaneHistograms& work, const std::uint8_t* in, std::uint8_t* out) {
    const int cols = work.cols;
    for (int y = 0; y < work.rows; ++y) {
        std::int32_t* row = work.padded + std::int64_t{y + 1} * (cols + 2) + 1;
        for (int x = 0; x < cols; ++x)
            row[x] = in[std::int64_t{y} * cols + x];
    }
    const std::int64_t row_size = std::int64_t{work.cell_cols} * histogram_lanes;
    const std::int64_t size = row_size * work.cell_rows;
    std::memset(work.sums, 0, static_cast<std::size_t>(size) * sizeof(float));
    for (int y = 0; y < work.rows; ++y) {
        if (!row_of_gradients(work, y)) continue;
        std::memset(work.row_sums, 0, static_cast<std::size_t>(row_size) * sizeof(float));
        sum_row(work);
        const PixelCells& cells = work.row_cells[y];
        for (int i = 0; i < cells.count; ++i) {
            const float weight = work.row_weights[cells.weights + i];
            float* to = work.sums + (cells.first + i) * row_size;
            for (std::int64_t j = 0; j < row_size; j += histogram_lanes)
                add_to(to + j, load(work.row_sums + j) * weight);
        }
    }
    // Adding 1.5 · 2²³ and subtracting it rounds to the nearest integer, ties to even.
    constexpr float rounder = 12582912;
    for (std::int64_t i = 0; i < size; ++i) {
        const float feature = (__builtin_sqrtf(work.sums[i]) * work.root_scale + rounder) - rounder;
        out[i] = static_cast<std::uint8_t>(feature < 255 ? static_cast<std::int32_t>(feature) : 255);
    }
}

}  // namespace
}  // namespace knn::cpu
