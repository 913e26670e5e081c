#pragma once
/// The kernels of re-ranking: descriptors of images, the two parts of the distances of pairs, and the order of
/// candidates.

#include <cuda_runtime.h>

#include "data/rerank/descriptor.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

// How descriptors (data/rerank/descriptor.h) lie in device memory: the two parts in arrays of their own, each in the
// form of its kernel. Bytes that no point and no cell has are 0.
//
// As the definition has them for most images. For 28 × 28 pixels (the kernels distortion28, cells28), 1,792 bytes each:
//   gradients, step 2   4 planes × 14 rows × 16 pairs, of which the last two are 0
//   cells               14 rows × 16 cells × 8 bins, of which the first and the last are 0: neighbors outside

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

/// Memory that enqueue_describe uses for n images of the form.
std::size_t describe_workspace_bytes(ImageShape shape, const DescriptorForm& form, std::int64_t n);

/// The descriptors of images of this shape, as data/rerank/descriptor.h defines them. What no point or cell has is not
/// written. `out` has room for all of them.
void enqueue_describe(const ByteRows& images, ImageShape shape, const DescriptorForm& form,
                      const DescriptorView& out, void* d_workspace, cudaStream_t stream);

/// One part of the distance of each query to each of its candidates.
struct PairTask {
    const std::uint8_t* d_query = nullptr;  ///< descriptors of candidates.n_query images
    const std::uint8_t* d_train = nullptr;  ///< descriptors of all images that candidates name
    NeighborRows candidates;                ///< only their indices are read
    std::uint32_t* d_scores = nullptr;      ///< n_query × candidates.k
    bool add = false;                       ///< scores += distance, else scores = distance
};

/// Of images of 28 × 28 pixels, in the form for them.
void enqueue_distortion28(const PairTask& task, cudaStream_t stream);
void enqueue_cells28(const PairTask& task, cudaStream_t stream);

/// Of any images, in plain loops over any form.
void enqueue_plain_distortion(const PairTask& task, const GradientForm& form, cudaStream_t stream);
void enqueue_plain_cells(const PairTask& task, const CellForm& form, cudaStream_t stream);

/// The out.k first of each query's candidates by (score, index), 1 <= out.k <= candidates.k <= max_k. d_density: a
/// factor for each training image (data/rerank/density.h), or null.
void enqueue_order(const NeighborRows& candidates, const std::uint32_t* d_scores,
                   const std::uint32_t* d_density, const NeighborRows& out, cudaStream_t stream);

/// Load the kernels onto the current device (load_kernels).
void load_describe();
void load_distortion28();
void load_cells28();
void load_plain_pairs();
void load_order();

}  // namespace knn::gpu
