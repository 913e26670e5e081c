#pragma once
/// What a kernel of a transform is.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/core/round_up.h"
#include "data/transform/fitted.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Steps of a transform in order, at least one.
using Steps = std::span<const FittedStep>;

/// Memory between the passes over one image: in shared memory, or in the workspace for larger images. How the images of a
/// launch are divided among blocks: a block takes every `blocks`-th image.
struct ScratchPlan {
    static constexpr std::size_t max_shared_bytes = std::size_t{32} << 10;
    static constexpr std::size_t max_workspace_bytes = std::size_t{64} << 20;

    std::size_t bytes;  ///< for one image, a multiple of 16
    std::int64_t blocks;

    ScratchPlan(std::size_t bytes_per_image, std::int64_t n)
        : bytes((bytes_per_image + 15) / 16 * 16), blocks(n) {
        if (in_shared()) return;
        const auto fitting = static_cast<std::int64_t>(max_workspace_bytes / bytes);
        blocks = std::clamp<std::int64_t>(fitting, 1, n);
    }
    bool in_shared() const { return bytes <= max_shared_bytes; }
    std::size_t shared_bytes() const { return in_shared() ? bytes : 0; }
    std::size_t workspace_bytes() const { return in_shared() ? 0 : bytes * static_cast<std::size_t>(blocks); }
};

/// The arguments of a launch.
struct StepArrays {
    ByteRows in, out;  ///< n × dim_in of the first step, n × dim_out of the last, n >= 1; any pitch
    ScratchPlan scratch;
    std::byte* d_scratch = nullptr;  ///< scratch.blocks × scratch.bytes; null: it is in shared memory
};

/// What computes a step, or several that follow one another, on the device that was current when it was made. Holds the
/// tables that the kernel reads.
struct StepLaunch {
    const char* kernel;
    /// Queues the launches on `stream`; allocates nothing and waits for nothing.
    std::function<void(const StepArrays& arrays, cudaStream_t stream)> enqueue;
    std::size_t scratch_bytes = 0;  ///< for one image
    std::size_t steps = 1;          ///< how many it computes
};

/// One for each kernel: loads it (load_kernels), uploads its tables and returns what computes the first of these steps.
/// Nothing if the kernel does not take them.
using MakeLaunch = std::optional<StepLaunch>(Steps steps);
MakeLaunch launch_gradients, launch_deskew, launch_normalize, launch_blur, launch_projection,
    launch_histograms;

/// A table in device memory, for a StepLaunch to hold.
template <class T>
std::shared_ptr<const DeviceBuffer<T>> table_of(const std::vector<T>& values) {
    return std::make_shared<const DeviceBuffer<T>>(
        copied_to_device(std::span(values), "uploading tables of a transform"));
}

}  // namespace knn::gpu
