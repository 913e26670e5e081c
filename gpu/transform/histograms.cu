// Histograms of oriented gradients of any kind, for images of any shape (data/transform/histograms.h): `hog`, and
// `gradients` where gradients.cu does not take the shape.
//
// in       n × rows · cols bytes, device memory, any pitch
// out      n × features, any pitch
// tables   Layout: directions, and the cells of both axes with their weights
// scratch  per image, in shared memory or workspace: the shares of each pixel's two directions, and for `hog` the sums
//          of all cells, rows × cols × bins
// launch   a block of 128 threads takes an image after the other. Shares: one thread per pixel. Cells: one thread per
//          cell, whose bins lie in a column of shared memory, so that threads have different banks. Blocks: one
//          warp per block of cells.
// exact    the functions that define the step; sums of integers below 2²⁴
// work     about 10 operations per pixel and direction, 12 per pixel and cell that it contributes to
// source   Dalal and Triggs, "Histograms of oriented gradients for human detection", 2005

#include "gpu/runtime/warp.cuh"
#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

constexpr int histograms_threads = 128, max_bins = 32;

/// A pixel's gradient lies between two directions, the only ones that get a share: bin << 24 | share.
struct Shares {
    std::uint32_t of_bin[2];
};
constexpr int share_bits = 24;
constexpr std::uint32_t share_mask = (1u << share_bits) - 1;

/// Cells along an axis, in device memory.
struct DeviceAxis {
    const CellSpan* d_cells;
    const std::int32_t* d_weights;
    int count;
};

struct DeviceHistograms {
    ImageShape image;
    Derivative derivative;
    const Direction* d_directions;
    int n_directions, bins;
    float numerator, offset;
    DeviceAxis rows, cols;
    int block_rows, block_cols;  ///< 0: cells are not normalized in blocks

    __device__ int cells() const { return rows.count * cols.count; }
    __device__ int dim() const { return image.rows * image.cols; }
};

__device__ Shares shares_at(const DeviceHistograms& histograms, const std::uint8_t* image, int x, int y) {
    Shares shares{};
    const Gradient g = gradient_at(image, histograms.image, histograms.derivative, x, y);
    if (g.x == 0 && g.y == 0) return shares;
    const float gain_of_g = gain(g, histograms.numerator, histograms.offset);
    const int n = histograms.n_directions;
    Direction before = histograms.d_directions[n - 1], here = histograms.d_directions[0];
    for (int i = 0; i < n; ++i) {
        const Direction after = histograms.d_directions[i + 1 < n ? i + 1 : 0];
        const auto value = static_cast<std::uint32_t>(share(g, before, after, gain_of_g));
        if (value > 0) {
            shares.of_bin[1] = shares.of_bin[0];
            shares.of_bin[0] = static_cast<std::uint32_t>(i % histograms.bins) << share_bits | value;
        }
        before = here;
        here = after;
    }
    return shares;
}

/// By one thread: the sums of cell (r, c); bin i at sums[i · threads].
__device__ void sum_cell(const DeviceHistograms& histograms, const Shares* shares, int r, int c, int* sums) {
    for (int i = 0; i < histograms.bins; ++i)
        sums[i * histograms_threads] = 0;
    const CellSpan down = histograms.rows.d_cells[r], along = histograms.cols.d_cells[c];
    for (int y = 0; y < down.count; ++y) {
        const int row_weight = histograms.rows.d_weights[down.weights + y];
        const Shares* row = shares + (down.first + y) * histograms.image.cols + along.first;
        for (int x = 0; x < along.count; ++x) {
            const int both = row_weight * histograms.cols.d_weights[along.weights + x];
            for (const std::uint32_t of_bin : row[x].of_bin)
                sums[(of_bin >> share_bits) * histograms_threads] +=
                    both * static_cast<int>(of_bin & share_mask);
        }
    }
}

/// By one warp: the features of the block of cells that begins at (r, c).
__device__ void write_block(const DeviceHistograms& histograms, const std::int32_t* cells, int r, int c,
                            std::uint8_t* out) {
    const int bins = histograms.bins, lane = static_cast<int>(threadIdx.x) % warp_size;
    const int size = histograms.block_rows * histograms.block_cols * bins;
    const auto value = [&](int i) -> std::int32_t {
        const int cell = i / bins, at_r = r + cell / histograms.block_cols,
                  at_c = c + cell % histograms.block_cols;
        return cells[(at_r * histograms.cols.count + at_c) * bins + i % bins];
    };
    std::int64_t before = 0, after = 0;
    for (int i = lane; i < size; i += warp_size)
        before += std::int64_t{value(i)} * value(i);
    before = warp_sum(before);
    for (int i = lane; i < size; i += warp_size) {
        const std::int64_t clipped_value = clipped(value(i), before);
        after += clipped_value * clipped_value;
    }
    after = warp_sum(after);
    for (int i = lane; i < size; i += warp_size)
        out[i] = block_feature(clipped(value(i), before), after);
}

/// d_scratch: null: in shared memory, `scratch_bytes` per image.
__global__ void __launch_bounds__(histograms_threads)
    histograms_kernel(ByteRows in, ByteRows out, const __grid_constant__ DeviceHistograms histograms,
                      std::byte* d_scratch, std::size_t scratch_bytes) {
    extern __shared__ __align__(16) std::byte scratch_shared[];
    const int thread = static_cast<int>(threadIdx.x), bins = histograms.bins, dim = histograms.dim();
    std::byte* scratch = d_scratch != nullptr ? d_scratch + blockIdx.x * scratch_bytes
                                              : scratch_shared + max_bins * histograms_threads * sizeof(int);
    int* sums = reinterpret_cast<int*>(scratch_shared) + thread;
    auto* shares = reinterpret_cast<Shares*>(scratch);
    auto* cells = reinterpret_cast<std::int32_t*>(shares + dim);
    const bool blocks = histograms.block_rows > 0;
    for (std::int64_t n = blockIdx.x; n < in.n; n += gridDim.x) {
        const std::uint8_t* image = in.row(n);
        std::uint8_t* to = out.row(n);
        for (int i = thread; i < dim; i += histograms_threads)
            shares[i] = shares_at(histograms, image, i % histograms.image.cols, i / histograms.image.cols);
        __syncthreads();
        for (int cell = thread; cell < histograms.cells(); cell += histograms_threads) {
            sum_cell(histograms, shares, cell / histograms.cols.count, cell % histograms.cols.count, sums);
            for (int i = 0; i < bins; ++i) {
                if (blocks)
                    cells[cell * bins + i] = sums[i * histograms_threads];
                else
                    to[cell * bins + i] = root_feature(sums[i * histograms_threads]);
            }
        }
        __syncthreads();
        if (!blocks) continue;
        const int cols = histograms.cols.count - histograms.block_cols + 1;
        const int n_blocks = (histograms.rows.count - histograms.block_rows + 1) * cols;
        const int size = histograms.block_rows * histograms.block_cols * bins;
        for (int block = thread / warp_size; block < n_blocks; block += histograms_threads / warp_size)
            write_block(histograms, cells, block / cols, block % cols, to + block * size);
        __syncthreads();
    }
}

}  // namespace

std::optional<StepLaunch> launch_histograms(Steps steps) {
    const auto* histograms = std::get_if<Histograms>(&steps.front().what);
    // Directions in steps of less than 90 degrees: at most two get a share.
    if (histograms == nullptr || histograms->directions.size() <= 4 || histograms->bins() > max_bins)
        return std::nullopt;
    load_kernels(histograms_kernel);
    const Axis &rows = histograms->rows, &cols = histograms->cols;
    const auto directions = table_of(histograms->directions);
    const auto row_cells = table_of(rows.cells), col_cells = table_of(cols.cells);
    const auto row_weights = table_of(rows.weights), col_weights = table_of(cols.weights);
    const DeviceHistograms on_device{.image = histograms->image,
                                     .derivative = histograms->derivative,
                                     .d_directions = directions->d_data(),
                                     .n_directions = static_cast<int>(histograms->directions.size()),
                                     .bins = histograms->bins(),
                                     .numerator = histograms->numerator,
                                     .offset = histograms->offset,
                                     .rows = {row_cells->d_data(), row_weights->d_data(), rows.count()},
                                     .cols = {col_cells->d_data(), col_weights->d_data(), cols.count()},
                                     .block_rows = histograms->has_blocks ? histograms->block_rows() : 0,
                                     .block_cols = histograms->has_blocks ? histograms->block_cols() : 0};
    const auto enqueue = [on_device, directions, row_cells, col_cells, row_weights, col_weights](
                             const StepArrays& arrays, cudaStream_t stream) {
        const ScratchPlan& scratch = arrays.scratch;
        const std::size_t shared_bytes = max_bins * histograms_threads * sizeof(int) + scratch.shared_bytes();
        histograms_kernel<<<grid_size(scratch.blocks), histograms_threads, shared_bytes, stream>>>(
            arrays.in, arrays.out, on_device, arrays.d_scratch, scratch.bytes);
        check_launch("launching histograms");
    };
    const auto dim = static_cast<std::size_t>(histograms->image.dim());
    const auto sums =
        static_cast<std::size_t>(histograms->has_blocks ? histograms->cells() * histograms->bins() : 0);
    return StepLaunch{.kernel = "histograms",
                      .enqueue = enqueue,
                      .scratch_bytes = dim * sizeof(Shares) + sums * sizeof(std::int32_t)};
}

}  // namespace knn::gpu
