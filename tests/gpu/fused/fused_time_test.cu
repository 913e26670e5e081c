/// The times of docs/performance.md: whole fused searches of MNIST, data on the device. Runs on request:
///     MNIST_KNN_DATA=... unit_tests -tc='gpu: time of the fused search' --no-skip

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cpu/search.h"
#include "data/set/dataset.h"
#include "data/set/locate.h"
#include "gpu/engines/vote.h"
#include "gpu/fused/search.h"
#include "gpu/runtime/event.h"
#include "gpu/runtime/stream.h"
#include "tests/gpu/have_gpu.h"

namespace knn {

namespace {

/// A CUDA graph of the launches of `enqueue`, which has run once before.
class Graph {
  public:
    template <class Enqueue>
    Graph(cudaStream_t stream, const Enqueue& enqueue) {
        enqueue();  // loads the kernels, which must not happen while a stream is captured
        gpu::check(cudaStreamSynchronize(stream), "searching");
        gpu::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capturing");
        enqueue();
        gpu::check(cudaStreamEndCapture(stream, &graph_), "capturing");
        gpu::check(cudaGraphInstantiate(&launchable_, graph_, 0), "instantiating a graph");
    }
    ~Graph() {
        cudaGraphExecDestroy(launchable_);
        cudaGraphDestroy(graph_);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    /// Of `runs` launches after some to warm up, ascending.
    std::vector<double> ms(cudaStream_t stream, int runs) const {
        constexpr int warm_up = 10;
        gpu::Event begin, end;
        std::vector<double> all;
        for (int run = -warm_up; run < runs; ++run) {
            begin.record(stream);
            gpu::check(cudaGraphLaunch(launchable_, stream), "launching a graph");
            end.record(stream);
            end.synchronize();
            if (run >= 0) all.push_back(gpu::elapsed_ms(begin, end));
        }
        std::sort(all.begin(), all.end());
        return all;
    }

  private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t launchable_ = nullptr;
};

gpu::DeviceBuffer<std::uint8_t> on_device(const void* bytes, std::int64_t size) {
    gpu::DeviceBuffer<std::uint8_t> copy(static_cast<std::size_t>(size));
    gpu::check(cudaMemcpy(copy.d_data(), bytes, copy.size(), cudaMemcpyHostToDevice), "uploading");
    return copy;
}

/// One line of the table; compares all neighbors with the CPU engine's where `compare`.
void time_search(const Dataset& data, const ImageRows& query, int k, bool vote, bool compare) {
    const ImageRows train = data.train.images();
    const std::int64_t dim = train.dim;
    const auto pitch = static_cast<std::size_t>(dim);
    const auto train_bytes = on_device(train.pixels, train.count * dim);
    const auto query_bytes = on_device(query.pixels, query.count * dim);
    const auto labels = on_device(data.train.labels.span().data(), train.count);
    const std::int64_t batch =
        gpu::FusedSearch::batch_size(query.count, train.count, k, static_cast<int>(dim));
    const gpu::DeviceBuffer<Neighbor> neighbors(static_cast<std::size_t>(query.count * k));
    const gpu::DeviceBuffer<Vote> votes(static_cast<std::size_t>(query.count));
    const gpu::Stream stream;
    gpu::FusedSearch search(*gpu::tensor_table().front(), {train_bytes.d_data(), train.count, dim, pitch}, k,
                            batch, stream);
    const Graph graph(stream, [&] {
        for (std::int64_t begin = 0; begin < query.count; begin += batch) {
            const std::int64_t n = std::min(batch, query.count - begin);
            const gpu::NeighborRows out{neighbors.d_data() + begin * k, n, k};
            for (const auto& step : search.steps({query_bytes.d_data() + begin * dim, n, dim, pitch}, out))
                step.enqueue(stream);
            if (vote)
                gpu::enqueue_vote(out, labels.d_data(), Weights::uniform, Tie::smallest,
                                  votes.d_data() + begin, stream);
        }
    });
    const std::vector<double> ms = graph.ms(stream, 100);
    const double median = ms[ms.size() / 2];
    const double operations = 2.0 * static_cast<double>(query.count) * static_cast<double>(train.count * dim);
    std::printf("%6lld x %lld, k = %4d, batch %5lld: %.3f ms (%.3f to %.3f), %.0f TOP/s, %lld undecided\n",
                static_cast<long long>(query.count), static_cast<long long>(train.count), k,
                static_cast<long long>(batch), median, ms.front(), ms.back(), operations / median * 1e-9,
                static_cast<long long>(search.undecided()));
    if (!compare) return;
    std::vector<Neighbor> found(neighbors.size());
    gpu::check(
        cudaMemcpy(found.data(), neighbors.d_data(), found.size() * sizeof(Neighbor), cudaMemcpyDeviceToHost),
        "downloading");
    SearchRequest request;
    request.train = train;
    request.train_labels = data.train.labels.span();
    request.query = query;
    request.k = k;
    const SearchResult expected = cpu::search(request, {});
    CHECK(std::equal(found.begin(), found.end(), expected.neighbors.rows.begin(),
                     expected.neighbors.rows.end()));
}

}  // namespace

TEST_CASE("gpu: time of the fused search" * doctest::skip()) {
    if (!test::have_gpu()) return;
    if (test::mnist_folder().empty()) return test::skip("MNIST was not found: set MNIST_KNN_DATA");
    DataOptions folder;
    folder.folder = test::mnist_folder();
    const Dataset data = load(locate(folder));
    const ImageRows test = data.test.images(), train = data.train.images();
    for (const int k : {1, 5, 10, 32, 128, 1024})
        time_search(data, test, k, true, true);
    for (const std::int64_t few : {1, 64})
        time_search(data, test.first(few), 5, true, true);
    time_search(data, train, 11, false, true);  // the graph: each image finds itself
}

}  // namespace knn
