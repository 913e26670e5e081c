#pragma once
/// The GPU engines as classifier/ and app/ call them. Plain C++, without CUDA types.

#include <memory>
#include <string>
#include <vector>

#include "data/core/dataset.h"
#include "data/core/device_index.h"
#include "data/core/plan.h"

namespace knn::gpu {

std::vector<Strategy> distance_kernels();
std::vector<Strategy> selectors();
std::vector<Strategy> tensor_kernels();

/// The GPUs that this build can use; empty if there is none. `why_none` (may be null) then gets the
/// reason.
std::vector<Device> devices(std::string* why_none = nullptr);

/// One for each pair of the GPUs; none if there is one GPU or none. Throws DeviceError.
std::vector<DeviceLink> links();

/// The version of the NCCL library that this process would load; empty: `why_none`.
std::string nccl_version(std::string& why_none);

/// The engine `classic`: a matrix of distances, then a selection (upload → [transform] → expand → distance → sort → [describe →
/// rerank] → [vote] → download; in brackets what the method has). `configure` says why it does not support the problem on plan.device with the strategies that the
/// plan names (empty: any); if it does, it sets plan.distance, plan.select and plan.threads. `open` takes a
/// configured plan, uploads the training set and keeps it on the device. Both throw DeviceError (no such device;
/// `open`: out of memory, a CUDA error).
UnsupportedReason configure_classic(const Problem& problem, Plan& plan);
std::unique_ptr<DeviceIndex> open_classic(const Training& training, const Measure& measure, const Plan& plan,
                                          Timeline& timeline);

/// The engine `tensor`: exact 8-bit products on tensor cores, with the selection in the same kernel (upload →
/// [transform] → arrange → prepare → sample → search → fold → fallback → [describe → rerank] → [vote] → download). plan.distance may name one of
/// tensor_kernels(); plan.select becomes "fused".
UnsupportedReason configure_tensor(const Problem& problem, Plan& plan);
std::unique_ptr<DeviceIndex> open_tensor(const Training& training, const Measure& measure, const Plan& plan,
                                         Timeline& timeline);

/// Copies n rows of `row_bytes`, or an array, between the host and a caller's memory on any device, after what is queued on
/// `stream`, a cudaStream_t, and waits. Throws DeviceError, also where the memory is no device's.
void copy_to_host(const void* d_from, std::int64_t pitch, void* to, std::int64_t row_bytes, std::int64_t n,
                  void* stream);
void copy_to_device(const void* from, void* d_to, std::int64_t bytes, void* stream);

/// Host memory that a GPU reads at full speed. Creating it starts the CUDA context of `device` on another
/// thread, and then loads the kernels of the engine `tensor` if that will search. Memory is handed out at once, so
/// that files can be read meanwhile; `pin` waits for the context.
std::unique_ptr<HostMemory> host_memory(int device, bool for_tensor);

}  // namespace knn::gpu
