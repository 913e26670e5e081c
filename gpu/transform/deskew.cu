// `deskew` of images of any shape (data/transform/deskew.h).
//
// in      n × rows · cols bytes, device memory, any pitch
// out     the same
// launch  a block of 128 threads per image; a thread takes every 128th pixel
// exact   the moments are sums of integers; the rest are the functions that define the step
// work    one multiply-add per pixel and moment, about 60 operations per pixel of the result; an image is read from
//         the cache after the first pass
// source  seed 003, section 5

#include <cub/block/block_reduce.cuh>

#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

constexpr int threads = 128;

__device__ Moments operator+(const Moments& a, const Moments& b) {
    return {a.p + b.p, a.px + b.px, a.py + b.py, a.pxy + b.pxy, a.pyy + b.pyy};
}
struct AddMoments {
    __device__ Moments operator()(const Moments& a, const Moments& b) const { return a + b; }
};

__global__ void __launch_bounds__(threads)
    deskew_kernel(ByteRows in, ByteRows out, ImageShape shape, double part) {
    using Reduce = cub::BlockReduce<Moments, threads>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ Skew skew;
    const std::uint8_t* image = in.row(blockIdx.x);
    std::uint8_t* to = out.row(blockIdx.x);
    const int dim = shape.rows * shape.cols, thread = static_cast<int>(threadIdx.x);
    Moments mine;
    for (int i = thread; i < dim; i += threads) {
        const std::int64_t p = image[i], y = i / shape.cols, x = i % shape.cols;
        mine = mine + Moments{p, p * x, p * y, p * x * y, p * y * y};
    }
    const Moments sum = Reduce(storage).Reduce(mine, AddMoments());
    if (thread == 0) skew = skew_of(sum, shape, part);
    __syncthreads();
    const Skew of_all = skew;
    for (int i = thread; i < dim; i += threads)
        to[i] = deskewed(image, shape, of_all, i % shape.cols, i / shape.cols);
}

void enqueue(Steps steps, const StepArrays& arrays, cudaStream_t stream) {
    const FittedStep& step = steps.front();
    deskew_kernel<<<grid_size(arrays.in.n), threads, 0, stream>>>(arrays.in, arrays.out, step.image,
                                                                  std::get<Deskew>(step.what).part);
    check_launch("launching deskew");
}

}  // namespace

extern const TransformKernel deskew_transform{.name = "deskew",
                                              .takes = takes_one<Deskew>,
                                              .load = [] { load_kernels(deskew_kernel); },
                                              .enqueue = enqueue};

}  // namespace knn::gpu
