#pragma once
/// What a kernel of a transform is, and the table of them.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "data/core/round_up.h"
#include "data/transform/fitted.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// The steps of a transform that one launch computes, in order.
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
    const std::byte* d_tables = nullptr;  ///< the bytes that `tables` returned
    ByteRows in, out;  ///< n × dim_in of the first step, n × dim_out of the last, n >= 1; any pitch
    ScratchPlan scratch;
    std::byte* d_scratch = nullptr;  ///< scratch.blocks × scratch.bytes; null: it is in shared memory
};

/// One way to compute a step, or several that follow one another. Members with defaults may be omitted.
struct TransformKernel {
    const char* name;
    /// How many of these steps, from the first one on, it computes at once on the current device; 0: none. The
    /// other functions get exactly these.
    std::size_t (*takes)(Steps steps);
    /// What the kernel reads beside images, copied to the device once, at a multiple of 256 bytes.
    std::vector<std::byte> (*tables)(Steps steps) = [](Steps) { return std::vector<std::byte>(); };
    /// Scratch memory for one image.
    std::size_t (*scratch_bytes)(Steps steps) = [](Steps) -> std::size_t { return 0; };
    /// Loads the kernels onto the current device (load_kernels).
    void (*load)();
    /// Queues the launches on `stream`; allocates nothing and waits for nothing.
    void (*enqueue)(Steps steps, const StepArrays& arrays, cudaStream_t stream);
};

/// Appends an array to tables, at a multiple of 16 bytes; returns its offset.
template <class T>
std::size_t append_table(std::vector<std::byte>& tables, const std::vector<T>& values) {
    const std::size_t at = (tables.size() + 15) / 16 * 16;
    tables.resize(at + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(tables.data() + at, values.data(), values.size() * sizeof(T));
    return at;
}
template <class T>
std::vector<std::byte> table_of(const std::vector<T>& values) {
    std::vector<std::byte> table;
    append_table(table, values);
    return table;
}

/// The first step as a T; null if it is something else.
template <class T>
const T* first_step(Steps steps) {
    return steps.empty() ? nullptr : std::get_if<T>(&steps.front().what);
}

/// For kernels of a single step that take every T.
template <class T>
std::size_t takes_one(Steps steps) {
    return first_step<T>(steps) != nullptr ? 1 : 0;
}

}  // namespace knn::gpu
