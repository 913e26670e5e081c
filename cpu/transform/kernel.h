#pragma once
/// The steps of `gradients` for one image, by instruction set. All give the bytes that data/transform defines.
/// Pointers and numbers alone: a function of a shared header that a kernel's file compiled with its own flags could
/// end up in the whole program.

#include <cstdint>

namespace knn::cpu {

/// Directions, one per lane.
inline constexpr int histogram_lanes = 16;

/// A row of the result of a shear: 256 times what follows `first`, the pixel that it begins at.
struct ShearedRow {
    std::int32_t first, part;
};

struct Shear {
    std::int32_t rows, cols;
    std::int32_t down_first, down_part;  ///< the same for columns
    const ShearedRow* along;             ///< rows
    std::int32_t* row;                   ///< 3 · cols + 2 numbers of memory
};

/// The cells that a pixel contributes to, and where their weights begin.
struct PixelCells {
    std::int32_t first, count, weights;
};

/// Histograms of 16 signed directions of Sobel gradients.
struct LaneHistograms {
    std::int32_t rows, cols, cell_rows, cell_cols;
    float numerator, offset;  ///< of the gain, offset > 0
    float root_scale;
    const float *before_x, *before_y, *after_x, *after_y;  ///< 16: of the directions next to that of the lane
    const PixelCells *row_cells, *col_cells;               ///< rows, cols
    const float *row_weights, *col_weights;
    std::int32_t* padded;                    ///< (rows + 2) × (cols + 2), zeros at the border
    float *gradient_x, *gradient_y, *gains;  ///< cols
    float *row_sums, *sums;                  ///< cell_cols × 16, cell_rows × cell_cols × 16
};

struct TransformKernel {
    const char* name;
    void (*shear)(const Shear& shear, const std::uint8_t* in, std::uint8_t* out);
    void (*histograms)(const LaneHistograms& work, const std::uint8_t* in, std::uint8_t* out);
};
extern const TransformKernel transform_plain, transform_avx2, transform_avx512;

/// The one for the instruction set of a search. Throws UsageError (bad MNIST_KNN_ISA).
const TransformKernel& chosen_transform_kernel();

}  // namespace knn::cpu
