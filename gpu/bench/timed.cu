// What `bench` measures beside single kernels: limits of the device, all kernels of a search, a whole version of a paper, and
// parts of the methods.

#include "gpu/bench/bench.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "data/core/clock.h"
#include "gpu/bench/runs.h"
#include "gpu/distance/distance.h"
#include "gpu/engines/strategies.h"
#include "gpu/engines/vote.h"
#include "gpu/fused/search.h"
#include "gpu/rerank/rerank.h"
#include "gpu/select/select.h"
#include "gpu/transform/transform.h"

namespace knn::gpu {

namespace {

constexpr int n_runs = 7, warm_up_runs = 10;
constexpr int chains = 8;        // independent sums per thread, to hide latency
constexpr int rounds = 1 << 14;  // multiply-adds per sum
constexpr int threads = 256, blocks_per_multiprocessor = 8;

__global__ void __launch_bounds__(threads) multiply_add_kernel(float a, float b, float* d_out) {
    float sum[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i)
        sum[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 16
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int i = 0; i < chains; ++i)
            sum[i] = fmaf(sum[i], a, b);
    float all = 0;
#pragma unroll
    for (int i = 0; i < chains; ++i)
        all += sum[i];
    if (all == -1) *d_out = all;  // never true, but keeps the loop from being removed
}

/// What one run moves or computes, per second, by the median of a few.
template <class Work>
double rate(Runs& runs, double amount, Work&& work) {
    std::vector<double> ms = runs.repeated(1, {.repeat = n_runs}, work).ms;
    std::nth_element(ms.begin(), ms.begin() + std::ssize(ms) / 2, ms.end());
    return amount / ms[ms.size() / 2] * 1e-6;
}

struct DestroyGraph {
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

/// A CUDA graph of the launches of `enqueue`, which has run once before.
template <class Enqueue>
Graph captured(cudaStream_t stream, const Enqueue& enqueue) {
    enqueue();  // loads the kernels, which is not allowed during stream capture
    check(cudaStreamSynchronize(stream), "searching");
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capturing");
    enqueue();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t launchable = nullptr;
    check(cudaStreamEndCapture(stream, &graph), "capturing");
    const cudaError_t status = cudaGraphInstantiate(&launchable, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "instantiating a graph");
    return Graph(launchable);
}

/// count × stride floats, zeros beyond dim: the rungs read four at a time.
HostArray<float> floats_of(const Rows& images, std::int64_t stride, bool pinned) {
    HostArray<float> floats(static_cast<std::size_t>(images.count * stride), pinned);
    for (std::int64_t i = 0; i < images.count; ++i) {
        float* row = floats.data() + i * stride;
        std::fill(std::copy_n(images.row(i), images.dim, row), row + stride, 0.0f);
    }
    return floats;
}

/// What a program allocates for each image, or once.
struct ProgramBuffers {
    DeviceBuffer<float> query;
    DeviceBuffer<std::uint32_t> row;
    DeviceBuffer<Neighbor> neighbors;
    DeviceBuffer<char> workspace;
};

}  // namespace

Limits measure_limits(int device) {
    check(cudaSetDevice(device), "choosing the device");
    const ProgressToken token;
    Runs runs(token);
    const Stream& stream = runs.stream();
    Limits limits;
    const std::size_t size = std::min<std::size_t>(std::size_t{1} << 30, free_memory() / 4);
    DeviceBuffer<char> from(size), to(size);
    check(cudaMemsetAsync(from.d_data(), 1, size, stream), "filling");
    limits.copy_gb_per_s = rate(runs, 2.0 * static_cast<double>(size), [&] {
        check(cudaMemcpyAsync(to.d_data(), from.d_data(), size, cudaMemcpyDeviceToDevice, stream),
              "copying in device memory");
    });

    limits.cache_bytes = device_attribute(cudaDevAttrL2CacheSize);
    const int blocks = blocks_per_multiprocessor * device_attribute(cudaDevAttrMultiProcessorCount);
    DeviceBuffer<float> out(1);
    limits.multiply_add_gflop_per_s = rate(runs, 2.0 * chains * rounds * threads * blocks, [&] {
        multiply_add_kernel<<<blocks, threads, 0, stream>>>(0.999f, 0.5f, out.d_data());
        check_launch("launching multiply-adds");
    });

    const std::size_t upload = std::min<std::size_t>(size, std::size_t{1} << 28);
    const auto upload_rate = [&](bool pinned) {
        HostArray<char> host(upload, pinned);
        return rate(runs, static_cast<double>(upload), [&] {
            check(cudaMemcpyAsync(to.d_data(), host.data(), upload, cudaMemcpyHostToDevice, stream),
                  "uploading");
        });
    };
    limits.pinned_upload_gb_per_s = upload_rate(true);
    limits.pageable_upload_gb_per_s = upload_rate(false);
    return limits;
}

/// As in docs/performance.md: all launches are in one CUDA graph, so that the host's speed has no effect.
Trial time_kernels(const Plan& plan, const Training& training, const Rows& query, int k,
                   const TrialOptions& options, const ProgressToken& token) {
    check(cudaSetDevice(plan.device.number), "choosing the device");
    Runs runs(token, Cache::warm);
    const Stream& stream = runs.stream();
    ImageBuffer train_bytes, query_bytes;
    query_bytes.upload(query, stream);
    const DeviceBuffer<std::uint8_t> labels(training.labels.size());
    enqueue_copy(training.labels, labels.d_data(), stream, "uploading labels");
    const ByteRows train = train_bytes.upload(training.rows, stream);
    std::optional<Sketch> sketch;
    if (plan.sketch == SketchColumns::c128) sketch = fit_sketch_to(train, false, stream);
    FusedSearch search(named_in(tensor_table(), plan.distance), train, stream, sketch ? &*sketch : nullptr);
    const std::int64_t batch = search.reserve({query.count, k});
    const DeviceBuffer<Neighbor> neighbors(static_cast<std::size_t>(query.count * k));
    const DeviceBuffer<Vote> votes(static_cast<std::size_t>(query.count));
    const Graph graph = captured(stream, [&] {
        for (std::int64_t begin = 0; begin < query.count; begin += batch) {
            const std::int64_t n = std::min(batch, query.count - begin);
            const NeighborRows out{neighbors.d_data() + begin * k, n, k};
            search.enqueue({query_bytes.rows(query.count, query.dim).slice(begin, n), out}, stream);
            if (!training.labels.empty())
                enqueue_vote(out, labels.d_data(), Weights::uniform, Tie::smallest, votes.d_data() + begin,
                             stream);
        }
    });
    const auto launch = [&] { check(cudaGraphLaunch(graph.get(), stream), "launching a graph"); };
    runs.repeated(query.count, {.repeat = warm_up_runs}, launch);
    Trial trial = runs.repeated(query.count, options, launch);
    trial.found = downloaded(neighbors, query.count, k);
    return trial;
}

Trial time_program(int device, const Program& program, const Rows& train, const Rows& query, int k,
                   const TrialOptions& options, const ProgressToken& token) {
    check(cudaSetDevice(device), "choosing the device");
    const DistanceKernel& kernel =
        *std::ranges::find(bench_distance_table(), std::string_view(program.distance), &DistanceKernel::name);
    const Selector& sort = named_in(bench_selector_table(), "bitonic_step");
    const Problem problem{train.count, 1, train.dim, k};
    for (const UnsupportedReason& refusal : {kernel.supports(problem), sort.supports(problem)})
        if (refusal) return {.refusal = refusal};

    const std::int64_t stride = round_up(train.dim, 4);
    const std::size_t row_bytes = static_cast<std::size_t>(stride) * sizeof(float),
                      n_train = static_cast<std::size_t>(train.count);
    HostArray<float> all_train = floats_of(train, stride, program.pinned),
                     all_query = floats_of(query, stride, program.pinned);
    const DeviceBuffer<float> linear(program.pitched ? 0 : n_train * row_bytes / sizeof(float));
    const PitchedBuffer<float> pitched =
        program.pitched ? PitchedBuffer<float>(train.count, stride) : PitchedBuffer<float>();
    const FloatRows train_rows = program.pitched
                                     ? pitched.first(train.count, train.dim)
                                     : FloatRows{linear.d_data(), train.count, train.dim, row_bytes};
    const Stream stream;  // destroyed first
    Timeline stages;
    const auto stage = [&](const char* name, const auto& work) {
        const auto begin = Clock::now();
        work();
        stream.synchronize();
        stages.add_since(name, begin, StageKind::kernel);
    };
    Neighbors found(query.count, k);
    Trial trial = timed_trial(options, query.count, [&](std::int64_t n) {
        stages = {};
        const auto begin = Clock::now();
        stage("transfer", [&] {
            check(cudaMemcpy2DAsync(train_rows.d_data, train_rows.pitch_bytes, all_train.data(), row_bytes,
                                    row_bytes, n_train, cudaMemcpyHostToDevice, stream),
                  "uploading");
        });
        std::optional<ProgramBuffers> own;
        for (std::int64_t q = 0; q < n; ++q) {
            token.throw_if_stopped();
            if (!own || !program.allocates_once)
                stage("allocate", [&] {
                    own.reset();
                    own = ProgramBuffers{DeviceBuffer<float>(row_bytes / sizeof(float)),
                                         DeviceBuffer<std::uint32_t>(n_train),
                                         DeviceBuffer<Neighbor>(static_cast<std::size_t>(k)),
                                         DeviceBuffer<char>(sort.workspace_bytes(problem))};
                });
            const FloatRows query_row{own->query.d_data(), 1, train.dim, row_bytes};
            const DistanceRows row{own->row.d_data(), 1, train.count, n_train * sizeof(std::uint32_t)};
            const std::span<Neighbor> nearest = found.row(q);
            stage("transfer", [&] {
                check(cudaMemcpyAsync(query_row.d_data, all_query.data() + q * stride, row_bytes,
                                      cudaMemcpyHostToDevice, stream),
                      "uploading");
            });
            stage("distance", [&] {
                kernel.enqueue(problem, {{train_rows, {}}, {query_row, {}}}, row, nullptr, stream);
            });
            stage("sort", [&] {
                sort.enqueue(problem, row, {own->neighbors.d_data(), 1, k}, own->workspace.d_data(), stream);
            });
            stage("transfer", [&] {
                check(cudaMemcpyAsync(nearest.data(), own->neighbors.d_data(), nearest.size_bytes(),
                                      cudaMemcpyDeviceToHost, stream),
                      "downloading");
            });
        }
        return ms_since(begin);
    });
    trial.peak_bytes = static_cast<std::int64_t>(sizeof(std::uint32_t) * n_train +
                                                 sort.workspace_bytes(problem) + found.row(0).size_bytes());
    found.n_query = trial.n_query;
    found.rows.resize(static_cast<std::size_t>(trial.n_query * k));
    trial.found = std::move(found);
    trial.stages = std::move(stages);
    return trial;
}

Trial time_transform(int device, const FittedTransform& transform, const Rows& images,
                     const TrialOptions& options, const ProgressToken& token) {
    check(cudaSetDevice(device), "choosing the device");
    Runs runs(token);
    const Stream& stream = runs.stream();
    DeviceTransform on_device(transform);
    on_device.reserve(images.count);
    ImageBuffer in, out;
    out.reserve(images.count, transform.dim_out());
    const ByteRows from = in.upload(images, stream), to = out.rows(images.count, transform.dim_out());
    Trial trial = runs.repeated(images.count, options, [&] { on_device.enqueue(from, to, stream); });
    const auto dim = static_cast<std::size_t>(to.cols), n = static_cast<std::size_t>(to.n);
    trial.features.resize(n * dim);
    check(cudaMemcpy2D(trial.features.data(), dim, to.d_data, to.pitch_bytes, dim, n, cudaMemcpyDeviceToHost),
          "downloading features");
    return trial;
}

Trial time_rerank(int device, const RerankWork& work, bool plain, const TrialOptions& options,
                  const ProgressToken& token) {
    check(cudaSetDevice(device), "choosing the device");
    const Neighbors& candidates = work.candidates;
    Runs runs(token);
    const Stream& stream = runs.stream();
    DeviceReranker reranker(work.rerank, work.shape, {}, plain);
    ImageBuffer images;
    reranker.describe_training(images.upload(work.train, stream), stream);
    stream.synchronize();
    reranker.reserve(candidates.n_query, candidates.k);
    reranker.describe_queries(images.upload(work.queries, stream), stream);
    const DeviceBuffer<Neighbor> in = copied_to_device(std::span(candidates.rows), "uploading candidates"),
                                 out(candidates.rows.size());
    Trial trial = runs.repeated(candidates.n_query, options, [&] {
        reranker.enqueue({in.d_data(), candidates.n_query, candidates.k},
                         {out.d_data(), candidates.n_query, candidates.k}, stream);
    });
    trial.found = downloaded(out, candidates.n_query, candidates.k);
    return trial;
}

}  // namespace knn::gpu
