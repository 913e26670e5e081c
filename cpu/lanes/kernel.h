#pragma once
/// Vector kernels by instruction set: the steps of `gradients` for one image; one query of a re-ranking against as many
/// candidates as a vector has 16-bit lanes; the descriptor of one image. All give what data/transform and data/rerank
/// define. Pointers and numbers alone: a function of a shared header that a kernel's file compiled with its own flags could
/// end up in the whole program.

#include <cstdint>

namespace knn::cpu {

// --- transforms ---

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
    const float* directions;  ///< 4 × 16: x, y of the direction before the lane's, x, y of that after
    const Span* row_cells;    ///< rows
    const Span* cells;        ///< cell_cols
    const float *row_weights, *col_weights;
    std::int32_t* padded;                    ///< (rows + 2) × (wide + 2), zeros around the image
    std::uint8_t* bytes;                     ///< wide
    float *gradient_x, *gradient_y, *gains;  ///< wide
    float *shares, *sums;                    ///< cols × 16, cell_rows × cell_cols × 16
};

struct TransformKernel {
    void (*shear)(const Shear& shear, const std::uint8_t* in, std::uint8_t* out);
    void (*histograms)(const LaneHistograms& work, const std::uint8_t* in, std::uint8_t* out);
};

// --- re-ranking ---

/// Sizes of the arrays below. A border of zeros surrounds the planes and the cells, so that displacements and contexts
/// read outside of the image.
struct RerankShape {
    static constexpr std::int32_t step = 2, window = 2, context = 1;  ///< of distortion
    static constexpr std::int32_t border = 2;                         ///< of a plane; of the cells: 1
    std::int32_t rows, cols;
    std::int32_t grid_rows, grid_cols;  ///< ⌈rows / 2⌉, ⌈cols / 2⌉: the grid of distortion, and the cells
};

/// A descriptor's parts; null: without.
struct DescriptorParts {
    const std::uint8_t* gradients;
    const std::uint8_t* cells;
};

/// The query's descriptor, each 16-bit unit twice in 32 bits, which is the fastest to broadcast; the candidates', `lanes`
/// units of 16 bits after one another; and memory for sums. Aligned to 64 bytes.
struct RerankArrays {
    std::uint32_t* query_gradients;  ///< plane (0, 0): (grid_rows + 2 · context) × (grid_cols + 2 · context)
    std::uint32_t* query_cells;      ///< grid_rows × grid_cols × 4, bins multiplied by 2
    std::uint16_t* query_cell_terms;  ///< grid_rows × grid_cols: Σ h²
    std::uint16_t* planes;      ///< step² × (grid_rows + 2 · border) × (grid_cols + 2 · border) × lanes
    std::uint16_t* cells;       ///< (grid_rows + 2) × (grid_cols + 2) × 4 × lanes
    std::uint16_t* cell_terms;  ///< (grid_rows + 2) × (grid_cols + 2) × lanes: Σ h²
    std::uint16_t* least;       ///< grid_rows × grid_cols × lanes
    std::uint16_t* squares;     ///< 2 · context + 1 rows of (grid_cols + 2 · context) × lanes
};

/// Pixels that loops over rows treat at once.
inline constexpr int row_block = 32;

/// Memory for the descriptor of one image. Rows are `stride` long, a multiple of row_block and at least cols + 4; what
/// is behind column cols - 1 is 0. Aligned to 64 bytes.
struct DescribeWork {
    std::int64_t stride;
    std::int16_t* padded;   ///< (rows + 2) × stride and 2 more, zeros around the image
    std::int16_t *gx, *gy;  ///< stride: the gradients of a row
    std::int8_t* levels;    ///< (rows + 1) × stride × 2 and 2 more, zeros in the last row
    std::int8_t* boxes;     ///< stride × 2: the sums of a row of levels
    std::uint16_t* shares;  ///< rows × 8 × stride
    std::uint16_t* column;  ///< 2 + 8 × stride + 4: shares summed down the columns, zeros at both ends
    std::uint8_t* values;   ///< 8 × stride
};

struct RerankKernel {
    int lanes;
    /// Writes `lanes` candidates side by side.
    void (*pack)(const RerankShape& shape, const DescriptorParts* candidates, const RerankArrays& to);
    /// Adds the distances to scores[lanes].
    void (*distortion)(const RerankShape& shape, const RerankArrays& work, std::uint32_t* scores);
    void (*cells)(const RerankShape& shape, const RerankArrays& work, std::uint32_t* scores);
    /// The two parts of a descriptor, of an image without its slant.
    void (*describe_gradients)(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                               std::uint8_t* to);
    void (*describe_cells)(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                           std::uint8_t* to);
};

/// Those of one instruction set.
struct LaneKernels {
    TransformKernel transform;
    RerankKernel rerank;
};
extern const LaneKernels lanes_plain, lanes_avx2, lanes_avx512;

/// Those for the instruction set of a search. Throws UsageError (bad MNIST_KNN_ISA).
const LaneKernels& chosen_lanes();

}  // namespace knn::cpu
