// `deskew` of images of any shape (data/transform/deskew.h).
//
// in      n × rows · cols bytes, device memory, any pitch
// out     the same
// launch  a block of 4 warps per image; a warp takes every fourth row, a lane every 32nd column
// exact   the moments are sums of integers; the rest are the functions that define the step
// work    one multiply-add per pixel and moment, about 60 operations per pixel of the result; an image is read from
//         the cache after the first pass
// source  seed 003, section 5

#include "gpu/transform/deskew.cuh"
#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

constexpr int deskew_threads = 128;

__global__ void __launch_bounds__(deskew_threads)
    deskew_kernel(ByteRows in, ByteRows out, ImageShape shape, double part) {
    const std::uint8_t* image = in.row(blockIdx.x);
    straighten<deskew_threads>(image, shape, moments_in_block<deskew_threads>(image, shape), part,
                               out.row(blockIdx.x));
}

}  // namespace

std::optional<StepLaunch> launch_deskew(Steps steps) {
    const auto* deskew = std::get_if<Deskew>(&steps.front().what);
    if (deskew == nullptr) return std::nullopt;
    load_kernels(deskew_kernel);
    const auto enqueue = [shape = steps.front().image, part = deskew->part](const StepArrays& arrays,
                                                                            cudaStream_t stream) {
        deskew_kernel<<<grid_size(arrays.in.n), deskew_threads, 0, stream>>>(arrays.in, arrays.out, shape,
                                                                             part);
        check_launch("launching deskew");
    };
    return StepLaunch{.kernel = "deskew", .enqueue = enqueue};
}

}  // namespace knn::gpu
