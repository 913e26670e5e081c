#include "gpu/distance/distance.h"

#include <cassert>

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
    require(floats ? images.floats.aligned(sizeof(float4)) : images.bytes.aligned(sizeof(uchar4)),
            floats ? "rows of floats at multiples of 16 bytes" : "rows of bytes at multiples of 4");
}

std::string names_of(MetricSet metrics) {
    std::string names;
    for (unsigned i = 0; metrics >> i != 0; ++i) {
        if ((metrics >> i & 1) == 0) continue;
        if (!names.empty()) names += metrics >> i == 1 ? " and " : ", ";
        names += name_list<Metric>[i];
    }
    return names;
}

}  // namespace

UnsupportedReason DistanceKernel::supports(const Problem& problem) const {
    if ((metrics & metric_set(problem.measure.metric)) == 0)
        return std::string(name) + " computes " + names_of(metrics) + " distances only";
    if (UnsupportedReason refusal = refuse_problem(problem)) return refusal;
    return refuse(problem);
}

void DistanceKernel::enqueue(const Problem& problem, const DistanceInput& in, const DistanceRows& out,
                             void* d_workspace, cudaStream_t stream) const {
    assert(!supports(problem));
    require(
        fits(out, problem.n_query, problem.n_train, problem.n_train) && out.aligned(sizeof(std::uint32_t)),
        "arrays of the problem's shape");
    check_images(in.query, problem.n_query, problem.dim, takes);
    if (in.d_prepared == nullptr) check_images(in.train, problem.n_train, problem.dim, takes);
    launch({problem, in, out, d_workspace, stream});
    check_launch(("launching " + std::string(name)).c_str());
}

}  // namespace knn::gpu
