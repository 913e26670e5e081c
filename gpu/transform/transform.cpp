#include "gpu/transform/transform.h"

#include <algorithm>

#include "gpu/transform/step.h"

namespace knn::gpu {

extern const TransformKernel gradients_transform, deskew_transform, normalize_transform, blur_transform,
    projection_transform, histograms_transform;

namespace {

/// The first that takes a step is used.
const TransformKernel* const table[] = {&gradients_transform, &deskew_transform,     &normalize_transform,
                                        &blur_transform,      &projection_transform, &histograms_transform};

}  // namespace

DeviceTransform::DeviceTransform(const FittedTransform& fitted) : fitted_(fitted) {
    for (std::span<const FittedStep> left = fitted_.steps; !left.empty();) {
        const TransformKernel* chosen = nullptr;
        std::size_t count = 0;
        for (const TransformKernel* kernel : table) {
            chosen = kernel;
            count = kernel->takes(left);
            if (count > 0) break;
        }
        require(count > 0, "a step that a kernel of the table computes");
        const Steps steps = left.first(count);
        const std::vector<std::byte> tables = chosen->tables(steps);
        launches_.push_back(
            {chosen, steps, copied_to_device(std::span(tables), "uploading tables of a transform")});
        chosen->load();
        left = left.subspan(count);
    }
}

void DeviceTransform::reserve(std::int64_t n) {
    if (n <= reserved_) return;
    std::size_t workspace_bytes = 0;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        const auto& [kernel, steps, tables] = launches_[i];
        const ScratchPlan scratch(kernel->scratch_bytes(steps), n);
        workspace_bytes = std::max(workspace_bytes, scratch.workspace_bytes());
        if (i + 1 < launches_.size()) between_[i % 2].reserve(n, steps.back().dim_out);
    }
    workspace_.reserve(workspace_bytes);
    reserved_ = n;
}

void DeviceTransform::enqueue(const ByteRows& images, const ByteRows& features, cudaStream_t stream) {
    const bool raw = is_raw();
    const auto fits = [](const ByteRows& rows, std::int64_t dim) {
        return rows.cols == dim && rows.pitch_bytes >= static_cast<std::size_t>(dim);
    };
    require(images.n == features.n && fits(images, raw ? images.cols : dim_in()) &&
                fits(features, raw ? images.cols : dim_out()),
            "images and features of the transform's shape");
    if (images.n == 0) return;
    const auto dim = static_cast<std::size_t>(images.cols);
    if (raw)
        return check(
            cudaMemcpy2DAsync(features.d_data, features.pitch_bytes, images.d_data, images.pitch_bytes, dim,
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
        const auto& [kernel, steps, tables] = launches_[i];
        const bool is_last = i + 1 == launches_.size();
        const ByteRows out = is_last ? features : between_[i % 2].rows(images.n, steps.back().dim_out);
        const ScratchPlan scratch(kernel->scratch_bytes(steps), images.n);
        std::byte* d_scratch = scratch.in_shared() ? nullptr : workspace_.d_data();
        kernel->enqueue(steps, {tables.d_data(), in, out, scratch, d_scratch}, stream);
        in = out;
    }
}

std::vector<const char*> DeviceTransform::kernels() const {
    std::vector<const char*> names;
    for (const Launch& launch : launches_)
        names.push_back(launch.kernel->name);
    return names;
}

}  // namespace knn::gpu
