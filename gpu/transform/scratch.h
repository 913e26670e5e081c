#pragma once
/// Memory between the passes over one image: in shared memory, or in the workspace for larger images.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace knn::gpu {

/// How the images of a launch are shared out: a block takes every `blocks`-th image.
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

}  // namespace knn::gpu
