// 8-bit pixels to floats.
//
// in    n × dim bytes, pitched rows (rows begin at multiples of 4 bytes), device memory
// out   n × dim floats, pitched rows (multiples of 16 bytes), zeros from dim up to the next multiple of 4
// launch  one block per row, one thread per 4 pixels: 4-byte loads, 16-byte stores, both coalesced
// exact   floats represent 0..255 exactly
// moves   n · dim bytes in, 4 · n · dim bytes out; memory-bound

#include <cassert>

#include "gpu/distance/distance.h"

namespace knn::gpu {

namespace {

constexpr int expand_threads = 256;

__global__ void expand_kernel(ByteRows in, FloatRows out) {
    const std::int64_t n = blockIdx.x;
    assert(in.aligned(sizeof(uchar4)) && out.aligned(sizeof(float4)));
    const std::uint8_t* in_row = in.row(n);
    auto* out_row = reinterpret_cast<float4*>(out.row(n));
    for (std::int64_t i = threadIdx.x; 4 * i < in.cols; i += expand_threads) {
        const uchar4 pixels = four_pixels(in_row, i, in.cols);
        out_row[i] = make_float4(pixels.x, pixels.y, pixels.z, pixels.w);
    }
}

}  // namespace

void enqueue_expand(const ByteRows& in, const FloatRows& out, cudaStream_t stream) {
    require(in.n == out.n && in.cols == out.cols && in.aligned(sizeof(uchar4)) &&
                out.aligned(sizeof(float4)) &&
                out.pitch_bytes >= sizeof(float4) * static_cast<std::size_t>(divide_up(in.cols, 4)),
            "rows of bytes at multiples of 4 bytes, and of floats at multiples of 16");
    expand_kernel<<<grid_size(in.n), expand_threads, 0, stream>>>(in, out);
    check_launch("launching expand");
}

}  // namespace knn::gpu
