// Distances from a matrix product (seed 001, "Distance calculation"): ‖q‖² + ‖r‖² − 2 q·r, cosine,
// Pearson.
//
// train      n_train × dim bytes, pitched rows (multiples of 4 bytes), device memory; read once
// query      n_query × dim bytes, the same
// prepared   the training set as signed bytes, pixel − 128, rows `stride` = dim rounded up to 32 bytes apart,
//            zeros beyond dim; Σ and Σ² of every such row; padded to a multiple of 4 rows
// workspace  the queries in the same format; 32 MiB for cuBLAS
// out        n_query × n_train 32-bit scores, rows aligned to 16 bytes; columns between n_train and the next
//            multiple of 4 are overwritten
// launch     one warp per row shifts the bytes and sums; then cuBLAS multiplies 8-bit integers into `out`,
//            and a pass over it converts the products to scores. Query slices that fit in the L2 cache were
//            slower: small products lose more than the cached pass gains (docs/performance.md).
// exact      with q' = q − 128 and r' = r − 128 the products are signed bytes and cuBLAS sums them in
//            32-bit integers: |Σ q' r'| <= 128² · dim <= 1.09·10⁹ < 2³¹. A squared distance does not
//            change when both sides are shifted: Σq'² + Σr'² − 2 Σq'r', modulo 2³², which holds it.
//            Neither does Pearson's dim · Σqr − Σq Σr; cosine's q·r is Σq'r' + 128 (Σq' + Σr') + 128² ·
//            dim. The rest is cosine_score with one rounding per operation.
// metrics    l2, cosine, pearson
// limits     dim <= 66,051 (the distance fits in 32 bits); cuBLAS must be installed at run time
// work       2 · n_query · n_train · dim tensor core operations: 0.94·10¹² for MNIST; writes 4 bytes per
//            pair twice and reads them once

#include <algorithm>
#include <cassert>

#include "gpu/distance/distance.h"
#include "gpu/runtime/cublas_lt.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

namespace {

constexpr int shift = 128;
constexpr int gemm_threads = 256;
constexpr int rows_per_block = 8;  // in the score pass

/// Σ (pixel − 128) and Σ (pixel − 128)² of an image.
struct Sums {
    int sum;
    unsigned squares;
};

/// Signed bytes and their sums: n rows in memory of `bytes` bytes, the sums behind the rows.
struct Shifted {
    std::int64_t n, stride;
    std::size_t sums_begin, bytes;
    char* d_memory = nullptr;

    Shifted(std::int64_t rows, std::int64_t dim, const void* d_memory_ = nullptr)
        : n(rows),
          stride(round_up(dim, 32)),
          sums_begin(static_cast<std::size_t>(round_up(n * stride, 256))),
          bytes(sums_begin +
                static_cast<std::size_t>(round_up(n * static_cast<std::int64_t>(sizeof(Sums)), 256))),
          d_memory(static_cast<char*>(const_cast<void*>(d_memory_))) {}

    __host__ __device__ std::int8_t* d_data() const { return reinterpret_cast<std::int8_t*>(d_memory); }
    __host__ __device__ Sums* d_sums() const { return reinterpret_cast<Sums*>(d_memory + sums_begin); }
};
Shifted shifted_train(const Problem& problem, const void* d_memory = nullptr) {
    return {round_up(problem.n_train, 4), problem.dim, d_memory};
}
Shifted shifted_query(const Problem& problem, const void* d_memory = nullptr) {
    return {problem.n_query, problem.dim, d_memory};
}

/// One warp per row; rows and columns beyond those of `in` become 0.
__global__ void __launch_bounds__(gemm_threads) shift_kernel(ByteRows in, Shifted out) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t n = (std::int64_t{blockIdx.x} * gemm_threads + threadIdx.x) / warp_size;
    if (n >= out.n) return;
    assert(in.aligned(sizeof(uchar4)) && out.stride % 32 == 0 && out.stride >= in.cols);
    const std::int64_t cols = n < in.n ? in.cols : 0;
    const std::uint8_t* in_row = in.row(n < in.n ? n : 0);
    auto* out_row = reinterpret_cast<char4*>(out.d_data() + n * out.stride);
    int sum = 0;
    unsigned squares = 0;
    for (std::int64_t i = lane; 4 * i < out.stride; i += warp_size) {
        const uchar4 pixels = 4 * i < cols ? four_pixels(in_row, i, cols) : make_uchar4(0, 0, 0, 0);
        const auto shifted = [&](std::int64_t column, unsigned char pixel) {
            const int value = column < cols ? pixel - shift : 0;
            sum += value;
            squares += static_cast<unsigned>(value * value);
            return static_cast<signed char>(value);
        };
        char4 bytes;
        bytes.x = shifted(4 * i, pixels.x);
        bytes.y = shifted(4 * i + 1, pixels.y);
        bytes.z = shifted(4 * i + 2, pixels.z);
        bytes.w = shifted(4 * i + 3, pixels.w);
        out_row[i] = bytes;
    }
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    if (lane == 0) out.d_sums()[n] = {sum, squares};
}

/// cosine_score of data/core/metric.h, bit for bit: every operation rounds once, to nearest; nothing is fused. All three
/// arguments are integers.
__device__ std::uint32_t cosine_score(double dot, double norm_a, double norm_b) {
    if (norm_a == 0 || norm_b == 0) return __float_as_uint(1.0f);
    const double distance = __dsub_rn(1.0, __ddiv_rn(dot, __dsqrt_rn(__dmul_rn(norm_a, norm_b))));
    return __float_as_uint(__double2float_rn(fmax(distance, 0.0)));
}

/// The contribution of one image to the score of a pair; integers below 2⁵³.
struct L2Side {
    unsigned squares;
    __device__ L2Side(const Sums& sums, std::int64_t) : squares(sums.squares) {}
    __device__ static std::uint32_t score(const L2Side& a, const L2Side& b, int product, std::int64_t) {
        return a.squares + b.squares - 2u * static_cast<unsigned>(product);
    }
};

struct CosineSide {
    double offset, norm;  // a·b = product + both offsets
    __device__ CosineSide(const Sums& sums, std::int64_t dim)
        : offset(static_cast<double>(shift * std::int64_t{sums.sum} + shift * shift / 2 * dim)),
          norm(static_cast<double>(sums.squares + 2 * shift * std::int64_t{sums.sum} + shift * shift * dim)) {
    }
    __device__ static std::uint32_t score(const CosineSide& a, const CosineSide& b, int product,
                                          std::int64_t) {
        return cosine_score(product + (a.offset + b.offset), a.norm, b.norm);
    }
};

struct PearsonSide {
    double sum, norm;
    __device__ PearsonSide(const Sums& sums, std::int64_t dim)
        : sum(sums.sum), norm(static_cast<double>(dim * sums.squares - std::int64_t{sums.sum} * sums.sum)) {}
    __device__ static std::uint32_t score(const PearsonSide& a, const PearsonSide& b, int product,
                                          std::int64_t dim) {
        return cosine_score(static_cast<double>(dim) * product - a.sum * b.sum, a.norm, b.norm);
    }
};

/// Converts products to scores in place, 4 training images and 8 queries per thread. Grid: training images /
/// 1,024, queries / 8 but at most 65,535.
template <class Side>
__global__ void __launch_bounds__(gemm_threads)
    score_kernel(DistanceRows out, const Sums* d_train, const Sums* d_query, std::int64_t dim) {
    const std::int64_t t = 4 * (std::int64_t{blockIdx.x} * gemm_threads + threadIdx.x);
    if (t >= out.cols) return;
    assert(out.aligned(sizeof(uint4)) && (t + 4) * sizeof(std::uint32_t) <= out.pitch_bytes);
    const Side train[4] = {
        {d_train[t], dim}, {d_train[t + 1], dim}, {d_train[t + 2], dim}, {d_train[t + 3], dim}};
    for (std::int64_t begin = std::int64_t{blockIdx.y} * rows_per_block; begin < out.n;
         begin += std::int64_t{gridDim.y} * rows_per_block) {
        const std::int64_t end = min(begin + rows_per_block, out.n);
#pragma unroll 4
        for (std::int64_t q = begin; q < end; ++q) {
            const Side query(d_query[q], dim);
            auto* scores = reinterpret_cast<uint4*>(out.row(q) + t);
            uint4 value = *scores;
            value.x = Side::score(query, train[0], static_cast<int>(value.x), dim);
            value.y = Side::score(query, train[1], static_cast<int>(value.y), dim);
            value.z = Side::score(query, train[2], static_cast<int>(value.z), dim);
            value.w = Side::score(query, train[3], static_cast<int>(value.w), dim);
            *scores = value;
        }
    }
}

auto score_kernel_for(Metric metric) {
    return metric == Metric::cosine    ? score_kernel<CosineSide>
           : metric == Metric::pearson ? score_kernel<PearsonSide>
                                       : score_kernel<L2Side>;
}

void enqueue_scores(const Problem& problem, const DistanceRows& out, const Sums* d_train, const Sums* d_query,
                    cudaStream_t stream) {
    const auto kernel = score_kernel_for(problem.measure.metric);
    const dim3 grid(grid_size(divide_up(out.cols, 4 * gemm_threads)),
                    static_cast<unsigned>(std::min(divide_up(out.n, rows_per_block), max_grid_y)));
    kernel<<<grid, gemm_threads, 0, stream>>>(out, d_train, d_query, problem.dim);
}

void enqueue_shift(const ByteRows& in, const Shifted& out, cudaStream_t stream) {
    shift_kernel<<<grid_size(divide_up(out.n, gemm_threads / warp_size)), gemm_threads, 0, stream>>>(in, out);
    check_launch("launching the bytes of gemm");
}

UnsupportedReason refuse_gemm(const Problem&) {
    if (const UnsupportedReason refusal = cublas::refuse()) return "gemm cannot run: " + *refusal;
    return std::nullopt;
}

std::size_t prepared_bytes(const Problem& problem) {
    return shifted_train(problem).bytes;
}

void prepare(const Problem& problem, const Images& train, void* d_prepared, cudaStream_t stream) {
    enqueue_shift(train.bytes, shifted_train(problem, d_prepared), stream);
}

std::size_t workspace_bytes(const Problem& problem) {
    return shifted_query(problem).bytes + cublas::product_workspace_bytes;
}

void launch_gemm(const DistanceLaunch& of) {
    const auto& [problem, in, out, d_workspace, stream] = of;
    require(in.d_prepared != nullptr, "the training set as signed bytes");
    require(out.aligned(sizeof(uint4)) &&
                out.pitch_bytes >= sizeof(std::uint32_t) * static_cast<std::size_t>(round_up(out.cols, 4)),
            "rows of scores at multiples of 16 bytes");
    const Shifted train = shifted_train(problem, in.d_prepared), query = shifted_query(problem, d_workspace);
    enqueue_shift(in.query.bytes, query, stream);

    const auto out_stride = static_cast<std::int64_t>(out.pitch_bytes / sizeof(std::uint32_t));
    cublas::enqueue_product({train.n, query.n, round_up(problem.dim, 16), train.stride, out_stride},
                            train.d_data(), query.d_data(), reinterpret_cast<std::int32_t*>(out.d_data),
                            static_cast<char*>(d_workspace) + query.bytes, stream);
    enqueue_scores(problem, out, train.d_sums(), query.d_sums(), stream);
}

void load_gemm(const Problem& problem) {
    load_kernels(shift_kernel, score_kernel_for(problem.measure.metric));
}

}  // namespace

extern const DistanceKernel gemm_distance("gemm",
                                          "dot products of 8-bit integers by cuBLAS; also cosine and pearson",
                                          launch_gemm,
                                          {.refuse = refuse_gemm,
                                           .prepared_bytes = prepared_bytes,
                                           .prepare = prepare,
                                           .workspace_bytes = workspace_bytes,
                                           .metrics = metric_set(Metric::l2, Metric::cosine, Metric::pearson),
                                           .operations = 2,
                                           .takes = Pixels::bytes,
                                           .load = load_gemm});

}  // namespace knn::gpu
