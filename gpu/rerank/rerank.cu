#include "gpu/rerank/rerank.h"

#include <algorithm>

#include "gpu/rerank/kernels.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

const Rerank& checked(const Rerank& rerank) {
    require(rerank.kind != Reranker::none, "a re-ranker");
    return rerank;
}

void reserve_cleared(DeviceBuffer<std::uint8_t>& buffer, std::int64_t bytes, cudaStream_t stream) {
    if (buffer.reserve(static_cast<std::size_t>(bytes)))
        check(cudaMemsetAsync(buffer.d_data(), 0, buffer.size(), stream), "clearing descriptors");
}

GradientForm gradient_form(const DescriptorLayout& layout, bool special) {
    GradientForm form;
    form.image = layout.image;
    for (int a = 0; a < gradient_step; ++a)
        for (int b = 0; b < gradient_step; ++b) {
            const int plane = a * gradient_step + b;
            form.planes[plane] = special ? plane * side28 * pitch28 : layout.plane(a, b);
            form.pitch[b] = special ? pitch28 : layout.plane_cols(b);
        }
    form.bytes = special ? bytes28 : layout.gradient_bytes();
    return form;
}

CellForm cell_form(const DescriptorLayout& layout, bool special) {
    const int cols = layout.cell_cols();
    return {.rows = layout.cell_rows(),
            .cols = cols,
            .first = special ? 1 : 0,
            .pitch = special ? pitch28 : cols,
            .bytes = special ? bytes28 : layout.cell_bytes()};
}

}  // namespace

bool takes_28(ImageShape image) {
    return image.rows == 28 && image.cols == 28;
}

DescriptorForm::DescriptorForm(const Rerank& rerank, ImageShape image, bool plain) {
    const DescriptorLayout layout(image, rerank);
    if (layout.has_gradients) gradients = gradient_form(layout, !plain && takes_28(image));
    if (layout.has_cells) cells = cell_form(layout, !plain && takes_28(image));
}

void DeviceDescriptors::reserve(std::int64_t n, cudaStream_t stream) {
    reserve_cleared(gradients_, n * form_.gradients.bytes, stream);
    reserve_cleared(cells_, n * form_.cells.bytes, stream);
}

DeviceReranker::DeviceReranker(const Rerank& rerank, ImageShape shape, bool plain)
    : rerank_(checked(rerank)),
      shape_(shape),
      special_(!plain && takes_28(shape)),
      training_(DescriptorForm(rerank, shape, plain)),
      queries_(training_.form()) {
    load_describe();
    load_distortion28();
    load_cells28();
    load_plain_pairs();
    load_order();
}

void DeviceReranker::describe(const ByteRows& images, DeviceDescriptors& to, cudaStream_t stream) {
    to.resize(images.n);
    enqueue_describe(images, shape_, to.form(), to.view(), workspace_.d_data(), stream);
}

void DeviceReranker::describe_training(const ByteRows& images, cudaStream_t stream) {
    training_.reserve(images.n, stream);
    workspace_.reserve(describe_workspace_bytes(shape_, training_.form(), images.n));
    describe(images, training_, stream);
}

void DeviceReranker::set_density(std::span<const std::uint32_t> factors, cudaStream_t stream) {
    require(factors.empty() || static_cast<std::int64_t>(factors.size()) == training_.count(),
            "a factor for each training image");
    has_density_ = !factors.empty();
    if (!has_density_) return;
    density_.reserve(factors.size());
    check(cudaMemcpyAsync(density_.d_data(), factors.data(), factors.size_bytes(), cudaMemcpyDefault, stream),
          "copying densities");
    check(cudaStreamSynchronize(stream), "copying densities");
}

void DeviceReranker::reserve(std::int64_t n_query, int candidates) {
    require(n_query >= 1 && candidates >= 1 && candidates <= max_k, "1 to 1,024 candidates of queries");
    queries_.reserve(n_query, nullptr);
    check(cudaStreamSynchronize(nullptr), "clearing descriptors");
    scores_.reserve(static_cast<std::size_t>(n_query) * static_cast<std::size_t>(candidates));
    workspace_.reserve(describe_workspace_bytes(shape_, queries_.form(), n_query));
    reserved_ = std::max(reserved_, n_query);
}

void DeviceReranker::describe_queries(const ByteRows& images, cudaStream_t stream) {
    require(images.n <= reserved_, "at most as many queries as reserved");
    describe(images, queries_, stream);
}

void DeviceReranker::enqueue_distortion(const NeighborRows& candidates, cudaStream_t stream) {
    const PairTask task{.d_query = queries_.view().d_gradients,
                        .d_train = training_.view().d_gradients,
                        .candidates = candidates,
                        .d_scores = scores_.d_data()};
    if (special_)
        enqueue_distortion28(task, stream);
    else
        enqueue_plain_distortion(task, training_.form().gradients, stream);
}

void DeviceReranker::enqueue_cells(const NeighborRows& candidates, cudaStream_t stream) {
    const bool both = rerank_.kind == Reranker::both;
    const PairTask task{.d_query = queries_.view().d_cells,
                        .d_train = training_.view().d_cells,
                        .candidates = candidates,
                        .d_scores = scores_.d_data(),
                        .add = both};
    if (special_)
        enqueue_cells28(task, stream);
    else
        enqueue_plain_cells(task, training_.form().cells, stream);
}

void DeviceReranker::enqueue(const NeighborRows& candidates, const NeighborRows& out, cudaStream_t stream) {
    require(candidates.n_query == queries_.count(), "candidates of the queries that were described");
    require(candidates.n_query * candidates.k <= static_cast<std::int64_t>(scores_.size()),
            "at most as many candidates as reserved");
    if (candidates.n_query == 0) return;
    if (rerank_.has_gradients()) enqueue_distortion(candidates, stream);
    if (rerank_.has_cells()) enqueue_cells(candidates, stream);
    enqueue_order(candidates, scores_.d_data(), has_density_ ? density_.d_data() : nullptr, out, stream);
}

}  // namespace knn::gpu
