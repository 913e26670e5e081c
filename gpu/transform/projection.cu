// `pca:N`: weighted sums of the bytes of a row, quantized (data/transform/projection.h).
//
// in       n × dim bytes, device memory, any pitch
// out      n × n_out bytes, any pitch
// tables   n_out × dim weights of 16 bits, n_out centers of 32
// launch   a block of 16 × 16 threads computes 64 components of 64 rows, 4 × 4 per thread, from tiles of 32 bytes of
//          each in shared memory; grid: tiles of rows × tiles of components
// exact    sums of integers: 2¹⁴ · 255 · √dim < 2³¹
// work     n · n_out · dim / 2 operations of two 16 × 8-bit products each (dp2a)

#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

constexpr int side = 16, projection_threads = side * side, each = 4, tile = side * each;
constexpr int depth = 32, quads = depth / 4;  // bytes of a row in a tile, and groups of 4 of them

/// sum += a (two signed 16-bit numbers) · the low or high two of b (four bytes)
__device__ int low_products(unsigned a, unsigned b, int sum) {
    asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}
__device__ int high_products(unsigned a, unsigned b, int sum) {
    asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/// A projection on the device.
struct Weights16 {
    const std::int16_t* d_weights;
    const std::int32_t* d_centers;
    std::int64_t n_out, scale;
};

struct Tiles {
    uchar4 rows[quads][tile];
    short4 weights[quads][tile];
};

/// The next tiles; zeros beyond the ends.
__device__ void load_tiles(Tiles& tiles, const ByteRows& in, const Weights16& projection,
                           std::int64_t begin) {
    for (int i = static_cast<int>(threadIdx.x); i < tile * depth; i += projection_threads) {
        const int of_tile = i / depth, at = i % depth;
        const std::int64_t j = begin + at;
        const std::int64_t n = std::int64_t{blockIdx.x} * tile + of_tile;
        const std::int64_t component = std::int64_t{blockIdx.y} * tile + of_tile;
        reinterpret_cast<std::uint8_t*>(&tiles.rows[at / 4][of_tile])[at % 4] =
            n < in.n && j < in.cols ? in.row(n)[j] : std::uint8_t{0};
        reinterpret_cast<std::int16_t*>(&tiles.weights[at / 4][of_tile])[at % 4] =
            component < projection.n_out && j < in.cols ? projection.d_weights[component * in.cols + j]
                                                        : std::int16_t{0};
    }
}

__global__ void __launch_bounds__(projection_threads)
    projection_kernel(ByteRows in, ByteRows out, Weights16 projection) {
    __shared__ __align__(16) Tiles tiles;
    const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
    int sums[each][each] = {};
    for (std::int64_t begin = 0; begin < in.cols; begin += depth) {
        load_tiles(tiles, in, projection, begin);
        __syncthreads();
#pragma unroll
        for (int quad = 0; quad < quads; ++quad) {
            const uint4 rows = *reinterpret_cast<const uint4*>(&tiles.rows[quad][each * y]);
            const unsigned row[each] = {rows.x, rows.y, rows.z, rows.w};
#pragma unroll
            for (int c = 0; c < each; ++c) {
                const uint2 weights = *reinterpret_cast<const uint2*>(&tiles.weights[quad][x + side * c]);
#pragma unroll
                for (int r = 0; r < each; ++r)
                    sums[r][c] =
                        high_products(weights.y, row[r], low_products(weights.x, row[r], sums[r][c]));
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < each; ++r)
        for (int c = 0; c < each; ++c) {
            const std::int64_t n = std::int64_t{blockIdx.x} * tile + each * y + r;
            const std::int64_t component = std::int64_t{blockIdx.y} * tile + x + side * c;
            if (n < in.n && component < projection.n_out)
                out.row(n)[component] =
                    quantized(sums[r][c] - projection.d_centers[component], projection.scale);
        }
}

}  // namespace

std::optional<StepLaunch> launch_projection(Steps steps) {
    const auto* projection = std::get_if<Projection>(&steps.front().what);
    if (projection == nullptr) return std::nullopt;
    load_kernels(projection_kernel);
    const auto enqueue = [weights = table_of(projection->weights), centers = table_of(projection->centers),
                          n_out = projection->n_out,
                          scale = projection->scale](const StepArrays& arrays, cudaStream_t stream) {
        const dim3 grid(grid_size(divide_up(arrays.in.n, tile)), grid_size(divide_up(n_out, tile)));
        projection_kernel<<<grid, projection_threads, 0, stream>>>(
            arrays.in, arrays.out, Weights16{weights->d_data(), centers->d_data(), n_out, scale});
        check_launch("launching projection");
    };
    return StepLaunch{.kernel = "projection", .enqueue = enqueue};
}

}  // namespace knn::gpu
