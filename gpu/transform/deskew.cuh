#pragma once
/// Deskewing an image by a block of threads (data/transform/deskew.h). The moments are sums of integers; the rest are the
/// functions that define the step.

#include <cub/block/block_reduce.cuh>

#include "data/transform/deskew.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

/// Calls f(x, y) for all pixels: a warp takes every `threads` / 32-th row, a lane every 32nd column.
template <int threads, class F>
__device__ void for_pixels(int cols, int rows, F f) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size,
              warp = static_cast<int>(threadIdx.x) / warp_size;
    for (int y = warp; y < rows; y += threads / warp_size)
        for (int x = lane; x < cols; x += warp_size)
            f(x, y);
}

/// The sums over all pixels, to the first thread.
template <int threads>
__device__ Moments moments_in_block(const std::uint8_t* image, ImageShape shape) {
    using Reduce = cub::BlockReduce<Moments, threads>;
    __shared__ typename Reduce::TempStorage storage;
    const auto sum = [](const Moments& a, const Moments& b) -> Moments {
        return {a.p + b.p, a.px + b.px, a.py + b.py, a.pxy + b.pxy, a.pyy + b.pyy};
    };
    Moments mine;
    for_pixels<threads>(shape.cols, shape.rows, [&](int x, int y) {
        const std::int64_t p = image[y * shape.cols + x];
        mine = sum(mine, {p, p * x, p * y, p * x * y, p * y * y});
    });
    return Reduce(storage).Reduce(mine, sum);
}

/// The image with a part of its slant out. `moments`: only those of the first thread count. Ends with a barrier.
template <int threads>
__device__ void straighten(const std::uint8_t* image, ImageShape shape, const Moments& moments, double part,
                           std::uint8_t* straight) {
    __shared__ Skew skew;
    if (threadIdx.x == 0) skew = skew_of(moments, shape, part);
    __syncthreads();
    const Skew of_all = skew;
    for_pixels<threads>(shape.cols, shape.rows, [&](int x, int y) {
        straight[y * shape.cols + x] = deskewed(image, shape, of_all, x, y);
    });
    __syncthreads();
}

}  // namespace knn::gpu
