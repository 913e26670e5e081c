#include "gpu/rerank/rerank.h"

#include <algorithm>

namespace knn::gpu {

DescriptorForm::DescriptorForm(const RerankSpec& rerank, ImageShape image) {
    const DescriptorLayout layout(image, rerank);
    const int rows = layout.plane_rows(0), pitch = layout.plane_cols(0) + 2;
    if (layout.has_gradients)
        gradients = {image, rows, pitch, std::int64_t{2 * gradient_step * gradient_step} * rows * pitch};
    const int cell_rows = layout.cell_rows(), cell_cols = layout.cell_cols(), cell_pitch = cell_cols + 2;
    if (layout.has_cells)
        cells = {cell_rows, cell_cols, cell_pitch, std::int64_t{cell_bins} * cell_rows * cell_pitch};
}

DeviceReranker::DeviceReranker(const RerankSpec& rerank, ImageShape shape,
                               std::span<const std::uint32_t> density, bool plain)
    : candidates_(rerank.candidates),
      shape_(shape),
      form_(rerank, shape),
      density_(copied_to_device(density, "uploading densities")) {
    require(rerank.kind != RerankKind::none, "a re-ranker");
    const bool special = !plain && shape.rows == 28 && shape.cols == 28;
    if (rerank.has_gradients()) distortion_ = special ? distortion28() : plain_distortion(form_.gradients);
    if (rerank.has_cells()) cells_ = special ? cells28() : plain_cells(form_.cells);
    load_order();
}

/// Memory for n images, cleared on the stream where it is new.
void DeviceReranker::reserve(Descriptors& descriptors, std::int64_t n, cudaStream_t stream) {
    const auto cleared = [&](DeviceBuffer<std::uint8_t>& buffer, std::int64_t bytes) {
        if (buffer.reserve(static_cast<std::size_t>(n * bytes)))
            check(cudaMemsetAsync(buffer.d_data(), 0, buffer.size(), stream), "clearing descriptors");
    };
    cleared(descriptors.gradients, form_.gradients.bytes);
    cleared(descriptors.cells, form_.cells.bytes);
}

void DeviceReranker::describe(const ByteRows& images, Descriptors& to, cudaStream_t stream) {
    to.count = images.n;
    enqueue_describe(images, shape_, form_, to.view(), workspace_.d_data(), stream);
}

void DeviceReranker::describe_training(const ByteRows& images, cudaStream_t stream) {
    require(density_.size() == 0 || static_cast<std::int64_t>(density_.size()) == images.n,
            "a factor for each training image");
    reserve(training_, images.n, stream);
    workspace_.reserve(describe_workspace_bytes(shape_, form_, images.n));
    describe(images, training_, stream);
}

void DeviceReranker::reserve(std::int64_t n_query, int candidates) {
    require(n_query >= 1 && candidates >= 1 && candidates <= max_device_k,
            "1 to 1,024 candidates of queries");
    reserve(queries_, n_query, nullptr);
    check(cudaStreamSynchronize(nullptr), "clearing descriptors");
    scores_.reserve(static_cast<std::size_t>(n_query) * static_cast<std::size_t>(candidates));
    workspace_.reserve(describe_workspace_bytes(shape_, form_, n_query));
    reserved_ = std::max(reserved_, n_query);
}

void DeviceReranker::describe_queries(const ByteRows& images, cudaStream_t stream) {
    require(images.n <= reserved_, "at most as many queries as reserved");
    describe(images, queries_, stream);
}

void DeviceReranker::enqueue(const NeighborRows& candidates, const NeighborRows& out, cudaStream_t stream) {
    require(candidates.n_query == queries_.count, "candidates of the queries that were described");
    require(candidates.n_query * candidates.k <= static_cast<std::int64_t>(scores_.size()),
            "at most as many candidates as reserved");
    if (candidates.n_query == 0) return;
    const DescriptorView query = queries_.view(), train = training_.view();
    std::uint32_t* d_scores = scores_.d_data();
    if (distortion_) distortion_({query.d_gradients, train.d_gradients, candidates, d_scores}, stream);
    if (cells_) cells_({query.d_cells, train.d_cells, candidates, d_scores, distortion_ != nullptr}, stream);
    enqueue_order(candidates, scores_.d_data(), density_.d_data(), out, stream);
}

}  // namespace knn::gpu
