// What `bench` times beside single kernels: all kernels of a search, a whole version of a paper, and parts of the methods.

#include "gpu/bench/bench.h"

#include <algorithm>
#include <vector>

#include "data/core/clock.h"
#include "data/core/round_up.h"
#include "gpu/bench/rungs.h"
#include "gpu/bench/runs.h"
#include "gpu/engines/strategies.h"
#include "gpu/engines/vote.h"
#include "gpu/fused/search.h"
#include "gpu/rerank/rerank.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "gpu/select/select.h"
#include "gpu/transform/transform.h"

namespace knn::gpu {

namespace {

constexpr int warm_up_runs = 10;

/// A CUDA graph of the launches of `enqueue`, which has run once before.
class Graph {
  public:
    template <class Enqueue>
    Graph(cudaStream_t stream, const Enqueue& enqueue) {
        enqueue();  // loads the kernels, which is not allowed during stream capture
        check(cudaStreamSynchronize(stream), "searching");
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capturing");
        enqueue();
        check(cudaStreamEndCapture(stream, &graph_), "capturing");
        check(cudaGraphInstantiate(&launchable_, graph_, 0), "instantiating a graph");
    }
    ~Graph() {
        cudaGraphExecDestroy(launchable_);
        cudaGraphDestroy(graph_);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void launch(cudaStream_t stream) const {
        check(cudaGraphLaunch(launchable_, stream), "launching a graph");
    }

  private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t launchable_ = nullptr;
};

/// count × stride floats, zeros beyond dim: the rungs read four at a time.
std::vector<float> floats_of(const Rows& images, std::int64_t stride) {
    std::vector<float> floats(static_cast<std::size_t>(images.count * stride));
    for (std::int64_t i = 0; i < images.count; ++i)
        std::copy_n(images.row(i), images.dim, floats.begin() + i * stride);
    return floats;
}

/// The version before the improvements of seed 003 as a whole: images as floats in pageable memory, linear rows; then, for
/// one test image after another, an upload, the scalar distance kernel, the padded bitonic sort, and a download of the k
/// nearest. The host waits for each. Votes are the caller's.
class Before {
  public:
    Before(const Rows& train, const Rows& query, int k)
        : problem_{train.count, 1, train.dim, k},
          stride_(round_up(train.dim, 4)),
          train_(floats_of(train, stride_)),
          query_(floats_of(query, stride_)),
          d_train_(train_.size()),
          d_query_(static_cast<std::size_t>(stride_)),
          d_row_(static_cast<std::size_t>(train.count)),
          d_neighbors_(static_cast<std::size_t>(k)),
          d_workspace_(sort_.workspace_bytes(problem_)) {}

    Refusal supports() const {
        if (Refusal refusal = distance_.supports(problem_)) return refusal;
        return sort_.supports(problem_);
    }

    /// The first n queries; returns the milliseconds from the upload to the last answer.
    double run(std::int64_t n, Neighbors& found, const Watch& watch) {
        const auto begin = Clock::now();
        copy(d_train_.d_data(), train_.data(), train_.size() * sizeof(float), cudaMemcpyHostToDevice);
        for (std::int64_t q = 0; q < n; ++q) {
            if (watch.stopped()) throw Interrupted();
            copy(d_query_.d_data(), query_.data() + q * stride_, d_query_.size() * sizeof(float),
                 cudaMemcpyHostToDevice);
            enqueue();
            copy(found.row(q).data(), d_neighbors_.d_data(), d_neighbors_.size() * sizeof(Neighbor),
                 cudaMemcpyDeviceToHost);
        }
        return ms_since(begin);
    }

  private:
    void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) const {
        check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying");
        stream_.synchronize();
    }

    void enqueue() const {
        const auto floats = [&](float* d_data, std::int64_t n) {
            return FloatRows{d_data, n, problem_.dim, static_cast<std::size_t>(stride_) * sizeof(float)};
        };
        const DistanceRows row{d_row_.d_data(), 1, problem_.n_train,
                               static_cast<std::size_t>(problem_.n_train) * sizeof(std::uint32_t)};
        distance_.enqueue(
            problem_, {{floats(d_train_.d_data(), problem_.n_train), {}}, {floats(d_query_.d_data(), 1), {}}},
            row, nullptr, stream_);
        sort_.enqueue(problem_, row, {d_neighbors_.d_data(), 1, problem_.k}, d_workspace_.d_data(), stream_);
    }

    const DistanceKernel& distance_ = named_in(rung_table(), "ladder_scalar");
    const Selector& sort_ = named_in(selector_table(), "bitonic");
    Problem problem_;
    std::int64_t stride_;
    std::vector<float> train_, query_;
    DeviceBuffer<float> d_train_, d_query_;
    DeviceBuffer<std::uint32_t> d_row_;
    DeviceBuffer<Neighbor> d_neighbors_;
    DeviceBuffer<char> d_workspace_;
    Stream stream_;  // destroyed first
};

}  // namespace

/// As in docs/performance.md: all launches are in one CUDA graph, so that the host's speed has no effect.
Trial time_kernels(const Plan& plan, const Training& training, const Rows& query, int k,
                   const TrialOptions& options, const Watch& watch, Neighbors& found) {
    check(cudaSetDevice(plan.device.number), "choosing the device");
    const Rows& train = training.rows;
    Runs runs(watch, Cache::warm);
    const Stream& stream = runs.stream();
    ImageBuffer train_bytes, query_bytes;
    train_bytes.reserve(train.count, train.dim);
    query_bytes.reserve(query.count, query.dim);
    enqueue_upload(train, train_bytes.rows(train.count, train.dim), stream);
    enqueue_upload(query, query_bytes.rows(query.count, query.dim), stream);
    const DeviceBuffer<std::uint8_t> labels(training.labels.size());
    check(cudaMemcpyAsync(labels.d_data(), training.labels.data(), labels.size(), cudaMemcpyHostToDevice,
                          stream),
          "uploading labels");
    const FusedTraining arranged(train_bytes.rows(train.count, train.dim), stream);
    FusedSearch search(named_in(tensor_table(), plan.distance), arranged);
    const std::int64_t batch = search.reserve(query.count, k, false);
    const DeviceBuffer<Neighbor> neighbors(static_cast<std::size_t>(query.count * k));
    const DeviceBuffer<Vote> votes(static_cast<std::size_t>(query.count));
    const Graph graph(stream, [&] {
        for (std::int64_t begin = 0; begin < query.count; begin += batch) {
            const std::int64_t n = std::min(batch, query.count - begin);
            ByteRows rows = query_bytes.rows(n, query.dim);
            rows.d_data += static_cast<std::size_t>(begin) * rows.pitch_bytes;
            const NeighborRows out{neighbors.d_data() + begin * k, n, k};
            for (const auto& step : search.steps(rows, out))
                step.enqueue(stream);
            if (!training.labels.empty())
                enqueue_vote(out, labels.d_data(), Weights::uniform, Tie::smallest, votes.d_data() + begin,
                             stream);
        }
    });
    const auto launch = [&] { graph.launch(stream); };
    runs.repeated(query.count, {.repeat = warm_up_runs}, launch);
    Trial trial = runs.repeated(query.count, options, launch);
    found = Neighbors(query.count, k);
    check(cudaMemcpy(found.rows.data(), neighbors.d_data(), found.rows.size() * sizeof(Neighbor),
                     cudaMemcpyDeviceToHost),
          "downloading neighbors");
    return trial;
}

Trial time_before(int device, const Rows& train, const Rows& query, int k, const TrialOptions& options,
                  const Watch& watch, Neighbors& found) {
    check(cudaSetDevice(device), "choosing the device");
    Before before(train, query, k);
    Trial trial;
    trial.refusal = before.supports();
    if (trial.refusal) return trial;
    found = Neighbors(query.count, k);
    trial = timed_trial(options, query.count, [&](std::int64_t n) { return before.run(n, found, watch); });
    found.n_query = trial.n_query;
    found.rows.resize(static_cast<std::size_t>(trial.n_query * k));
    return trial;
}

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
