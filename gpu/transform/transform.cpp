#include "gpu/transform/transform.h"

#include <algorithm>
#include <utility>

namespace knn::gpu {

namespace {

/// The first that takes a step is used.
MakeLaunch* const table[] = {launch_gradients, launch_deskew,     launch_normalize,
                             launch_blur,      launch_projection, launch_histograms};

}  // namespace

DeviceTransform::DeviceTransform(const FittedTransform& fitted)
    : dim_in_(fitted.dim_in()), dim_out_(fitted.dim_out()) {
    for (Steps left = fitted.steps; !left.empty();) {
        std::optional<StepLaunch> launch;
        for (MakeLaunch* const make : table)
            if (!launch) launch = make(left);
        require(launch.has_value(), "a step that a kernel of the table computes");
        const std::size_t steps = launch->steps;
        launches_.push_back({std::move(*launch), left[steps - 1].dim_out});
        left = left.subspan(steps);
    }
}

DeviceTransform DeviceTransform::beside() const {
    DeviceTransform same;
    same.dim_in_ = dim_in_;
    same.dim_out_ = dim_out_;
    same.launches_ = launches_;
    return same;
}

void DeviceTransform::reserve(std::int64_t n) {
    if (n <= reserved_) return;
    std::size_t workspace_bytes = 0;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        const ScratchPlan scratch(launches_[i].scratch_bytes, n);
        workspace_bytes = std::max(workspace_bytes, scratch.workspace_bytes());
        if (i + 1 < launches_.size()) between_[i % 2].reserve(n, launches_[i].dim_out);
    }
    workspace_.reserve(workspace_bytes);
    reserved_ = n;
}

void DeviceTransform::enqueue(const ByteRows& images, const ByteRows& features, cudaStream_t stream) {
    const auto fits = [](const ByteRows& rows, std::int64_t dim) {
        return rows.cols == dim && rows.pitch_bytes >= static_cast<std::size_t>(dim);
    };
    require(images.n == features.n && fits(images, dim_in_) && fits(features, dim_out_),
            "images and features of the transform's shape");
    if (images.n == 0) return;
    if (launches_.empty())
        return check(cudaMemcpy2DAsync(features.d_data, features.pitch_bytes, images.d_data,
                                       images.pitch_bytes, static_cast<std::size_t>(dim_in_),
                                       static_cast<std::size_t>(images.n), cudaMemcpyDeviceToDevice, stream),
                     "copying images");
    require(reserved_ > 0, "memory reserved for a transform");
    for (std::int64_t begin = 0; begin < images.n; begin += reserved_) {
        const std::int64_t n = std::min(reserved_, images.n - begin);
        enqueue_piece(images.slice(begin, n), features.slice(begin, n), stream);
    }
}

void DeviceTransform::enqueue_piece(const ByteRows& images, const ByteRows& features, cudaStream_t stream) {
    ByteRows in = images;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        const Launch& launch = launches_[i];
        const bool is_last = i + 1 == launches_.size();
        const ByteRows out = is_last ? features : between_[i % 2].rows(images.n, launch.dim_out);
        const ScratchPlan scratch(launch.scratch_bytes, images.n);
        std::byte* d_scratch = scratch.in_shared() ? nullptr : workspace_.d_data();
        launch.enqueue({in, out, scratch, d_scratch}, stream);
        in = out;
    }
}

std::vector<const char*> DeviceTransform::kernels() const {
    std::vector<const char*> names;
    for (const Launch& launch : launches_)
        names.push_back(launch.kernel);
    return names;
}

}  // namespace knn::gpu
