#include "gpu/distance/distance.h"

#include "data/core/round_up.h"
#include "gpu/runtime/check.h"

// One line per distance kernel; `classic` uses the first that supports a problem.
#define DISTANCES(ROW) \
    ROW(float4)        \
    ROW(gemm)          \
    ROW(auto_texture)  \
    ROW(texture)       \
    ROW(tiled)         \
    ROW(tiled32)       \
    ROW(tiled8)        \
    ROW(row_shared)    \
    ROW(row_shared512) \
    ROW(naive)

namespace knn::gpu {

#define ROW(name) extern const DistanceKernel name##_distance;
DISTANCES(ROW)
#undef ROW

namespace {
#define ROW(name) &name##_distance,
const DistanceKernel* const table[] = {DISTANCES(ROW)};
#undef ROW
}  // namespace

std::span<const DistanceKernel* const> distance_table() {
    return table;
}

namespace {

template <class T>
bool fits(const PitchedRows<T>& rows, std::int64_t n, std::int64_t cols, std::int64_t min_cols) {
    return rows.n == n && rows.cols == cols &&
           rows.pitch_bytes >= static_cast<std::size_t>(min_cols) * sizeof(T);
}

void check_images(const Images& images, std::int64_t n, std::int64_t dim, Pixels takes) {
    const std::int64_t padded = round_up(dim, 4);
    const bool floats = takes == Pixels::floats;
    require(floats ? fits(images.floats, n, dim, padded) : fits(images.bytes, n, dim, padded),
            "arrays of the problem's shape");
    require(!floats || images.floats.aligned(sizeof(float4)), "rows of floats at multiples of 16 bytes");
    require(floats || images.bytes.aligned(sizeof(uchar4)), "rows of bytes at multiples of 4");
}

}  // namespace

void check_arrays(const Problem& problem, const DistanceInput& in, const DistanceRows& out, Pixels takes) {
    require(
        fits(out, problem.n_query, problem.n_train, problem.n_train) && out.aligned(sizeof(std::uint32_t)),
        "arrays of the problem's shape");
    check_images(in.query, problem.n_query, problem.dim, takes);
    if (in.d_prepared == nullptr) check_images(in.train, problem.n_train, problem.dim, takes);
}

Refusal refuse_all_but(MetricSet metrics, const char* name, const char* names, const Problem& problem) {
    if ((metrics & metric_set(problem.measure.metric)) == 0)
        return std::string(name) + " computes " + names + " distances only";
    return refuse_problem(problem);
}

Refusal refuse_all_but_direct(const char* name, const Problem& problem) {
    return refuse_all_but(direct_metrics, name, "l2, l1 and lp", problem);
}

}  // namespace knn::gpu
