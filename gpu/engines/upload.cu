#include "gpu/engines/upload.h"

#include <algorithm>

namespace knn::gpu {

Upload::Upload(const Training& training) : n(training.rows.count) {
    const bool transforms = training.transform != nullptr;
    const Rows& rows = training.rows;
    ImageBuffer& uploaded = transforms ? pixels_ : features;
    uploaded.reserve(n, rows.dim);
    labels.reserve(training.labels.size());
    timer.time(stream, {.name = "upload", .bytes = byte_count(n, rows.dim), .kind = StageKind::copy}, [&] {
        enqueue_upload(rows, uploaded.rows(n, rows.dim), stream);
        if (training.labels.empty()) return;
        check(cudaMemcpyAsync(labels.d_data(), training.labels.data(), training.labels.size(),
                              cudaMemcpyHostToDevice, stream),
              "uploading labels");
    });
    if (transforms) transform = DeviceTransform(*training.transform);
    dim = transforms ? transform.dim_out() : rows.dim;
    if (training.reranking != nullptr)
        add_reranker(*training.reranking, uploaded.rows(n, rows.dim), training.shape);
    if (!transforms) return;
    features.reserve(n, dim);
    transform.reserve(std::min(n, images_per_transform));
    timer.time(stream, {.name = "transform", .bytes = byte_count(n, rows.dim + dim)},
               [&] { transform.enqueue(pixels_.rows(n, rows.dim), features.rows(n, dim), stream); });
}

void Upload::add_reranker(const Reranking& reranking, const ByteRows& pixels, ImageShape shape) {
    rerank = reranking.rerank;
    reranker = std::make_unique<DeviceReranker>(rerank, shape);
    timer.time(stream, {.name = "describe", .bytes = byte_count(n, pixels.cols)},
               [&] { reranker->describe_training(pixels, stream); });
    reranker->set_density(reranking.density, stream);
}

void Upload::finish(Timeline& timeline) {
    timer.synchronize();
    timer.add_to(timeline);
    pixels_ = {};
}

}  // namespace knn::gpu
