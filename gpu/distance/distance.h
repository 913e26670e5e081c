#pragma once
/// What a distance kernel is, and the table of them.

#include <cuda_runtime.h>

#include <cstddef>
#include <span>

#include "data/core/problem.h"
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

/// The input of a launch.
struct DistanceInput {
    Images train;  ///< only if the kernel has no `prepare`
    Images query;
    const void* d_prepared = nullptr;  ///< the output of `prepare`
};

/// One way to fill the matrix of scores (data/core/metric.h; for l2 the squared distances). Members with
/// defaults may be omitted.
struct DistanceKernel {
    const char* name;
    const char* summary;
    /// Why it cannot on the current device; empty if it can. `problem.n_query` is the batch size.
    Refusal (*supports)(const Problem& problem);
    /// The training set in a form of the kernel's own, made once and kept: its size (0: the kernel reads the
    /// training set itself), and what queues the launches that make it. The training set is not needed
    /// afterwards.
    std::size_t (*prepared_bytes)(const Problem& problem) = [](const Problem&) -> std::size_t { return 0; };
    void (*prepare)(const Problem& problem, const Images& train, void* d_prepared,
                    cudaStream_t stream) = nullptr;
    std::size_t (*workspace_bytes)(const Problem& problem) = [](const Problem&) -> std::size_t { return 0; };
    /// Queues the launches on `stream`; allocates nothing and waits for nothing. out: problem.n_query ×
    /// problem.n_train.
    void (*enqueue)(const Problem& problem, const DistanceInput& in, const DistanceRows& out,
                    void* d_workspace, cudaStream_t stream) = nullptr;
    MetricSet metrics = metric_set(Metric::l2);
    double operations = 3;  ///< per pair and pixel: subtract, multiply, add
    Pixels takes = Pixels::floats;
    /// Loads its kernels onto the current device (load_kernels); for kernels that `classic` uses by default.
    void (*load)(const Problem& problem) = [](const Problem&) {};
};

/// All of them; the first that supports a problem is what `classic` uses.
std::span<const DistanceKernel* const> distance_table();

/// Every `enqueue` asserts that `supports` accepts the problem, and calls this. Throws DeviceError if an array
/// does not have the problem's shape or the row alignment of views.h. What is prepared replaces the training set.
void check_arrays(const Problem& problem, const DistanceInput& in, const DistanceRows& out,
                  Pixels takes = Pixels::floats);

/// Every `supports` calls this first: the limits of all engines, and that kernel `name` computes only
/// `metrics`; `names` lists these in the message.
Refusal refuse_all_but(MetricSet metrics, const char* name, const char* names, const Problem& problem);
/// The same for direct_metrics.
Refusal refuse_all_but_direct(const char* name, const Problem& problem);

}  // namespace knn::gpu
