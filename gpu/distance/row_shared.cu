// Distances of one query per block, with a column-major training matrix (seed 002, §4.1).
//
// prepared   dim × stride floats: the training set transposed, stride = n_train rounded up to 32, so that
//            adjacent threads read adjacent addresses
// launch     a block of 256 threads (`row_shared512`: 512) holds one query in shared memory, and a thread loops over
//            training images. A query of more than 1,024 pixels is loaded in pieces, once per pass of the block over
//            as many training images as it has threads, so this does not limit dim; the seed stops at 512, and takes
//            512 threads for more than 256 pixels, because each thread loads one.
// metrics    l2, l1, lp (terms.cuh)
// work       n_query · n_train · dim subtractions and multiply-adds; 4 bytes of the training set read per one

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "gpu/distance/distance.h"
#include "gpu/distance/terms.cuh"
#include "gpu/distance/transpose.cuh"

namespace knn::gpu {

namespace {

constexpr int piece = 1024;  // pixels of the query in shared memory
static_assert(piece % pixels_per_carry == 0, "sums are carried within a piece");

/// Copies a piece of a row from `begin` on; returns its number of pixels. Called by the whole block.
template <int threads>
__device__ int load_piece(float* pixels, const float* row, std::int64_t begin, std::int64_t dim) {
    const int size = static_cast<int>(min(std::int64_t{piece}, dim - begin));
    assert(blockDim.x == threads && size > 0);
    __syncthreads();  // all are done with the previous piece
    for (int i = static_cast<int>(threadIdx.x); i < size; i += threads)
        pixels[i] = row[begin + i];
    __syncthreads();
    return size;
}

/// Grid: queries × slices of the training set.
template <class Terms, int threads>
__global__ void __launch_bounds__(threads)
    row_shared_kernel(const float* d_train, std::int64_t stride, FloatRows query, DistanceRows out,
                      const __grid_constant__ Terms terms) {
    __shared__ float pixels[piece];
    __shared__ typename Terms::Shared shared;
    terms.prepare(shared);
    const std::int64_t q = blockIdx.x, dim = query.cols;
    assert(q < query.n && stride >= out.cols);
    const float* query_row = query.row(q);
    int size = load_piece<threads>(pixels, query_row, 0, dim);
    for (std::int64_t begin = std::int64_t{blockIdx.y} * threads; begin < out.cols;
         begin += std::int64_t{gridDim.y} * threads) {
        const std::int64_t t = begin + threadIdx.x;
        const float* column = d_train + min(t, out.cols - 1);
        typename Terms::Sum sum;
        for (std::int64_t pixel = 0; pixel < dim; pixel += piece) {
            if (dim > piece) size = load_piece<threads>(pixels, query_row, pixel, dim);
            for (int first = 0; first < size; first += pixels_per_carry) {
                const int last = min(first + pixels_per_carry, size);
#pragma unroll 16  // 16 loads in flight
                for (int i = first; i < last; ++i)
                    sum.add(pixels[i], column[(pixel + i) * stride], shared);
                sum.carry();
            }
        }
        if (t < out.cols) out.row(q)[t] = sum.score();
    }
}

template <int threads>
void launch(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void*,
            cudaStream_t stream) {
    require(in.d_prepared != nullptr, "the training set transposed");
    // Enough blocks to fill a large card even with one query.
    const auto slices = static_cast<unsigned>(std::clamp<std::int64_t>(
        divide_up(problem.n_train, threads), 1, std::max<std::int64_t>(1, 2048 / problem.n_query)));
    with_terms(problem, [&](const auto& terms) {
        const auto kernel = row_shared_kernel<std::decay_t<decltype(terms)>, threads>;
        kernel<<<dim3(grid_size(problem.n_query), slices), threads, 0, stream>>>(
            static_cast<const float*>(in.d_prepared), column_stride(problem.n_train), in.query.floats, out,
            terms);
    });
    check_launch("launching row_shared");
}

template <int threads>
constexpr DistanceKernel kernel(const char* name, const char* summary) {
    return {.name = name,
            .summary = summary,
            .prepared_bytes = columns_bytes,
            .prepare = prepare_columns,
            .launch = launch<threads>,
            .metrics = direct_metrics};
}

}  // namespace

extern const DistanceKernel row_shared_distance =
    kernel<256>("row_shared", "one query per block in shared memory, the training set transposed");
extern const DistanceKernel row_shared512_distance =
    kernel<512>("row_shared512", "the same with 512 threads in a block instead of 256");

}  // namespace knn::gpu
