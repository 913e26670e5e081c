#pragma once
/// What a distance kernel is, and the table of them.

#include <cuda_runtime.h>

#include <cstddef>
#include <span>

#include "data/core/problem.h"
#include "data/core/round_up.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// A set of metrics.
using MetricSet = unsigned;
template <class... Metrics>
constexpr MetricSet metric_set(Metrics... metrics) {
    return ((MetricSet{1} << static_cast<unsigned>(metrics)) | ...);
}
/// The metrics that are sums over pixels.
inline constexpr MetricSet direct_metrics = metric_set(Metric::l2, Metric::l1, Metric::lp);

/// The type of pixel that a kernel reads.
enum class Pixels { floats, bytes };

/// Images in the format that a kernel reads; the other view is empty.
struct Images {
    FloatRows floats;
    ByteRows bytes;
};

struct DistanceInput {
    Images train;  ///< only if the kernel has no `prepare`
    Images query;
    const void* d_prepared = nullptr;  ///< the output of `prepare`
};

struct DistanceLaunch {
    const Problem& problem;
    DistanceInput in;
    DistanceRows out;  ///< n_query × n_train
    void* d_workspace;
    cudaStream_t stream;
};

struct DistanceOptions {
    /// Why it cannot on the current device, beside the limits of all engines and its metrics; empty if it can.
    UnsupportedReason (*refuse)(const Problem& problem) = [](const Problem&) { return UnsupportedReason(); };
    /// The training set in a form of the kernel's own, made once and kept: its size (0: the kernel reads the
    /// training set itself), and what queues the launches that make it. The training set is not needed
    /// afterwards.
    std::size_t (*prepared_bytes)(const Problem& problem) = [](const Problem&) -> std::size_t { return 0; };
    void (*prepare)(const Problem& problem, const Images& train, void* d_prepared,
                    cudaStream_t stream) = nullptr;
    std::size_t (*workspace_bytes)(const Problem& problem) = [](const Problem&) -> std::size_t { return 0; };
    MetricSet metrics = metric_set(Metric::l2);
    double operations = 3;  ///< per pair and pixel: subtract, multiply, add
    Pixels takes = Pixels::floats;
    /// The queries are the first training points: one of each two equal distances is computed, and that of a point to itself is
    /// `excluded_distance` (seed 004).
    bool half = false;
    /// Loads its kernels onto the current device (load_kernels); for kernels that `classic` uses by default.
    void (*load)(const Problem& problem) = [](const Problem&) {};
};

/// One way to fill the matrix of scores (data/core/metric.h; for l2 the squared distances), unless a file says otherwise:
///
///   train  n_train × dim floats holding integers 0..255, zeros up to a multiple of 4, pitched rows, device memory
///   query  n_query × dim floats, the same
///   out    n_query × n_train 32-bit scores, pitched rows
///
/// The summary is for those that a user can name.
struct DistanceKernel : DistanceOptions {
    constexpr DistanceKernel(const char* name_, const char* summary_, void (*launch_)(const DistanceLaunch&),
                             const DistanceOptions& options = {})
        : DistanceOptions(options), name(name_), summary(summary_), launch(launch_) {}

    const char* name;
    const char* summary;
    /// Queues the launches; allocates nothing and waits for nothing. `enqueue` checks the arrays before and the launches after.
    void (*launch)(const DistanceLaunch& of);

    /// Why it cannot on the current device; empty if it can. `problem.n_query` is the batch size.
    UnsupportedReason supports(const Problem& problem) const;
    /// Launches; asserts that it supports the problem. Throws DeviceError if an array does not have the problem's shape or
    /// the row alignment of views.h. What is prepared replaces the training set.
    void enqueue(const Problem& problem, const DistanceInput& in, const DistanceRows& out, void* d_workspace,
                 cudaStream_t stream) const;
};

/// All that a user can name; the first that supports a problem is what `classic` uses.
std::span<const DistanceKernel* const> distance_table();
/// Those that only `bench` runs, because each repeats a step of a paper.
std::span<const DistanceKernel> bench_distance_table();

/// Queues the copy of 8-bit pixels into float rows; in.n == out.n, in.cols == out.cols == dim.
/// Pads each float row with zeros to a multiple of 4, so that float4 loads read no uninitialized memory.
void enqueue_expand(const ByteRows& in, const FloatRows& out, cudaStream_t stream);

/// Pixels 4 · i to 4 · i + 3 of a row of `cols` bytes that begins at a multiple of 4; those beyond its end are
/// 0, whatever is there. 4 · i < cols.
__device__ inline uchar4 four_pixels(const std::uint8_t* row, std::int64_t i, std::int64_t cols) {
    if (4 * i + 4 <= cols) return reinterpret_cast<const uchar4*>(row)[i];
    uchar4 pixels = make_uchar4(row[4 * i], 0, 0, 0);
    if (4 * i + 1 < cols) pixels.y = row[4 * i + 1];
    if (4 * i + 2 < cols) pixels.z = row[4 * i + 2];
    return pixels;
}

}  // namespace knn::gpu
