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

/// Rows are processed in whole registers: `wide` is the number of columns rounded up.
inline constexpr int wide_step = 16;

struct Shear {
    std::int32_t rows, cols, wide;
    std::int32_t down_first, down_part;  ///< the same for columns
    const ShearedRow* along;             ///< rows
    std::int32_t *above, *below, *row;   ///< memory: wide, wide, 3 · wide + 2
    std::uint8_t *bytes, *sheared;       ///< wide each
};

/// The rows of cells that a row of pixels contributes to, or the columns of pixels that contribute to a cell; `weights`
/// is the index of the first weight.
struct Span {
    std::int32_t first, count, weights;
};

/// Histograms of 16 signed directions of Sobel gradients.
struct LaneHistograms {
    std::int32_t rows, cols, wide, cell_rows, cell_cols;
    float numerator, offset;  ///< of the gain, offset > 0
    float root_scale;
    const float *before_x, *before_y, *after_x, *after_y;  ///< 16: of the directions next to that of the lane
    const Span* row_cells;                                 ///< rows
    const Span* cells;                                     ///< cell_cols
    const float *row_weights, *col_weights;
    std::int32_t* padded;                    ///< (rows + 2) × (wide + 2), zeros around the image
    std::uint8_t* bytes;                     ///< wide
    float *gradient_x, *gradient_y, *gains;  ///< wide
    float *shares, *sums;                    ///< cols × 16, cell_rows × cell_cols × 16
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
