// Rows that are not uint8: their bytes, by which a search finds candidates, and the exact distances of these. cpu/vectors/ computes the
// same on the host, and docs/vectors.md has the proof.
//
// rows        n_train × dim and n_query × dim elements (int8, float32, float64), rows at multiples of 4 bytes and of an element; device memory
// norms       of each row: mean, a·a, 1 / √(a·a); none unless by cosine or pearson
// offsets     dim doubles
// bytes       n_query × dim: the nearest to u = (x − offset) · scale
// lost        n_query doubles: above ‖u − byte‖, in the norm of the metric
// candidates  n_query × c pairs (score of bytes, index), each row in order
// out         n_query × k pairs (score of the exact distance, index), in the order of (exact distance, index); no_neighbor alone if the
//             candidates do not prove that these are the nearest
// launch      a warp per query. bytes: a lane takes every 32nd element. exact: eight candidates at a time, two for each eight lanes, which
//             have the eight partial sums of data/core/exact_distance.h. In the order of the bounds, until k distances are below the
//             bound of all candidates that follow; then each lane counts how many distances precede its own.
// shared      c doubles for each warp
// limits      k <= c <= 1,024
// exactness   one rounding per operation (compiled with -fmad=false), and fma where the definition has it
// work        bytes: n_query · dim elements; exact: the rows of the candidates, from the L2 cache or memory, and 3 operations for an element

#include "gpu/vectors/reals.h"

#include <cassert>

#include "data/core/exact_distance.h"
#include "gpu/runtime/stream.h"
#include "gpu/runtime/warp.cuh"

namespace knn::gpu {

namespace {

constexpr int warps = 4, threads = warps * warp_size;
constexpr int n_sums = 8, groups = warp_size / n_sums, at_once = 2 * groups;  // candidates
static_assert(warps * max_device_k * sizeof(double) <= 48 << 10, "more must be asked for");

enum class Terms { squares, differences, products };

/// What the kernels read of the training rows.
struct Kept {
    RealQueries rows;
    const double* d_offsets;
    ByteBound bound;
    double largest_lost;
};

template <class T>
__device__ const T* row_of(const RealQueries& rows, std::int64_t i) {
    return reinterpret_cast<const T*>(rows.rows.row(i));
}

__device__ RealNorm norm_of(const RealQueries& rows, std::int64_t i) {
    return rows.d_norms != nullptr ? rows.d_norms[i] : RealNorm{};
}

template <class T>
__global__ void __launch_bounds__(threads)
    bytes_kernel(Kept train, RealQueries queries, ByteRows bytes, double* d_lost) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t q = std::int64_t{blockIdx.x} * warps + threadIdx.x / warp_size;
    if (q >= bytes.n) return;
    const T* const row = row_of<T>(queries, q);
    const RealNorm norm = norm_of(queries, q);
    double lost = 0;
    for (std::int64_t j = lane; j < bytes.cols; j += warp_size) {
        double x = row[j];
        if (train.bound.is_angle) x = (x - norm.mean) * norm.inverse_length;
        const double u = (x - train.d_offsets[j]) * train.bound.scale;
        const auto byte = static_cast<std::int32_t>(fmax(fmin(u, 255.0), 0.0) + 0.5);
        const double error = u - byte;
        lost += train.bound.is_l1 ? fabs(error) : error * error;
        bytes.row(q)[j] = static_cast<std::uint8_t>(byte);
    }
    lost = warp_sum(lost);
    if (lane == 0) d_lost[q] = train.bound.lost(lost);
}

template <Terms terms>
__device__ double with_term(double a, double b, double sum) {
    if constexpr (terms == Terms::products) return fma(a, b, sum);
    const double d = a - b;
    return terms == Terms::squares ? fma(d, d, sum) : sum + fabs(d);
}

/// Of the eight lanes, each of which has a partial sum.
__device__ double total_of(double sum) {
    for (int step = n_sums / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(all_lanes, sum, step);
    return sum;
}

/// The distances of the query and two training rows, on all of the eight lanes.
template <class T, Terms terms>
__device__ double2 two_distances(const Kept& train, const RealQueries& queries, std::int64_t q,
                                 std::uint32_t first, std::uint32_t second) {
    const T *const row = row_of<T>(queries, q), *const a = row_of<T>(train.rows, first),
                   *const b = row_of<T>(train.rows, second);
    const RealNorm own = norm_of(queries, q), of_a = norm_of(train.rows, first),
                   of_b = norm_of(train.rows, second);
    const std::int64_t dim = queries.rows.cols / static_cast<std::int64_t>(sizeof(T));
    double2 sum{0, 0};
#pragma unroll 4
    for (std::int64_t j = threadIdx.x % n_sums; j < dim; j += n_sums) {
        double x = row[j], y = a[j], z = b[j];
        if constexpr (terms == Terms::products) {
            x -= own.mean;
            y -= of_a.mean;
            z -= of_b.mean;
        }
        sum = {with_term<terms>(x, y, sum.x), with_term<terms>(x, z, sum.y)};
    }
    __syncwarp();
    sum = {total_of(sum.x), total_of(sum.y)};
    if constexpr (terms == Terms::products)
        return {cosine_distance(sum.x, own.square, of_a.square),
                cosine_distance(sum.y, own.square, of_b.square)};
    return sum;
}

/// Grid: groups of `warps` queries.
template <class T, Terms terms>
__global__ void __launch_bounds__(threads)
    exact_kernel(Kept train, RealQueries queries, NeighborRows candidates, const double* d_lost,
                 NeighborRows out) {
    extern __shared__ double all_distances[];
    const int warp = static_cast<int>(threadIdx.x) / warp_size,
              lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t q = std::int64_t{blockIdx.x} * warps + warp;
    if (q >= out.n_query) return;
    const int n = candidates.k, k = out.k;
    assert(k >= 1 && k <= n && n <= max_device_k);
    double* const distances = all_distances + warp * n;
    const Neighbor* const row = candidates.d_data + q * n;
    const double lost = d_lost[q] + train.largest_lost;
    bool is_proven = false;
    int done = 0;
    while (done < n) {
        const int first = done + lane / n_sums, second = first + groups;
        const double2 two = two_distances<T, terms>(train, queries, q, row[min(first, n - 1)].index,
                                                    row[min(second, n - 1)].index);
        if (lane % n_sums == 0 && first < n) distances[first] = two.x;
        if (lane % n_sums == 0 && second < n) distances[second] = two.y;
        __syncwarp();
        done = min(done + at_once, n);
        if (done < k) continue;
        const double bound = train.bound.least_distance(row[min(done, n - 1)].distance, lost);
        int below = 0;
        for (int i = lane; i < done; i += warp_size)
            below += distances[i] < bound;
        if (warp_sum(below) < k) continue;
        is_proven = true;
        break;
    }
    Neighbor* const found = out.d_data + q * k;
    for (int i = lane; i < (is_proven ? done : k); i += warp_size) {
        if (!is_proven) {
            found[i] = no_neighbor;
            continue;
        }
        const double own = distances[i];
        int rank = 0;
        for (int j = 0; j < done; ++j)
            rank += distances[j] < own || (distances[j] == own && row[j].index < row[i].index);
        if (rank < k) found[rank] = {score_of_real(own), row[i].index};
    }
}

/// work(an element of the type).
template <class Work>
void with_type(ElementType type, const Work& work) {
    if (type == ElementType::int8) return work(std::int8_t{});
    if (type == ElementType::float32) return work(float{});
    require(type == ElementType::float64, "rows of int8, float32 or float64");
    work(double{});
}

}  // namespace

DeviceReals::DeviceReals(const QuantizedRows& rows)
    : type_(rows.rows.type),
      n_(rows.rows.count),
      dim_(rows.rows.dim),
      bound_(rows.bound),
      largest_lost_(rows.largest_lost),
      norms_(rows.norms.size()),
      offsets_(rows.offsets.size()) {
    const Stream stream;
    rows_.upload(rows.rows, stream);
    enqueue_copy(rows.norms, norms_.d_data(), stream, "uploading norms");
    enqueue_copy(rows.offsets, offsets_.d_data(), stream, "uploading offsets");
    stream.synchronize();
}

bool DeviceReals::take(const TopKRequest& wanted) const {
    const Rows& queries = wanted.queries.rows;
    return queries.type == type_ && queries.dim == dim_ && wanted.candidates >= wanted.k &&
           wanted.candidates <= std::min<std::int64_t>(max_device_k, n_) &&
           std::ssize(wanted.norms) == (bound_.is_angle ? queries.count : 0);
}

void DeviceReals::enqueue_bytes(const RealQueries& queries, const ByteRows& bytes, cudaStream_t stream) {
    const Kept train{{}, offsets_.d_data(), bound_, largest_lost_};
    with_type(type_, [&](auto element) {
        bytes_kernel<decltype(element)><<<grid_size(divide_up(bytes.n, warps)), threads, 0, stream>>>(
            train, queries, bytes, lost_.d_data());
    });
    check_launch("launching bytes of real rows");
}

void DeviceReals::enqueue_exact(const RealQueries& queries, const NeighborRows& candidates,
                                const NeighborRows& out, cudaStream_t stream) {
    require(out.k <= candidates.k && candidates.k <= max_device_k && out.n_query == queries.rows.n,
            "k to 1024 candidates of each query");
    with_type(type_, [&](auto element) {
        using T = decltype(element);
        const Kept train{{rows_.rows(n_, dim_ * static_cast<std::int64_t>(sizeof(T))),
                          bound_.is_angle ? norms_.d_data() : nullptr},
                         offsets_.d_data(),
                         bound_,
                         largest_lost_};
        const auto kernel = bound_.is_angle ? exact_kernel<T, Terms::products>
                            : bound_.is_l1  ? exact_kernel<T, Terms::differences>
                                            : exact_kernel<T, Terms::squares>;
        kernel<<<grid_size(divide_up(out.n_query, warps)), threads,
                 warps* static_cast<std::size_t>(candidates.k) * sizeof(double), stream>>>(
            train, queries, candidates, lost_.d_data(), out);
    });
    check_launch("launching exact distances");
}

}  // namespace knn::gpu
