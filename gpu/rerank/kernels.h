#pragma once
/// The kernels of re-ranking: descriptors of images, the two parts of the distances of pairs, and the order of
/// candidates.

#include <cuda_runtime.h>

#include <functional>

#include "data/rerank/descriptor.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

// How descriptors (data/rerank/descriptor.h) lie in device memory: the two parts in arrays of their own, with padding that
// is 0. A row of a plane of gradients ends with two more pairs, a row of cells has one more cell at each end. So images of
// 28 × 28 pixels, which distortion28 and cells28 take, have 1,792 bytes of each:
//   gradients   4 planes × 14 rows × 16 pairs
//   cells       14 rows × 16 cells × 8 bins

struct GradientForm {
    ImageShape image;
    int rows = 0, pitch = 0;  ///< of each plane; pitch: of a row, in pairs
    std::int64_t bytes = 0;   ///< of an image; 0: there is no such part

    /// The pair (x, y) of an image that has it.
    KNN_HOST_DEVICE std::int64_t at(int x, int y) const {
        const int plane = y % gradient_step * gradient_step + x % gradient_step;
        return (std::int64_t{plane} * rows + y / gradient_step) * pitch + x / gradient_step;
    }
};

struct CellForm {
    int rows = 0, cols = 0, pitch = 0;  ///< pitch: of a row, in cells
    std::int64_t bytes = 0;             ///< of an image; 0: there is no such part

    KNN_HOST_DEVICE std::int64_t at(int col, int row) const { return std::int64_t{row} * pitch + col + 1; }
};

/// Sizes of the forms for 28 × 28 pixels.
inline constexpr int side28 = 14, pitch28 = 16, bytes28 = 1792;

struct DescriptorForm {
    GradientForm gradients;
    CellForm cells;

    DescriptorForm(const RerankSpec& rerank, ImageShape image);
};

/// Some images' descriptors on the device.
struct DescriptorView {
    std::uint8_t* d_gradients = nullptr;  ///< an image has form.gradients.bytes
    std::uint8_t* d_cells = nullptr;      ///< and form.cells.bytes
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

/// Queues a task.
using PairLaunch = std::function<void(const PairTask& task, cudaStream_t stream)>;

// Each loads its kernel onto the current device (load_kernels) and returns its launch.

/// For images of 28 × 28 pixels, in the form for them.
PairLaunch distortion28();
PairLaunch cells28();

/// For any images, in plain loops.
PairLaunch plain_distortion(const GradientForm& form);
PairLaunch plain_cells(const CellForm& form);

/// The out.k first of each query's candidates by (score, index), 1 <= out.k <= candidates.k <= max_device_k. d_density: a
/// factor for each training image (data/rerank/density.h), or null.
void enqueue_order(const NeighborRows& candidates, const std::uint32_t* d_scores,
                   const std::uint32_t* d_density, const NeighborRows& out, cudaStream_t stream);

/// Loads its kernel onto the current device (load_kernels).
void load_order();

}  // namespace knn::gpu
