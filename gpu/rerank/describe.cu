// Descriptors of images of any shape (data/rerank/descriptor.h).
//
// in       n × rows · cols bytes, device memory, any pitch
// out      n descriptors (kernels.h)
// scratch  per image, in shared memory or workspace: the image without its slant (rows × cols bytes); for gradients
//          their levels (rows × cols pairs of signed bytes), for cells the shares of the 8 directions of each pixel
//          (rows × cols × 8 16-bit numbers) and their weighted sums down the columns (cell rows × cols × 8)
// launch   a block of 4 warps takes an image after the other; a warp takes every fourth row, a lane every 32nd column
// exact    the moments are sums of integers; the rest are the functions that define the descriptor. Sums down the
//          columns are below 32 · 181 / 128 · 1,020 < 2¹⁶, so two of them are added in one 32-bit word.
// work     about 10,000 instructions of a warp per image of 28 × 28 pixels for both parts

#include "data/transform/histograms.h"
#include "gpu/rerank/kernels.h"
#include "gpu/transform/deskew.cuh"
#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

constexpr int describe_warps = 4, describe_threads = describe_warps * warp_size;

constexpr std::size_t aligned(std::int64_t bytes) {
    return static_cast<std::size_t>(bytes + 15) / 16 * 16;
}

/// Where the arrays of an image lie in its scratch memory; the image itself comes first. Levels and shares are not there
/// at the same time.
struct Scratch {
    std::size_t pixels = 0, columns = 0, bytes = 0;

    Scratch(ImageShape shape, const DescriptorForm& form) {
        const std::int64_t dim = shape.dim();
        pixels = aligned(dim);
        columns = pixels + aligned((form.cells.bytes > 0 ? cell_bins * 2 : 2) * dim);
        bytes = columns;
        if (form.cells.bytes > 0)
            bytes += aligned(std::int64_t{form.cells.rows} * shape.cols * cell_bins * 2);
    }
};

/// A weight of the cells; `tap` is known at compile time where it is called.
__device__ int cell_weight(int tap) {
    constexpr int weights[cell_taps] = {cell_weights[0], cell_weights[1], cell_weights[2],
                                        cell_weights[3], cell_weights[4], cell_weights[5]};
    return weights[tap];
}

__device__ void describe_gradients(const GradientForm& form, const std::uint8_t* straight, char2* levels,
                                   std::uint8_t* out) {
    const ImageShape shape = form.image;
    for_pixels<describe_threads>(shape.cols, shape.rows, [&](int x, int y) {
        const Gradient g = gradient_at(straight, shape, Derivative::sobel, x, y);
        const int divisor = gradient_divisor(g.x, g.y);
        levels[y * shape.cols + x] = make_char2(static_cast<signed char>(gradient_level(g.x, divisor)),
                                                static_cast<signed char>(gradient_level(g.y, divisor)));
    });
    __syncthreads();
    for_pixels<describe_threads>(shape.cols, shape.rows, [&](int x, int y) {
        int2 sum = make_int2(0, 0);
        for (int v = y; v < min(y + gradient_step, shape.rows); ++v)
            for (int u = x; u < min(x + gradient_step, shape.cols); ++u) {
                const char2 level = levels[v * shape.cols + u];
                sum.x += level.x;
                sum.y += level.y;
            }
        reinterpret_cast<char2*>(out)[form.at(x, y)] =
            make_char2(static_cast<signed char>(sum.x), static_cast<signed char>(sum.y));
    });
    __syncthreads();
}

/// The shares of a gradient in all directions, 16 bits each.
__device__ uint4 shares_of(const Gradient& g) {
    const auto two = [&](int direction) {
        return static_cast<unsigned>(direction_share(direction, g.x, g.y)) |
               static_cast<unsigned>(direction_share(direction + 1, g.x, g.y)) << 16;
    };
    return make_uint4(two(0), two(2), two(4), two(6));
}

__device__ void describe_cells(const CellForm& form, ImageShape shape, const std::uint8_t* straight,
                               uint4* shares, uint4* columns, std::uint8_t* out) {
    for_pixels<describe_threads>(shape.cols, shape.rows, [&](int x, int y) {
        shares[y * shape.cols + x] = shares_of(gradient_at(straight, shape, Derivative::sobel, x, y));
    });
    __syncthreads();
    for_pixels<describe_threads>(shape.cols, form.rows, [&](int x, int row) {
        uint4 sum = make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < cell_taps; ++i) {
            const int y = cell_pixels * row - 2 + i;
            if (y < 0 || y >= shape.rows) continue;
            const uint4 share = shares[y * shape.cols + x];
            const auto weight = static_cast<unsigned>(cell_weight(i));
            sum.x += weight * share.x;
            sum.y += weight * share.y;
            sum.z += weight * share.z;
            sum.w += weight * share.w;
        }
        columns[row * shape.cols + x] = sum;
    });
    __syncthreads();
    for_pixels<describe_threads>(form.cols, form.rows, [&](int col, int row) {
        int sums[cell_bins] = {};
#pragma unroll
        for (int i = 0; i < cell_taps; ++i) {
            const int x = cell_pixels * col - 2 + i;
            if (x < 0 || x >= shape.cols) continue;
            const uint4 column = columns[row * shape.cols + x];
            const unsigned words[4] = {column.x, column.y, column.z, column.w};
#pragma unroll
            for (int bin = 0; bin < cell_bins; ++bin)
                sums[bin] += cell_weight(i) *
                             static_cast<int>(bin % 2 == 0 ? words[bin / 2] & 0xffffu : words[bin / 2] >> 16);
        }
        std::uint8_t values[cell_bins];
#pragma unroll
        for (int bin = 0; bin < cell_bins; ++bin)
            values[bin] = cell_value(sums[bin]);
        reinterpret_cast<uint2*>(out)[form.at(col, row)] =
            make_uint2(values[0] | values[1] << 8 | values[2] << 16 | static_cast<unsigned>(values[3]) << 24,
                       values[4] | values[5] << 8 | values[6] << 16 | static_cast<unsigned>(values[7]) << 24);
    });
    __syncthreads();
}

__global__ void __launch_bounds__(describe_threads)
    describe_kernel(ByteRows images, ImageShape shape, DescriptorForm form, DescriptorView out,
                    Scratch scratch, std::uint8_t* d_workspace) {
    extern __shared__ uint4 shared[];
    auto* memory = d_workspace != nullptr ? d_workspace + blockIdx.x * scratch.bytes
                                          : reinterpret_cast<std::uint8_t*>(shared);
    std::uint8_t *straight = memory, *pixels = memory + scratch.pixels;
    for (std::int64_t n = blockIdx.x; n < images.n; n += gridDim.x) {
        const std::uint8_t* image = images.row(n);
        const Moments moments = moments_in_block<describe_threads>(image, shape);
        if (form.gradients.bytes > 0) {
            straighten<describe_threads>(image, shape, moments, gradients_slant_part, straight);
            describe_gradients(form.gradients, straight, reinterpret_cast<char2*>(pixels),
                               out.d_gradients + n * form.gradients.bytes);
        }
        if (form.cells.bytes > 0) {
            straighten<describe_threads>(image, shape, moments, cells_slant_part, straight);
            describe_cells(form.cells, shape, straight, reinterpret_cast<uint4*>(pixels),
                           reinterpret_cast<uint4*>(memory + scratch.columns),
                           out.d_cells + n * form.cells.bytes);
        }
    }
}

}  // namespace

std::size_t describe_workspace_bytes(ImageShape shape, const DescriptorForm& form, std::int64_t n) {
    return ScratchPlan(Scratch(shape, form).bytes, n).workspace_bytes();
}

void enqueue_describe(const ByteRows& images, ImageShape shape, const DescriptorForm& form,
                      const DescriptorView& out, void* d_workspace, cudaStream_t stream) {
    require(images.cols == shape.dim(), "images of the shape");
    if (images.n == 0) return;
    const Scratch scratch(shape, form);
    const ScratchPlan plan(scratch.bytes, images.n);
    describe_kernel<<<grid_size(plan.blocks), describe_threads, plan.shared_bytes(), stream>>>(
        images, shape, form, out, scratch,
        plan.in_shared() ? nullptr : static_cast<std::uint8_t*>(d_workspace));
    check_launch("launching describe");
}

}  // namespace knn::gpu
