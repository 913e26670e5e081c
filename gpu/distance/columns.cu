// Distances with the training matrix by columns, so that adjacent threads read adjacent addresses.
//
// prepared   dim × stride floats: the training set transposed, stride = n_train rounded up to 32
// launch     row_shared  seed 002, §4.1: a block of 256 threads (`row_shared512`: 512, as the seed takes for more than 256 pixels)
//                        holds one query in shared memory, and a thread loops over training images. Queries of more than 1,024
//                        pixels are loaded in pieces; the seed stops at 512, because each thread loads one.
//            texture     seed 000, §4.3.2: a two-dimensional texture has the training images along x and the pixels along y;
//                        beyond both ends it reads 0. One training image and 8 queries per thread: with one, as in the seed,
//                        the texture units are the bottleneck. All threads of a warp read a query's pixels at the same address.
//            auto-texture  §4.3 and §4.3.1: `texture` if the training images are within the device's limits, else `tiled`
// metrics    l2, l1, lp (terms.cuh)
// work       n_query · n_train · dim subtractions and multiply-adds; for each 4 bytes of the training set are read, or one texel
//            for 8 of them

#include <algorithm>
#include <cassert>
#include <map>
#include <mutex>
#include <tuple>

#include "gpu/distance/distance.h"
#include "gpu/distance/terms.cuh"
#include "gpu/distance/transpose.cuh"

namespace knn::gpu {

extern const DistanceKernel tiled_distance;

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
void launch_row_shared(const DistanceLaunch& of) {
    require(of.in.d_prepared != nullptr, "the training set transposed");
    // Enough blocks to fill a large card even with one query.
    const auto slices = static_cast<unsigned>(std::clamp<std::int64_t>(
        divide_up(of.out.cols, threads), 1, std::max<std::int64_t>(1, 2048 / of.out.n)));
    with_terms(of.problem, [&]<class Terms>(const Terms& terms) {
        row_shared_kernel<Terms, threads><<<dim3(grid_size(of.out.n), slices), threads, 0, of.stream>>>(
            static_cast<const float*>(of.in.d_prepared), column_stride(of.out.cols), of.in.query.floats,
            of.out, terms);
    });
}

/// Of the rows: x = column, y = row, no filtering, 0 outside. It is made once and never destroyed: a descriptor of some bytes,
/// no memory, which kernels may still use when a launch ends, and the CUDA context may be gone when the process ends.
cudaTextureObject_t texture_of(const FloatRows& rows) {
    static std::mutex mutex;
    static auto* all = new std::map<std::tuple<int, float*, std::int64_t, std::int64_t>, cudaTextureObject_t>;
    const std::scoped_lock lock(mutex);
    cudaTextureObject_t& texture = (*all)[{current_device(), rows.d_data, rows.n, rows.cols}];
    if (texture != 0) return texture;
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypePitch2D;
    memory.res.pitch2D.devPtr = rows.d_data;
    memory.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    memory.res.pitch2D.width = static_cast<std::size_t>(rows.cols);
    memory.res.pitch2D.height = static_cast<std::size_t>(rows.n);
    memory.res.pitch2D.pitchInBytes = rows.pitch_bytes;
    cudaTextureDesc reading{};
    reading.addressMode[0] = reading.addressMode[1] = cudaAddressModeBorder;
    reading.filterMode = cudaFilterModePoint;
    reading.readMode = cudaReadModeElementType;
    check(cudaCreateTextureObject(&texture, &memory, &reading, nullptr), "creating a texture");
    return texture;
}

constexpr int texture_threads = 256;
constexpr int per_thread = 8;  // queries

/// Grid: groups of 8 queries; those of one training block are adjacent.
template <class Terms>
__global__ void __launch_bounds__(texture_threads)
    texture_kernel(cudaTextureObject_t train, FloatRows query, DistanceRows out, std::int64_t query_groups,
                   const __grid_constant__ Terms terms) {
    __shared__ typename Terms::Shared shared;
    terms.prepare(shared);
    const std::int64_t q = blockIdx.x % query_groups * per_thread;
    const std::int64_t t = blockIdx.x / query_groups * texture_threads + threadIdx.x;
    const float x = static_cast<float>(t) + 0.5f;  // exact below 2²³
    assert(q < query.n && query.aligned(sizeof(float4)));
    const float4* row[per_thread];
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        row[j] = reinterpret_cast<const float4*>(query.row(min(q + j, query.n - 1)));

    typename Terms::Sum sum[per_thread];
    const int steps = static_cast<int>((query.cols + 3) / 4);
    for (int step = 0; step < steps; ++step) {
        float texel[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            texel[i] = tex2D<float>(train, x, static_cast<float>(4 * step + i) + 0.5f);
#pragma unroll
        for (int j = 0; j < per_thread; ++j) {
            const float4 pixels = row[j][step];
            sum[j].add(pixels.x, texel[0], shared);
            sum[j].add(pixels.y, texel[1], shared);
            sum[j].add(pixels.z, texel[2], shared);
            sum[j].add(pixels.w, texel[3], shared);
        }
        if ((step + 1) % (pixels_per_carry / 4) == 0) {
#pragma unroll
            for (int j = 0; j < per_thread; ++j)
                sum[j].carry();
        }
    }
    if (t >= out.cols) return;
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        if (q + j < out.n) out.row(q + j)[t] = sum[j].score();
}

/// Of textures over linear memory; where there is no device, what all so far have.
UnsupportedReason refuse_texture(const Problem& problem) {
    const struct {
        cudaDeviceAttr limit;
        int usual;
        std::int64_t wanted;
        const char* of;
    } limits[] = {
        {cudaDevAttrMaxTexture2DLinearWidth, 131'072, problem.n_train, "training images"},
        {cudaDevAttrMaxTexture2DLinearHeight, 65'000, problem.dim, "pixels of an image"},
        {cudaDevAttrMaxTexture2DLinearPitch, 2'097'120, 4 * column_stride(problem.n_train), "bytes of a row"},
    };
    for (const auto& one : limits) {
        int device = 0, most = one.usual;
        if (cudaGetDevice(&device) == cudaSuccess) cudaDeviceGetAttribute(&most, one.limit, device);
        cudaGetLastError();
        if (one.wanted > most)
            return "texture reads at most " + std::to_string(most) + ' ' + one.of +
                   " on this device; expected the kernel auto-texture, or a smaller problem";
    }
    return std::nullopt;
}

void launch_texture(const DistanceLaunch& of) {
    require(of.in.d_prepared != nullptr, "the training set column by column");
    // Textures are read alone; that the type of their memory is not const is CUDA's.
    const FloatRows columns{static_cast<float*>(const_cast<void*>(of.in.d_prepared)), of.problem.dim,
                            of.out.cols,
                            sizeof(float) * static_cast<std::size_t>(column_stride(of.out.cols))};
    const std::int64_t query_groups = divide_up(of.out.n, per_thread),
                       blocks = query_groups * divide_up(of.out.cols, texture_threads);
    with_terms(of.problem, [&](const auto& terms) {
        texture_kernel<<<grid_size(blocks), texture_threads, 0, of.stream>>>(
            texture_of(columns), of.in.query.floats, of.out, query_groups, terms);
    });
}

void launch_auto(const DistanceLaunch& of) {
    (of.in.d_prepared != nullptr ? launch_texture : tiled_distance.launch)(of);
}

constexpr DistanceOptions transposed(decltype(DistanceOptions::prepared_bytes) bytes = columns_bytes,
                                     decltype(DistanceOptions::refuse) refuse = DistanceOptions{}.refuse) {
    return {.refuse = refuse, .prepared_bytes = bytes, .prepare = prepare_columns, .metrics = direct_metrics};
}

}  // namespace

extern const DistanceKernel row_shared_distance(
    "row_shared", "one query per block in shared memory, the training set transposed", launch_row_shared<256>,
    transposed());
extern const DistanceKernel row_shared512_distance("row_shared512",
                                                   "the same with 512 threads in a block instead of 256",
                                                   launch_row_shared<512>, transposed());
extern const DistanceKernel texture_distance("texture",
                                             "training images through a texture, 8 queries per thread",
                                             launch_texture, transposed(columns_bytes, refuse_texture));
extern const DistanceKernel auto_texture_distance("auto-texture",
                                                  "texture where the training images fit one, else tiled",
                                                  launch_auto, transposed([](const Problem& of) {
                                                      return refuse_texture(of) ? 0 : columns_bytes(of);
                                                  }));

}  // namespace knn::gpu
