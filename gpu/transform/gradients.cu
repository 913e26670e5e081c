// `gradients` for images of 28 × 28 pixels: Deskew and Histograms of 16 directions of Sobel gradients, fused
// (data/transform/deskew.h, histograms.h).
//
// in      n × 784 bytes, device memory; any pitch, faster if rows are aligned to 16 bytes
// out     n × 784 bytes, the same: 7 × 7 cells × 16 directions
// tables  LaneTable of each lane
// launch  a warp per image, 4 per block; 5.6 KB of shared memory per warp
// steps   moments: a lane per row, then sums over the warp. Shear, gradients and shares: a lane per column, two rows at
//         once (gradients.cuh). Cells: for each column the matrix of its shares (16 directions × 28 rows) times the
//         weights of rows and column (28 rows × 7 rows of cells), on tensor cores in 8-bit integers. Only two
//         directions of a pixel have a share, so the matrix is made in registers, of masked words of 4 pixels. Shares
//         have 12 bits: the lower 7 and the others are multiplied one after the other.
// exact   floats and halfs hold integers below 2²⁴ and 2¹¹; what is rounded is rounded as defined (gradients.cuh)
// limits  28 × 28 pixels, cells of 4 × 4, compute capability 8.0 (mma.m16n8k32)
// work    about 2,600 instructions of a warp per image, 128 of them matrix products

#include "gpu/transform/gradients.cuh"
#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

using namespace gradients28;

constexpr int warps = 4, gradients_threads = warps * warp_size;
constexpr int n_directions = 16, cell = 4, cells = side / cell, reach = 3;

/// Weights of a column for a cell: of the cell's outer and inner columns, and of those 1, 2, 3 columns beside it.
struct ColumnWeights {
    unsigned outer, inner, beside[reach];
};

/// What a lane multiplies: lane 4g + t has the rows of quads t and t + 4, for directions g and g + 8 as `shares`, for
/// the row of cells g as `weights`.
struct alignas(16) LaneTable {
    /// For each direction a table of bytes for bytes_of(), by the pixel's code c: which of its even or odd shares
    /// belong to the direction. Byte c if c < 8, else the sign of byte c − 8; shares have 7 bits.
    uint2 shares[2];
    uint2 weights;
};

struct Arguments {
    double slant;
    Octant octant;
    ColumnWeights columns;
    const LaneTable* d_lanes;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// By a warp: 784 bytes from or to global memory, in pieces of 16 bytes or single ones.
__device__ void copy_image(std::uint8_t* to, const std::uint8_t* from, bool aligned, int lane) {
    if (aligned) {
        for (int i = lane; i < dim / 16; i += warp_size)
            reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    } else {
        for (int i = lane; i < dim; i += warp_size)
            to[i] = from[i];
    }
}

/// The image, and background around it.
__device__ void load_image(WarpMemory& memory, const std::uint8_t* image, bool aligned, int lane) {
    auto* pieces = reinterpret_cast<uint4*>(memory.image);
    constexpr int before = above * side / 16, behind = before + dim / 16;
    constexpr int all = static_cast<int>(sizeof(memory.image) / 16);
    static_assert(before <= warp_size && all - behind <= warp_size && sizeof(memory.image) % 16 == 0);
    if (lane < before) pieces[lane] = make_uint4(0, 0, 0, 0);
    if (lane < all - behind) pieces[behind + lane] = make_uint4(0, 0, 0, 0);
    copy_image(memory.first_row(), image, aligned, lane);
    __syncwarp();
}

/// Rows y and y + 14 of the sheared image, row after row.
class SourceRows {
  public:
    __device__ SourceRows(const Shear& shear, int y)
        : shear_(shear), here_{shear.source(y), shear.source(y + half)} {}

    __device__ __half2 pixels(int y) {
        const float next[2] = {shear_.source(y + 1), shear_.source(y + 1 + half)};
        const float upper = shear_.pixel(y, here_[0], next[0]),
                    lower = shear_.pixel(y + half, here_[1], next[1]);
        here_[0] = next[0];
        here_[1] = next[1];
        return pixel_pair(upper, lower);
    }

  private:
    const Shear& shear_;
    float here_[2];
};

__device__ void store_quad(Column& column, int quad, const PixelPair& a, const PixelPair& b) {
    const int t = quad % 4, part = quad / 4;
    reinterpret_cast<uint2*>(&column.shares[0][t])[part] = bytes_of_shares(a.even, b.even);
    reinterpret_cast<uint2*>(&column.shares[1][t])[part] = bytes_of_shares(a.odd, b.odd);
    reinterpret_cast<std::uint16_t*>(&column.codes[t])[part] = static_cast<std::uint16_t>(codes_of(a, b));
}

/// The shares of all pixels, column by column.
__device__ void make_shares(WarpMemory& memory, const Shear& shear, const Octant& octant, int lane) {
    const bool inside = lane >= first_lane && lane < first_lane + side;
    const __half2 last = SourceRows(shear, half - 1).pixels(half - 1);  // rows 13 and 27
    SourceRows rows(shear, 0);
    const __half2 first = rows.pixels(0);                      // rows 0 and 14
    __half2 up = half2_of(bits_of(last) << 16), here = first;  // row −1 is background, and row 13
#pragma unroll 1
    for (int quad = 0; quad < quads; ++quad) {
        const bool is_last = quad + 1 == quads;
        const __half2 next = is_last ? last : rows.pixels(2 * quad + 1);
        const __half2 down = is_last ? half2_of(bits_of(first) >> 16) : rows.pixels(2 * quad + 2);
        const PixelPair a = pixel_pair_of(up, here, next, octant),
                        b = pixel_pair_of(here, next, down, octant);
        if (inside) store_quad(memory.columns[lane - first_lane], quad, a, b);
        up = next;
        here = down;
    }
    __syncwarp();
}

/// The sums of a column of cells, lower bits of shares and upper ones: of directions g and g + 8 for rows of cells 2t
/// and 2t + 1.
struct CellSums {
    int low[4] = {}, high[4] = {};

    __device__ void add(const unsigned (&low_shares)[4], const unsigned (&high_shares)[4], uint2 weights) {
        multiply(low, low_shares, weights);
        multiply(high, high_shares, weights);
    }
    /// Writes the features of column c.
    __device__ void write(std::uint8_t* features, int c, int lane) const {
        const int r = lane % 4 * 2, direction = lane / 4;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const auto sum = static_cast<float>(high[i] * 128 + low[i]);
            const auto feature = static_cast<std::uint8_t>(root_byte(__fadd_rn(sum, nearly_zero)));
            if (r + i % 2 < cells)
                features[((r + i % 2) * cells + c) * n_directions + direction + i / 2 * 8] = feature;
        }
    }
};

__device__ uint2 times(uint2 bytes, unsigned factor) {
    return make_uint2(bytes.x * factor, bytes.y * factor);
}

/// From the shares to the features.
__device__ void sum_cells(const WarpMemory& memory, const LaneTable& table, const ColumnWeights& weights,
                          std::uint8_t* features, int lane) {
    const uint2 one = table.shares[0], other = table.shares[1];
    const uint2 outer = times(table.weights, weights.outer), inner = times(table.weights, weights.inner);
    uint2 beside[reach];
#pragma unroll
    for (int i = 0; i < reach; ++i)
        beside[i] = times(table.weights, weights.beside[i]);
    const int t = lane % 4, parity = lane / 4 % 2;
    CellSums sums[3];  // of columns of cells c % 3
#pragma unroll
    for (int c = 0; c < cells; ++c) {
        if (c + 1 < cells) sums[(c + 1) % 3] = {};
#pragma unroll
        for (int i = 0; i < cell; ++i) {
            const Column& column = memory.columns[cell * c + i];
            const uint4 shares = column.shares[parity][t];
            const unsigned codes = column.codes[t];
            const unsigned masks[4] = {bytes_of(one.x, one.y, codes), bytes_of(other.x, other.y, codes),
                                       bytes_of(one.x, one.y, codes >> 16),
                                       bytes_of(other.x, other.y, codes >> 16)};
            unsigned low[4], high[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                low[j] = (j < 2 ? shares.x : shares.z) & masks[j] & 0x7f7f7f7fu;
                high[j] = (j < 2 ? shares.y : shares.w) & masks[j];
            }
            sums[c % 3].add(low, high, i == 0 || i == cell - 1 ? outer : inner);
            if (c > 0 && i < reach) sums[(c + 2) % 3].add(low, high, beside[i]);
            if (c + 1 < cells && i >= cell - reach) sums[(c + 1) % 3].add(low, high, beside[cell - 1 - i]);
        }
        if (c > 0) sums[(c + 2) % 3].write(features, c - 1, lane);
    }
    sums[(cells - 1) % 3].write(features, cells - 1, lane);
    __syncwarp();
}

#endif

__global__ void __launch_bounds__(gradients_threads)
    gradients_kernel(ByteRows in, ByteRows out, const __grid_constant__ Arguments arguments) {
#if __CUDA_ARCH__ >= 800
    __shared__ WarpMemory memories[warps];
    const int lane = static_cast<int>(threadIdx.x) % warp_size,
              warp = static_cast<int>(threadIdx.x) / warp_size;
    const std::int64_t n = std::int64_t{blockIdx.x} * warps + warp;
    if (n >= in.n) return;
    WarpMemory& memory = memories[warp];
    load_image(memory, in.row(n), in.aligned(sizeof(uint4)), lane);
    const LaneTable table = arguments.d_lanes[lane];
    const Skew skew = skew_of_image(memory.first_row(), lane, arguments.slant);
    make_shares(memory, Shear(skew, memory.first_row(), lane), arguments.octant, lane);
    std::uint8_t* features = memory.first_row();  // the image is not needed any more
    sum_cells(memory, table, arguments.columns, features, lane);
    copy_image(out.row(n), features, out.aligned(sizeof(uint4)), lane);
#endif
}

/// Of a cell along an axis, what the pixel at this place weighs; `cell` pixels, beginning at 0.
int weight_at(const Axis& axis, int cell_index, int pixel) {
    const CellSpan& span = axis.cells[static_cast<std::size_t>(cell_index)];
    const int at = pixel - span.first;
    return at < 0 || at >= span.count ? 0 : axis.weights[static_cast<std::size_t>(span.weights + at)];
}

ColumnWeights column_weights(const Axis& axis) {
    const auto weight = [&](int pixel) { return static_cast<unsigned>(weight_at(axis, 1, cell + pixel)); };
    return {weight(0), weight(1), {weight(-1), weight(-2), weight(-3)}};
}

/// The direction that i of the first octant becomes in the octant of `code` (codes_of).
int mirrored(int i, int code) {
    if (code & 4) i = 4 - i;
    if (code & 2) i = 8 - i;
    return code & 1 ? (n_directions - i) % n_directions : i;
}

LaneTable lane_table(const Histograms& histograms, int lane) {
    LaneTable table{};
    for (int which = 0; which < 2; ++which)
        for (int code = 0; code < 16; ++code) {
            const int direction = lane / 4 + 8 * which, in_octant = direction % 2 != 0 ? 1 : code & 8 ? 2 : 0;
            if (mirrored(in_octant, code) != direction) continue;
            unsigned& word = code % 8 < 4 ? table.shares[which].x : table.shares[which].y;
            word |= (code < 8 ? 0x7fu : 0x80u) << code % 4 * 8;
        }
    for (int which = 0; which < 2; ++which)
        for (int byte = 0; byte < 4; ++byte) {
            const int quad = lane % 4 + 4 * which, row = 2 * quad + byte / 2 + byte % 2 * half, r = lane / 4;
            if (quad >= quads || r >= cells) continue;
            const auto weight = static_cast<unsigned>(weight_at(histograms.rows, r, row));
            (which == 0 ? table.weights.x : table.weights.y) |= weight << byte * 8;
        }
    return table;
}

}  // namespace

/// Two steps: Deskew, and gradient_histograms() of this shape.
std::optional<StepLaunch> launch_gradients(Steps steps) {
    const auto* deskew = std::get_if<Deskew>(&steps.front().what);
    const auto* histograms = steps.size() < 2 ? nullptr : std::get_if<Histograms>(&steps[1].what);
    if (deskew == nullptr || histograms == nullptr || histograms->image != ImageShape{side, side} ||
        histograms->has_blocks || !histograms->has_sign || histograms->derivative != Derivative::sobel ||
        histograms->offset <= 0 || histograms->directions.size() != n_directions ||
        device_attribute(cudaDevAttrComputeCapabilityMajor) < 8)
        return std::nullopt;
    load_kernels(gradients_kernel);
    std::vector<LaneTable> of_lanes;
    for (int lane = 0; lane < warp_size; ++lane)
        of_lanes.push_back(lane_table(*histograms, lane));
    const auto lanes = table_of(of_lanes);
    const Direction& steep = histograms->directions[1];
    const Arguments arguments{
        .slant = deskew->part,
        .octant = {static_cast<float>(histograms->directions[0].x), static_cast<float>(steep.x),
                   static_cast<float>(steep.y), static_cast<float>(histograms->directions[2].x),
                   histograms->numerator, histograms->offset},
        .columns = column_weights(histograms->cols),
        .d_lanes = lanes->d_data()};
    const auto enqueue = [arguments, lanes](const StepArrays& arrays, cudaStream_t stream) {
        gradients_kernel<<<grid_size(divide_up(arrays.in.n, warps)), gradients_threads, 0, stream>>>(
            arrays.in, arrays.out, arguments);
        check_launch("launching gradients");
    };
    return StepLaunch{.kernel = "gradients", .enqueue = enqueue, .steps = 2};
}

}  // namespace knn::gpu
