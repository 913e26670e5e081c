#pragma once
/// How descriptors (data/rerank/descriptor.h) lie in device memory: the two parts in arrays of their own, each in the
/// form of its kernel. Bytes that no point and no cell has are 0.
///
/// As the definition has them for most images. For 28 × 28 pixels (the kernels distortion28, cells28), 1,792 bytes each:
///   gradients, step 2   4 planes × 14 rows × 16 pairs, of which the last two are 0
///   cells               14 rows × 16 cells × 8 bins, of which the first and the last are 0: neighbors outside

#include "data/rerank/descriptor.h"

namespace knn::gpu {

struct GradientForm {
    ImageShape image;
    std::int64_t planes[gradient_step * gradient_step] =
        {};                         ///< where plane (a, b) begins: [2 a + b], in pairs
    int pitch[gradient_step] = {};  ///< of a row of planes (·, b), in pairs
    std::int64_t bytes = 0;         ///< of an image; 0: there is no such part

    /// The pair (x, y) of an image that has it.
    KNN_HOST_DEVICE std::int64_t at(int x, int y) const {
        const int a = y % gradient_step, b = x % gradient_step;
        return planes[a * gradient_step + b] + std::int64_t{y / gradient_step} * pitch[b] + x / gradient_step;
    }
};

struct CellForm {
    int rows = 0, cols = 0;
    std::int64_t first = 0;  ///< where cell (0, 0) is, in cells
    int pitch = 0;           ///< of a row, in cells
    std::int64_t bytes = 0;  ///< of an image; 0: there is no such part

    KNN_HOST_DEVICE std::int64_t at(int col, int row) const {
        return first + std::int64_t{row} * pitch + col;
    }
};

/// Sizes of the forms for 28 × 28 pixels.
inline constexpr int side28 = 14, pitch28 = 16, bytes28 = 1792;

/// Whether the special kernels take these.
bool takes_28(ImageShape image);

struct DescriptorForm {
    GradientForm gradients;
    CellForm cells;

    DescriptorForm() = default;
    /// `plain`: as the definition has it, even where there is a special kernel.
    DescriptorForm(const Rerank& rerank, ImageShape image, bool plain = false);
};

/// Some images' descriptors on the device.
struct DescriptorView {
    std::uint8_t* d_gradients = nullptr;  ///< count × form.gradients.bytes
    std::uint8_t* d_cells = nullptr;      ///< count × form.cells.bytes
    std::int64_t count = 0;
};

}  // namespace knn::gpu
