#pragma once

#include <cuda_runtime.h>

#include "gpu/rerank/form.h"
#include "gpu/runtime/views.h"

namespace knn::gpu {

/// Memory that enqueue_describe uses for n images of the form.
std::size_t describe_workspace_bytes(ImageShape shape, const DescriptorForm& form, std::int64_t n);

/// The descriptors of images of this shape, as data/rerank/descriptor.h defines them. What no point or cell has is not
/// written. `out` has room for all of them.
void enqueue_describe(const ByteRows& images, ImageShape shape, const DescriptorForm& form,
                      const DescriptorView& out, void* d_workspace, cudaStream_t stream);

void load_describe();

}  // namespace knn::gpu
