// Times parts of the methods by themselves, on images and candidates that are on the device.

#include "gpu/bench/bench.h"
#include "gpu/bench/runs.h"
#include "gpu/rerank/rerank.h"
#include "gpu/runtime/buffers.h"
#include "gpu/transform/transform.h"

namespace knn::gpu {

Trial time_transform(int device, const FittedTransform& transform, const Rows& images,
                     const TrialOptions& options, const Watch& watch, std::vector<std::uint8_t>* features) {
    check(cudaSetDevice(device), "choosing the device");
    Runs runs(watch);
    const Stream& stream = runs.stream();
    DeviceTransform on_device(transform);
    on_device.reserve(images.count);
    ImageBuffer in, out;
    in.reserve(images.count, images.dim);
    out.reserve(images.count, transform.dim_out());
    const ByteRows from = in.rows(images.count, images.dim), to = out.rows(images.count, transform.dim_out());
    enqueue_upload(images, from, stream);
    Trial trial = runs.repeated(images.count, options, [&] { on_device.enqueue(from, to, stream); });
    if (features != nullptr) {
        const auto dim = static_cast<std::size_t>(to.cols), n = static_cast<std::size_t>(to.n);
        features->resize(n * dim);
        check(cudaMemcpy2D(features->data(), dim, to.d_data, to.pitch_bytes, dim, n, cudaMemcpyDeviceToHost),
              "downloading features");
    }
    return trial;
}

Trial time_rerank(int device, const RerankWork& work, bool plain, const TrialOptions& options,
                  const Watch& watch, Neighbors& found) {
    check(cudaSetDevice(device), "choosing the device");
    const Neighbors& candidates = work.candidates;
    Runs runs(watch);
    const Stream& stream = runs.stream();
    DeviceReranker reranker(work.rerank, work.shape, plain);
    ImageBuffer images;
    const auto upload = [&](const Rows& rows) {
        images.reserve(rows.count, rows.dim);
        enqueue_upload(rows, images.rows(rows.count, rows.dim), stream);
        return images.rows(rows.count, rows.dim);
    };
    reranker.describe_training(upload(work.train), stream);
    stream.synchronize();
    reranker.reserve(candidates.n_query, candidates.k);
    reranker.describe_queries(upload(work.queries), stream);
    DeviceBuffer<Neighbor> in(candidates.rows.size()), out(candidates.rows.size());
    const std::size_t bytes = in.size() * sizeof(Neighbor);
    check(cudaMemcpyAsync(in.d_data(), candidates.rows.data(), bytes, cudaMemcpyHostToDevice, stream),
          "uploading candidates");
    Trial trial = runs.repeated(candidates.n_query, options, [&] {
        reranker.enqueue({in.d_data(), candidates.n_query, candidates.k},
                         {out.d_data(), candidates.n_query, candidates.k}, stream);
    });
    found = Neighbors(candidates.n_query, candidates.k);
    check(cudaMemcpy(found.rows.data(), out.d_data(), bytes, cudaMemcpyDeviceToHost),
          "downloading neighbors");
    return trial;
}

}  // namespace knn::gpu
