// Makes sketches (data/sketch/sketch.h) on tensor cores, the same bytes as sketch_row.
//
// rows      n × dim bytes, pitched rows (multiples of 32 bytes), zero beyond dim: used pixels. The others are zero in all
//           training images, and have no weights
// weights   16 bits, as two matrices of 8-bit numbers: weight = 256 · high + low, low without sign. For each 32 pixels and
//           8 axes, lane l has 4 words: high of axis l / 4 and pixels 4 · (l % 4) + {0..3}, high of those 16 further, and
//           the same of low
// launch    a block for 16 rows; a warp has 32 axes: mma.sync m16n8k32
// exact     integers; |Σ weight · x| < 2³¹ (data/sketch)
// limits    dim <= 4096, as low · x sums to less than 2³¹
// values    a thread per training image

#include "gpu/fused/sketches.h"

#include <cassert>

#include "data/core/round_up.h"
#include "gpu/fused/mma.cuh"

namespace knn::gpu {

namespace {

[[maybe_unused]] constexpr int sketch_threads = 128, rows_per_block = 16, warp_rows = 16, warp_columns = 32;
constexpr int step = 32, axes_at_once = 8, column_tiles = sketch_columns / axes_at_once;
[[maybe_unused]] constexpr int warps_per_row = sketch_columns / warp_columns,
                               warp_tiles = warp_columns / axes_at_once;

/// sums (16 × 8) += a (16 × 32 bytes) · b (8 × 32 bytes)ᵀ; b signed or not.
template <bool is_signed>
__device__ inline void multiply_weights(int (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                        std::uint32_t b1) {
    if constexpr (is_signed)
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    else
        multiply(sums, a, b0, b1);
}

/// What a block gathers of a row.
struct RowSums {
    unsigned long long squares;  // of what rounding took
    int sum, square;
};

__global__ void __launch_bounds__(sketch_threads, 6)
    sketches_kernel(SketchWeights weights, ByteRows rows, bool are_queries, std::uint8_t* d_sketches,
                    SketchTerms* d_terms) {
#if __CUDA_ARCH__ >= 800
    __shared__ RowSums sums[rows_per_block];
    __shared__ __align__(16) std::uint8_t made[rows_per_block][sketch_columns];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size, warp = thread / warp_size;
    const int group = lane / quad, member = lane % quad;
    const std::int64_t block_row = std::int64_t{blockIdx.x} * rows_per_block;
    const int first_row = warp / warps_per_row * warp_rows, first_tile = warp % warps_per_row * warp_tiles;
    if (thread < rows_per_block) sums[thread] = {0, 0, 0};
    __syncthreads();

    int high[warp_tiles][4] = {}, low[warp_tiles][4] = {};
    const int steps = static_cast<int>((rows.cols + step - 1) / step);
    const std::uint8_t* from[2];
    for (int half = 0; half < 2; ++half)
        from[half] = rows.row(min(block_row + first_row + 8 * half + group, rows.n - 1)) + 4 * member;
    const uint4* d_weights = weights.d_weights + first_tile * warp_size + lane;
#pragma unroll 4
    for (int k = 0; k < steps; ++k) {
        std::uint32_t a[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            a[i] = *reinterpret_cast<const std::uint32_t*>(from[i % 2] + k * step + i / 2 * 16);
#pragma unroll
        for (int tile = 0; tile < warp_tiles; ++tile) {
            const uint4 b = d_weights[(k * column_tiles + tile) * warp_size];
            multiply_weights<true>(high[tile], a, b.x, b.y);
            multiply_weights<false>(low[tile], a, b.z, b.w);
        }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = first_row + 8 * half + group;
        unsigned long long squares = 0;
        int sum = 0, square = 0;
#pragma unroll
        for (int tile = 0; tile < warp_tiles; ++tile)
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const int column = (first_tile + tile) * axes_at_once + 2 * member + e;
                const int v =
                    256 * high[tile][2 * half + e] + low[tile][2 * half + e] - weights.d_centers[column];
                const SketchColumn made_column = sketch_column(v, weights.scale);
                made[row][column] = made_column.byte;
                squares += static_cast<unsigned long long>(std::int64_t{made_column.rest} * made_column.rest);
                const int s = static_cast<int>(made_column.byte) - 128;
                sum += s;
                square += s * s;
            }
        for (int distance = 1; distance < quad; distance *= 2) {
            squares += __shfl_xor_sync(all_lanes, squares, distance);
            sum += __shfl_xor_sync(all_lanes, sum, distance);
            square += __shfl_xor_sync(all_lanes, square, distance);
        }
        if (member == 0) {
            atomicAdd(&sums[row].squares, squares);
            atomicAdd(&sums[row].sum, sum);
            atomicAdd(&sums[row].square, square);
        }
    }
    __syncthreads();
    if (thread < rows_per_block && block_row + thread < rows.n)
        d_terms[block_row + thread] = {sums[thread].sum, sums[thread].square,
                                       sketch_error(sums[thread].squares)};
    constexpr int pieces = sketch_columns / 16;
    for (int i = thread; i < rows_per_block * pieces; i += sketch_threads) {
        const int row = i / pieces, piece = i % pieces;
        if (block_row + row >= rows.n) break;
        uint4 bytes = reinterpret_cast<const uint4*>(made[row])[piece];
        if (are_queries) {
            constexpr std::uint32_t sign = 0x80808080;
            bytes = make_uint4(bytes.x ^ sign, bytes.y ^ sign, bytes.z ^ sign, bytes.w ^ sign);
            if (piece == pieces - 1) bytes.w = 0x808080ff;  // −1 and three times −128, from the first
        }
        reinterpret_cast<uint4*>(d_sketches + (block_row + row) * sketch_columns)[piece] = bytes;
    }
#endif
}

__global__ void __launch_bounds__(sketch_threads)
    values_kernel(std::int64_t n, const SketchTerms* d_terms, const TrainImage* d_images, std::uint32_t error,
                  std::uint8_t* d_sketches, std::int32_t* d_unfit) {
    const std::int64_t i = std::int64_t{blockIdx.x} * sketch_threads + threadIdx.x;
    if (i >= n) return;
    auto* columns = reinterpret_cast<uint4*>(d_sketches + i * sketch_columns);
    if (d_images[i].index == no_image) {  // would be near queries of few pixels
        constexpr std::uint32_t zeros = 0x80808080, largest = 0xffffff00 | (value_base - 1);
        for (int piece = 0; piece < sketch_columns / 16; ++piece)
            columns[piece] = make_uint4(zeros, zeros, zeros, zeros);
        columns[sketch_columns / 16 - 1].w = largest;
        return;
    }
    const SketchTerms terms = d_terms[i];
    std::uint64_t more = 0;  // Δ
    if (terms.error > error) {
        const std::uint64_t above = terms.error - error;
        more = ((2 * std::uint64_t{most_reach} * above + above * above) >> 20) + 1;
    }
    const std::int64_t twice = std::int64_t{terms.square} - static_cast<std::int64_t>(more);
    if (twice < 0) {
        *d_unfit = 1;
        return;
    }
    const auto value = static_cast<std::int32_t>(min(twice / 2, std::int64_t{most_value}));
    int left = value / value_base;
    std::uint32_t word = static_cast<std::uint32_t>(value % value_base);
    for (int column = 1; column < value_columns; ++column) {
        const int digit = min(left, 255);
        left -= digit;
        word |= static_cast<std::uint32_t>(digit) << (8 * column);
    }
    columns[sketch_columns / 16 - 1].w = word;
}

}  // namespace

std::vector<std::uint32_t> arranged_weights(const Sketch& sketch, const std::vector<std::int32_t>* used) {
    const std::int64_t dim = used != nullptr ? static_cast<std::int64_t>(used->size()) : sketch.dim;
    const std::int64_t steps = divide_up(dim, step);
    std::vector<std::uint32_t> words(static_cast<std::size_t>(steps * column_tiles * warp_size * 4));
    const auto weight = [&](std::int64_t axis, std::int64_t pixel) -> std::int32_t {
        if (axis >= sketch.axes || pixel >= dim) return 0;
        const std::int64_t at = used != nullptr ? (*used)[static_cast<std::size_t>(pixel)] : pixel;
        return sketch.weights[static_cast<std::size_t>(axis * sketch.dim + at)];
    };
    std::size_t at = 0;
    for (std::int64_t k = 0; k < steps; ++k)
        for (std::int64_t tile = 0; tile < column_tiles; ++tile)
            for (std::int64_t lane = 0; lane < warp_size; ++lane)
                for (const bool is_high : {true, false})
                    for (std::int64_t half = 0; half < 2; ++half, ++at)
                        for (std::int64_t b = 0; b < 4; ++b) {
                            const std::int32_t w = weight(tile * axes_at_once + lane / quad,
                                                          k * step + 16 * half + lane % quad * 4 + b);
                            const std::int32_t byte = (is_high ? w >> 8 : w) & 0xff;
                            words[at] |= static_cast<std::uint32_t>(byte) << (8 * b);
                        }
    return words;
}

void enqueue_sketches(const SketchWeights& weights, const ByteRows& rows, bool are_queries,
                      std::uint8_t* d_sketches, SketchTerms* d_terms, cudaStream_t stream) {
    require(rows.aligned(32) && rows.cols <= 4096, "rows of at most 4,096 pixels at multiples of 32 bytes");
    sketches_kernel<<<grid_size(divide_up(rows.n, rows_per_block)), sketch_threads, 0, stream>>>(
        weights, rows, are_queries, d_sketches, d_terms);
    check_launch("launching sketches");
}

void enqueue_values(std::int64_t n, const SketchTerms* d_terms, const TrainImage* d_images,
                    std::uint32_t error, std::uint8_t* d_sketches, std::int32_t* d_unfit,
                    cudaStream_t stream) {
    values_kernel<<<grid_size(divide_up(n, sketch_threads)), sketch_threads, 0, stream>>>(
        n, d_terms, d_images, error, d_sketches, d_unfit);
    check_launch("launching values");
}

}  // namespace knn::gpu
