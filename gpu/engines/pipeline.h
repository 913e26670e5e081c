#pragma once
/// What app/ calls of the GPU. Plain C++: no CUDA type crosses this line.

#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "data/core/searcher.h"

namespace knn::gpu {

/// A distance kernel or a selector as the command line, --help and `info` show it.
struct StrategyInfo {
    std::string name, summary;
};
std::vector<StrategyInfo> distance_kernels();
std::vector<StrategyInfo> selectors();

/// The GPUs that this build can use; empty where there is none. `why_none` (may be null) then gets the
/// reason.
std::vector<Device> devices(std::string* why_none = nullptr);

/// Why the pipeline with these strategies cannot answer the problem; names are as in SearchRequest.
/// Votes weighted by lp distances are refused: their powers are rounded differently on GPU and CPU.
Refusal refuse(const Problem& problem, const std::string& distance, const std::string& select);

/// The pipeline `classic`: upload → expand → distance → sort → vote → download, batch by batch.
/// Throws DeviceError (no such device, out of memory, a CUDA error), UsageError (unknown strategy, refused
/// problem), Interrupted (watch.stop was set).
SearchResult search(const SearchRequest& request, const Watch& watch);

/// The engine `tensor`: exact 8-bit products on tensor cores with the selection in the same kernel; the same
/// answers and errors. request.distance may name one of tensor_kernels().
Refusal refuse_tensor(const SearchRequest& request);
SearchResult search_tensor(const SearchRequest& request, const Watch& watch);
std::vector<StrategyInfo> tensor_kernels();

/// Host memory that a GPU reads at full speed. Creating it starts the CUDA context of `device` on another
/// thread; memory is handed out at once, so that files can be read meanwhile, and pinned when `pin` is
/// called.
class HostMemory : public std::pmr::memory_resource {
  public:
    /// Waits for the context and pins all that has been handed out. Throws DeviceError.
    virtual void pin() = 0;
};
std::unique_ptr<HostMemory> host_memory(int device);

}  // namespace knn::gpu
