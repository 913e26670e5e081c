#include "cpu/rerank/memory.h"

#include <algorithm>
#include <cstring>

#include "data/core/round_up.h"
#include "data/rerank/distance.h"

namespace knn::cpu {

namespace {

static_assert(RerankShape::step == gradient_step && RerankShape::step == cell_pixels &&
              RerankShape::window == distortion_window && RerankShape::context == distortion_context);

template <class T>
Aligned<T> zeros(std::int64_t size) {
    Aligned<T> array(static_cast<std::size_t>(size));
    std::fill_n(array.data(), size, T{0});
    return array;
}

/// Two bytes of a descriptor in each half of 32 bits.
std::uint32_t twice(const std::uint8_t* pair) {
    std::uint16_t unit;
    std::memcpy(&unit, pair, sizeof unit);
    return unit | std::uint32_t{unit} << 16;
}

}  // namespace

RerankShape rerank_shape(ImageShape image) {
    return {image.rows, image.cols, (image.rows + 1) / 2, (image.cols + 1) / 2};
}

RerankMemory::RerankMemory(const RerankShape& shape, const DescriptorLayout& layout, int lanes) {
    const std::int64_t points = std::int64_t{shape.grid_rows} * shape.grid_cols;
    const std::int64_t padded_cells = std::int64_t{shape.grid_rows + 2} * (shape.grid_cols + 2);
    if (layout.has_gradients) {
        const std::int64_t height = shape.grid_rows + 2 * shape.context;
        const std::int64_t width = shape.grid_cols + 2 * shape.context;
        const std::int64_t plane =
            std::int64_t{shape.grid_rows + 2 * shape.border} * (shape.grid_cols + 2 * shape.border);
        gradients_ = zeros<std::uint32_t>(height * width);
        planes_ = zeros<std::uint16_t>(shape.step * shape.step * plane * lanes);
        least_ = zeros<std::uint16_t>(points * lanes);
        squares_ = zeros<std::uint16_t>((2 * shape.context + 1) * width * lanes);
    }
    if (layout.has_cells) {
        cells_ = zeros<std::uint32_t>(4 * points);
        terms_ = zeros<std::uint16_t>(points);
        packed_cells_ = zeros<std::uint16_t>(4 * padded_cells * lanes);
        packed_terms_ = zeros<std::uint16_t>(padded_cells * lanes);
    }
    query_ = {gradients_.data(), cells_.data(), terms_.data()};
    work_ = {planes_.data(), packed_cells_.data(), packed_terms_.data(), least_.data(), squares_.data()};
}

void RerankMemory::set_query(const RerankShape& shape, const DescriptorLayout& layout,
                             const std::uint8_t* descriptor) {
    if (layout.has_gradients) {
        const std::int64_t width = shape.grid_cols + 2 * shape.context;
        for (int row = 0; row < shape.grid_rows; ++row)
            for (int col = 0; col < shape.grid_cols; ++col)
                gradients_[static_cast<std::size_t>((row + shape.context) * width + col + shape.context)] =
                    twice(descriptor + 2 * (std::int64_t{row} * shape.grid_cols + col));
    }
    if (!layout.has_cells) return;
    const std::uint8_t* cell = descriptor + layout.gradient_bytes();
    const std::size_t cells = static_cast<std::size_t>(layout.cell_bytes() / cell_bins);
    for (std::size_t i = 0; i < cells; ++i, cell += cell_bins) {
        std::uint32_t sum = 0;
        for (std::size_t bin = 0; bin < cell_bins; bin += 2) {
            const std::uint8_t doubled[] = {static_cast<std::uint8_t>(2 * cell[bin]),
                                            static_cast<std::uint8_t>(2 * cell[bin + 1])};
            cells_[4 * i + bin / 2] = twice(doubled);
            sum += static_cast<std::uint32_t>(cell[bin] * cell[bin] + cell[bin + 1] * cell[bin + 1]);
        }
        terms_[i] = static_cast<std::uint16_t>(sum);
    }
}

DescribeMemory::DescribeMemory(const RerankShape& shape) {
    const std::int64_t stride = round_up(shape.cols + 4, row_block), rows = shape.rows;
    padded_ = zeros<std::int16_t>((rows + 2) * stride + row_block);
    gradients_ = zeros<std::int16_t>(2 * stride);
    levels_ = zeros<std::int8_t>(2 * (rows + 2) * stride + row_block);
    shares_ = zeros<std::uint16_t>((rows + 1) * 8 * stride + row_block);
    values_ = zeros<std::uint8_t>(8 * stride);
    work_ = {.stride = stride,
             .padded = padded_.data(),
             .gx = gradients_.data(),
             .gy = gradients_.data() + stride,
             .levels = levels_.data() + 2 * stride,
             .boxes = levels_.data(),
             .shares = shares_.data(),
             .column = shares_.data() + rows * 8 * stride,
             .values = values_.data()};
}

}  // namespace knn::cpu
