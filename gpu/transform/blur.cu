// `blur` of images of any shape (data/transform/blur.h).
//
// in       n × rows · cols bytes, device memory, any pitch
// out      the same
// tables   2 · radius + 1 weights, 32-bit integers
// scratch  rows · cols 32-bit integers per image: the image blurred along its rows, in shared memory or workspace
// launch   a block of 256 threads takes an image after the other
// exact    the functions that define the step, integers
// work     2 · (2 · radius + 1) multiply-adds per pixel

#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

constexpr int blur_threads = 256;

__global__ void __launch_bounds__(blur_threads)
    blur_kernel(ByteRows in, ByteRows out, ImageShape shape, const std::int32_t* d_weights, int radius,
                std::int32_t* d_scratch, std::int64_t stride) {
    extern __shared__ std::int32_t shared[];
    std::int32_t* along = d_scratch != nullptr ? d_scratch + blockIdx.x * stride : shared;
    const int dim = shape.rows * shape.cols, thread = static_cast<int>(threadIdx.x);
    for (std::int64_t n = blockIdx.x; n < in.n; n += gridDim.x) {
        const std::uint8_t* image = in.row(n);
        std::uint8_t* to = out.row(n);
        for (int i = thread; i < dim; i += blur_threads)
            along[i] = blurred_along_row(image, shape, d_weights, radius, i % shape.cols, i / shape.cols);
        __syncthreads();
        for (int i = thread; i < dim; i += blur_threads)
            to[i] = blurred_down_column(along + i % shape.cols, shape.cols, shape.rows, d_weights, radius,
                                        i / shape.cols);
        __syncthreads();
    }
}

}  // namespace

std::optional<StepLaunch> launch_blur(Steps steps) {
    const FittedStep& step = steps.front();
    const auto* blur = std::get_if<Blur>(&step.what);
    if (blur == nullptr) return std::nullopt;
    load_kernels(blur_kernel);
    const auto enqueue = [shape = step.image, radius = blur->radius(), weights = table_of(blur->weights)](
                             const StepArrays& arrays, cudaStream_t stream) {
        const ScratchPlan& scratch = arrays.scratch;
        blur_kernel<<<grid_size(scratch.blocks), blur_threads, scratch.shared_bytes(), stream>>>(
            arrays.in, arrays.out, shape, weights->d_data(), radius,
            reinterpret_cast<std::int32_t*>(arrays.d_scratch),
            static_cast<std::int64_t>(scratch.bytes / sizeof(std::int32_t)));
        check_launch("launching blur");
    };
    return StepLaunch{.kernel = "blur",
                      .enqueue = enqueue,
                      .scratch_bytes = static_cast<std::size_t>(step.dim_in) * sizeof(std::int32_t)};
}

}  // namespace knn::gpu
