// Times the kernels of a whole search by the engine `tensor`, as in docs/performance.md: training set and queries
// on the device, all launches in one CUDA graph, so that the host's speed has no effect.

#include "gpu/bench/bench.h"
#include "gpu/bench/runs.h"
#include "gpu/engines/strategies.h"
#include "gpu/engines/vote.h"
#include "gpu/fused/search.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"

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

}  // namespace

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

}  // namespace knn::gpu
