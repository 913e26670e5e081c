#pragma once
/// What a distance kernel is, and the table of them.

#include <cuda_runtime.h>

#include <cstddef>
#include <span>

#include "data/core/problem.h"
#include "gpu/runtime/views.h"
#include "gpu/runtime/workspace.h"

namespace knn::gpu {

/// A set of metrics.
using MetricSet = unsigned;
template <class... Metrics>
constexpr MetricSet metric_set(Metrics... metrics) {
    return ((MetricSet{1} << static_cast<unsigned>(metrics)) | ...);
}
/// The metrics that are sums over pixels.
inline constexpr MetricSet direct_metrics = metric_set(Metric::l2, Metric::l1, Metric::lp);

/// One way to fill the matrix of scores (data/core/metric.h; for l2 the squared distances). Members with
/// defaults may be omitted.
struct DistanceKernel {
    const char* name;
    const char* summary;
    /// Why it cannot; empty if it can. `problem.n_query` is the batch size.
    Refusal (*supports)(const Problem& problem);
    std::size_t (*workspace_bytes)(const Problem& problem) = no_workspace;
    /// Queues the launches on `stream`; allocates nothing and waits for nothing. out: problem.n_query ×
    /// problem.n_train.
    void (*enqueue)(const Problem& problem, const FloatRows& train, const FloatRows& query,
                    const DistanceRows& out, void* d_workspace, cudaStream_t stream) = nullptr;
    MetricSet metrics = metric_set(Metric::l2);
    int operations = 3;  ///< per pair and pixel: subtract, multiply, add
};

/// All of them; the first that supports a problem is what `classic` uses.
std::span<const DistanceKernel* const> distance_table();

/// Every `enqueue` calls this first. Throws DeviceError if `supports` refuses the problem, or if an array
/// does not have the problem's shape or the row alignment of views.h.
void check_arrays(const Refusal& refusal, const Problem& problem, const FloatRows& train,
                  const FloatRows& query, const DistanceRows& out);

/// Every `supports` calls this first: the limits of all engines, and that kernel `name` computes only
/// `metrics`; `names` lists these in the message.
Refusal refuse_all_but(MetricSet metrics, const char* name, const char* names, const Problem& problem);
/// The same for direct_metrics.
Refusal refuse_all_but_direct(const char* name, const Problem& problem);

}  // namespace knn::gpu
