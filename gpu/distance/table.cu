#include "gpu/distance/distance.h"
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

void check_arrays(const Refusal& refusal, const Problem& problem, const FloatRows& train,
                  const FloatRows& query, const DistanceRows& out) {
    require_supported(refusal);
    const auto fits = [](const auto& rows, std::int64_t n, std::int64_t cols, std::int64_t room) {
        return rows.n == n && rows.cols == cols &&
               rows.pitch_bytes >= static_cast<std::size_t>(room) * sizeof(*rows.d_data);
    };
    const std::int64_t padded = (problem.dim + 3) / 4 * 4;
    require(fits(train, problem.n_train, problem.dim, padded) &&
                fits(query, problem.n_query, problem.dim, padded) &&
                fits(out, problem.n_query, problem.n_train, problem.n_train),
            "arrays of the problem's shape");
    require(
        train.aligned(sizeof(float4)) && query.aligned(sizeof(float4)) && out.aligned(sizeof(std::uint32_t)),
        "rows of floats at multiples of 16 bytes");
}

Refusal refuse_all_but(MetricSet metrics, const char* name, const char* names, const Problem& problem) {
    if ((metrics & metric_set(problem.metric)) == 0)
        return std::string(name) + " computes " + names + " distances only";
    return refuse_problem(problem);
}

Refusal refuse_all_but_direct(const char* name, const Problem& problem) {
    return refuse_all_but(direct_metrics, name, "l2, l1 and lp", problem);
}

}  // namespace knn::gpu
