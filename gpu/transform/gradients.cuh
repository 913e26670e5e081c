#pragma once
/// The parts of gradients.cu: what one warp does for one image of 28 × 28 pixels.
///
/// Until the shares are known, a lane has a column of the image: column x is on lane x + 2, and the lanes on both sides
/// hold background. Two rows are computed together, y and y + 14: as two floats, or as the two halves of a half2, in
/// which Sobel gradients, at most 1020, are exact.

#include <cuda_fp16.h>

#include "data/transform/deskew.h"
#include "data/transform/histograms.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

// Square roots and quotients, rounded correctly, for the numbers that occur in `gradients`: without the special cases
// of sqrtf and of the division, half of their instructions. All numbers were tried on the host with approximations
// that are off by up to 3 (root) and 1 (quotient) units in the last place, which is what PTX promises; the tests try
// them on the device.

/// Stands for 0: its root is as good as 0, and adding an integer gives that integer.
inline constexpr float nearly_zero = 1e-30f;

/// √x for nearly_zero and for |g|², integers 1 <= x <= 2 · 1020². Up to 2²⁴ it may be the number next to √x, but
/// root_byte() is exact.
__device__ inline float root(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    const float guess = __fmul_rn(x, y);
    return __fmaf_rn(__fmaf_rn(-guess, guess, x), __fmul_rn(0.5f, y), guess);
}

/// numerator / x for those of gain() in the histograms of `gradients`.
__device__ inline float quotient(float numerator, float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    const float guess = __fmul_rn(numerator, y);
    return __fmaf_rn(__fmaf_rn(-x, guess, numerator), y, guess);
}

/// gain() of a gradient of this squared length.
__device__ inline float fast_gain(float squared, float numerator, float offset) {
    return quotient(numerator, __fadd_rn(root(squared), offset));
}

/// root_feature() in the low byte; sum: nearly_zero, or an integer up to 2²⁴. Adding 2²³ rounds to an integer.
__device__ inline unsigned root_byte(float sum) {
    const float feature = fminf(__fmul_rn(root(sum), root_scale), 255);
    return __float_as_uint(__fadd_rn(feature, 8388608));
}

}  // namespace knn::gpu

namespace knn::gpu::gradients28 {

inline constexpr int side = 28, half = side / 2, dim = side * side, quads = side / 4;
inline constexpr int first_lane = 2;
inline constexpr int above = 16, below = 14;  // rows of background, at least as many as a shift reaches
inline constexpr float float_bits = 8388608;  // 2²³: added to a smaller integer, that is in the low bits

/// The directions of the first octant are (axis, 0), (steep, flat) and (diagonal, diagonal); the others mirror these.
struct Octant {
    float axis, steep, flat, diagonal;
    float numerator, offset;  ///< of the gain
};

/// The shares of a column's 28 pixels, of the even directions (axes and diagonals) and of the odd ones. Byte 2i of
/// quad q is row 2q + i, byte 2i + 1 is row 2q + i + 14.
struct alignas(16) Column {
    uint4
        shares[2]
              [4];  ///< low 8 bits and bits from 7 up of quad t, then those of quad t + 4; there is no quad 7
    unsigned codes[4];  ///< quad t in the low half, t + 4 in the high one; 4 bits a pixel (Codes)
};

/// A warp's shared memory.
struct WarpMemory {
    alignas(16)
        std::uint8_t image[(above + side + below) * side + 8];  // lanes beside the last row read beyond it
    Column columns[side];

    __device__ std::uint8_t* first_row() { return image + above * side; }
};

__device__ inline unsigned bytes_of(unsigned a, unsigned b, unsigned selector) {
    unsigned bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(selector));
    return bytes;
}
__device__ inline unsigned bits_of(__half2 value) {
    return *reinterpret_cast<const unsigned*>(&value);
}
__device__ inline __half2 half2_of(unsigned bits) {
    return *reinterpret_cast<const __half2*>(&bits);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// skew_of() of the image, of which a lane reads a row.
__device__ inline Skew skew_of_image(const std::uint8_t* image, int lane, double part) {
    unsigned p = 0, px = 0;
    if (lane < side) {
        const auto* words = reinterpret_cast<const unsigned*>(image + lane * side);
#pragma unroll
        for (unsigned i = 0; i < quads; ++i) {
            p = __dp4a(words[i], 0x01010101u, p);
            px = __dp4a(words[i], 0x03020100u + 0x04040404u * i, px);
        }
    }
    const auto y = static_cast<unsigned>(lane);
    const double sum = __reduce_add_sync(all_lanes, p), sum_x = __reduce_add_sync(all_lanes, px);
    const double sum_y = __reduce_add_sync(all_lanes, p * y), sum_xy = __reduce_add_sync(all_lanes, px * y);
    const double sum_yy = __reduce_add_sync(all_lanes, p * y * y);  // all below 2³¹
    if (sum == 0) return {};
    // Three quotients at once, one per lane. Those of the center are rounded, but n · 65536 / p, where p < 2¹⁸, is
    // 2⁻¹⁸ or more below the next integer: rounded down it is the quotient of integers.
    const bool is_slope = lane == 2;
    const double numerator = is_slope ? sum * sum_xy - sum_x * sum_y : 65536 * (lane == 0 ? sum_x : sum_y);
    const double denominator = is_slope ? sum * sum_yy - sum_y * sum_y : sum;
    const double ratio = denominator > 0 ? numerator / denominator : 0;
    const double slope = fmin(fmax(ratio * part, -max_slope), max_slope);
    const int mine =
        is_slope ? static_cast<int>(rounded(slope * 65536)) : static_cast<int>(ratio) - (side - 1) * 32768;
    return {__shfl_sync(all_lanes, mine, 2), __shfl_sync(all_lanes, mine, 0),
            __shfl_sync(all_lanes, mine, 1)};
}

/// deskewed() for a lane's column.
class Shear {
  public:
    __device__ Shear(const Skew& skew, const std::uint8_t* first_row, int lane) {
        const Between down = column_offset(skew);
        const bool inside = lane >= first_lane && lane < first_lane + side;
        upper_ = inside ? 256 - down.part : 0;
        lower_ = inside ? down.part : 0;
        scale_ = inside ? 1.0f / 65536 : 0;
        column_ = first_row + down.first * side + lane - first_lane;
        // 2 · (offset + 128) of row_offset(), times 2⁷: its first pixel in the highest byte, to which the lane is
        // added, and the part of the second in the byte below.
        slope_ = static_cast<unsigned>(skew.slope) << 8;
        turn_ = (static_cast<unsigned>(2 * skew.shift_x + 256 - (side - 1) * skew.slope) << 7) +
                (static_cast<unsigned>(lane) << 24);
    }

    /// Row y of the image before the shear, shifted down: 0..28.
    __device__ float source(int y) const { return column_[y * side]; }

    /// Pixel y of the column, plus 2²³; `here` and `next` are its two sources.
    __device__ float pixel(int y, float here, float next) const {
        const float column = __fmaf_rn(lower_, next, __fmul_rn(upper_, here));
        const unsigned turn = turn_ + static_cast<unsigned>(y) * slope_;
        const int from =
            __vimin_s32_relu(static_cast<int>(turn) >> 24, 30);  // 0, 1, 30 and 31 are background
        const float left = __shfl_sync(all_lanes, column, from);
        const float right = __shfl_sync(all_lanes, column, from + 1);
        const float part = static_cast<float>(turn >> 16 & 255);
        const float sum = __fmaf_rn(part, __fsub_rn(right, left), __fmaf_rn(left, 256, 32768));
        return __fmaf_rz(sum, scale_, float_bits);
    }

  private:
    float upper_, lower_, scale_;
    const std::uint8_t* column_;
    unsigned slope_, turn_;
};

/// Two pixels that had 2²³ added: the upper half of such a float is 0x4b00, and 0x4b00 + pixel as a half is
/// 14 + pixel / 128.
__device__ inline __half2 pixel_pair(float a, float b) {
    const unsigned bits = bytes_of(__float_as_uint(a), __float_as_uint(b), 0x7430);
    return __hfma2(half2_of(bits), __float2half2_rn(128), __float2half2_rn(-1792));
}

/// What the histograms need of two pixels. In words of two halves the sign bits count.
struct PixelPair {
    unsigned x, y;       ///< the gradient
    unsigned swap;       ///< |gx| < |gy|
    float diagonal[2];   ///< negative: nearer to a diagonal than to an axis
    unsigned even, odd;  ///< shares, 16 bits each
};

__device__ inline __half2 from_left(__half2 value) {
    return half2_of(__shfl_up_sync(all_lanes, bits_of(value), 1));
}
__device__ inline __half2 from_right(__half2 value) {
    return half2_of(__shfl_down_sync(all_lanes, bits_of(value), 1));
}

/// Gradients of two pixels and their shares in the two nearest directions, of which one is even and one odd; with
/// u >= v the gradient mirrored into the first octant, these are |64 u − 155 v| and min(167 v, 118 (u − v)).
__device__ inline PixelPair pixel_pair_of(__half2 up, __half2 here, __half2 down, const Octant& octant) {
    const __half2 two = __float2half2_rn(2);
    const __half2 sum = __hfma2(here, two, __hadd2(up, down)), difference = __hsub2(down, up);
    const __half2 x = __hsub2(from_right(sum), from_left(sum));
    const __half2 y = __hfma2(difference, two, __hadd2(from_left(difference), from_right(difference)));
    const __half2 x_size = __habs2(x), y_size = __habs2(y);
    const __half2 larger = __hmax2(x_size, y_size), smaller = __hmin2(x_size, y_size);
    PixelPair pair;
    pair.x = bits_of(x);
    pair.y = bits_of(y);
    pair.swap = bits_of(__hsub2(x_size, y_size));
    unsigned even[2], odd[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const float u = i == 0 ? __low2float(larger) : __high2float(larger);
        const float v = i == 0 ? __low2float(smaller) : __high2float(smaller);
        const float gain =
            fast_gain(__fmaf_rn(u, u, __fmaf_rn(v, v, nearly_zero)), octant.numerator, octant.offset);
        const float to_diagonal = __fmaf_rn(-octant.diagonal, v, __fmul_rn(octant.diagonal, u));
        const float nearer = fminf(__fmul_rn(octant.axis, v), to_diagonal);
        pair.diagonal[i] = __fmaf_rn(-octant.steep, v, __fmul_rn(octant.flat, u));
        even[i] = __float_as_uint(__fadd_rz(__fmul_rn(fabsf(pair.diagonal[i]), gain), float_bits));
        odd[i] = __float_as_uint(__fadd_rz(__fmul_rn(nearer, gain), float_bits));
    }
    pair.even = bytes_of(even[0], even[1], 0x5410);
    pair.odd = bytes_of(odd[0], odd[1], 0x5410);
    return pair;
}

/// Bits of one where `mask` has one, else of the other.
__device__ inline unsigned choose(unsigned one, unsigned other, unsigned mask) {
    return (one & mask) | (other & ~mask);
}

/// 4 bits for each of the four pixels of two pairs, in order: near a diagonal, |gx| < |gy|, gx < 0, gy < 0.
__device__ inline unsigned codes_of(const PixelPair& a, const PixelPair& b) {
    constexpr unsigned signs = 0xfdb9;  // of the upper bytes of the four halves, all bits of a byte
    const auto diagonals = [](const PixelPair& pair) {
        return bytes_of(__float_as_uint(pair.diagonal[0]), __float_as_uint(pair.diagonal[1]), 0x00fb);
    };
    const unsigned x = bytes_of(a.x, b.x, signs), y = bytes_of(a.y, b.y, signs);
    const unsigned swap = bytes_of(a.swap, b.swap, signs);
    const unsigned diagonal = bytes_of(diagonals(a), diagonals(b), 0x5410);
    const unsigned codes = choose(choose(x, y, 0x22222222), choose(diagonal, swap, 0x88888888), 0x33333333);
    return bytes_of(choose(codes, codes >> 8, 0x000f000f), 0, 0x20);  // both halves of a byte are the same
}

/// Of a quad's four shares: low bytes, and bits 7 to 14.
__device__ inline uint2 bytes_of_shares(unsigned a, unsigned b) {
    return make_uint2(bytes_of(a, b, 0x6420), bytes_of(2 * a, 2 * b, 0x7531));
}

/// sums (16 directions × 8 cells) += a (16 × 32 pixels) · b (8 × 32)ᵀ
__device__ inline void multiply(int (&sums)[4], const unsigned (&a)[4], uint2 b) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
        "%1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}

#endif

}  // namespace knn::gpu::gradients28
