// `normalize` of images of any shape (data/transform/normalize.h).
//
// in      n × dim bytes, device memory, any pitch
// out     the same
// launch  a block of 256 threads per image, one per level of gray: each level is stretched and scaled once, and the
//         pixels are looked up
// exact   the functions that define the step; the sum is one of integers
// work    three passes over the image, from the cache after the first; 512 divisions per image

#include <cub/block/block_reduce.cuh>

#include "gpu/transform/step.h"

namespace knn::gpu {

namespace {

constexpr int normalize_threads = 256;  // levels of gray

struct Range {
    int low = 255, high = 0;
};
struct Union {
    __device__ Range operator()(const Range& a, const Range& b) const {
        return {min(a.low, b.low), max(a.high, b.high)};
    }
};

__global__ void __launch_bounds__(normalize_threads) normalize_kernel(ByteRows in, ByteRows out) {
    using ReduceRange = cub::BlockReduce<Range, normalize_threads>;
    using ReduceSum = cub::BlockReduce<std::int64_t, normalize_threads>;
    __shared__ union {
        typename ReduceRange::TempStorage range;
        typename ReduceSum::TempStorage sum;
    } storage;
    __shared__ std::uint8_t table[normalize_threads];
    __shared__ Contrast contrast;
    const std::uint8_t* image = in.row(blockIdx.x);
    std::uint8_t* to = out.row(blockIdx.x);
    const int dim = static_cast<int>(in.cols), level = static_cast<int>(threadIdx.x);

    Range mine;
    for (int i = level; i < dim; i += normalize_threads)
        mine = Union()(mine, {image[i], image[i]});
    const Range range = ReduceRange(storage.range).Reduce(mine, Union());
    if (level == 0) contrast = {range.low, range.high, 0};
    __syncthreads();
    const bool occurs = level >= contrast.low && level <= contrast.high;
    table[level] = static_cast<std::uint8_t>(occurs ? stretched(contrast, level) : 0);
    __syncthreads();
    std::int64_t part = 0;
    for (int i = level; i < dim; i += normalize_threads)
        part += table[image[i]];
    const std::int64_t sum = ReduceSum(storage.sum).Sum(part);
    __syncthreads();  // before the table changes
    if (level == 0) contrast.sum = sum;
    __syncthreads();
    table[level] = occurs ? normalized(contrast, level, in.cols) : std::uint8_t{0};
    __syncthreads();
    for (int i = level; i < dim; i += normalize_threads)
        to[i] = table[image[i]];
}

}  // namespace

std::optional<StepLaunch> launch_normalize(Steps steps) {
    if (!std::holds_alternative<Normalize>(steps.front().what)) return std::nullopt;
    load_kernels(normalize_kernel);
    return StepLaunch{.kernel = "normalize", .enqueue = [](const StepArrays& arrays, cudaStream_t stream) {
                          normalize_kernel<<<grid_size(arrays.in.n), normalize_threads, 0, stream>>>(
                              arrays.in, arrays.out);
                          check_launch("launching normalize");
                      }};
}

}  // namespace knn::gpu
