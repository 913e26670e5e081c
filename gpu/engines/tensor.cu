// The engine `tensor`, batch by batch over the queries:
//
//   host bytes ─upload→ bytes ─prepare→ used pixels, norms ─sample, search→ survivors ─merge, scan→ neighbors
//   ─vote→ votes ─download→ host
//
// The steps and their arrays are those of gpu/fused/search.h.

#include "gpu/engines/tensor.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "gpu/engines/pipeline.h"
#include "gpu/engines/vote.h"
#include "gpu/fused/search.h"
#include "gpu/runtime/device_buffer.h"
#include "gpu/runtime/pinned_buffer.h"
#include "gpu/runtime/stage_timer.h"
#include "gpu/runtime/stream.h"

namespace knn::gpu {

namespace {

int compute_capability(int device) {
    int major = 0, minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
          "reading a device attribute");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
          "reading a device attribute");
    return 10 * major + minor;
}

/// The first kernel that takes the problem, or the one that was named; null, and why, where none does.
const TensorKernel* choose_kernel(const SearchRequest& request, Refusal& refusal) {
    const int capability = compute_capability(request.device);
    refusal = "there is no tensor kernel '" + request.distance + "'";
    for (const TensorKernel* kernel : tensor_table()) {
        if (!request.distance.empty() && request.distance != kernel->name) continue;
        refusal = kernel->supports(request.problem(), capability);
        if (!refusal) return kernel;
    }
    return nullptr;
}

/// One search on one device. The constructor uploads and arranges the training set; run() goes through the
/// queries.
class Tensor {
  public:
    Tensor(const SearchRequest& request, const TensorKernel& kernel, const Watch& watch)
        : request_(request),
          watch_(watch),
          kernel_(kernel),
          batch_(choose_batch()),
          labels_(request.train_labels.size()),
          query_(bytes_of(request.query.first(batch_))),
          neighbors_(static_cast<std::size_t>(batch_ * request.k)),
          votes_(static_cast<std::size_t>(batch_)),
          host_neighbors_(static_cast<std::size_t>(batch_ * request.k)),
          host_votes_(static_cast<std::size_t>(batch_)) {
        arrange_training_set();
    }

    ~Tensor() { cudaDeviceSynchronize(); }  // before anything that a queued kernel or copy uses goes away

    SearchResult run() {
        SearchResult result;
        result.neighbors = Neighbors(request_.query.count, request_.k);
        result.votes.resize(static_cast<std::size_t>(request_.query.count));
        upload_.add_to(timeline_);
        arrange_.add_to(timeline_);
        for (std::int64_t begin = 0; begin < request_.query.count; begin += batch_) {
            watch_.step(begin, request_.query.count);
            search_batch(begin, std::min(batch_, request_.query.count - begin), result);
        }
        watch_.step(request_.query.count, request_.query.count);
        result.timeline = timeline_;
        result.distance = kernel_.name;
        result.select = "fused";
        result.batch = batch_;
        result.threads = 1;
        return result;
    }

  private:
    static std::size_t bytes_of(const Rows& rows) {
        return static_cast<std::size_t>(rows.count * rows.dim);
    }
    std::int64_t choose_batch() const {
        const std::int64_t batch = FusedSearch::batch_size(request_.query.count, request_.train.count,
                                                           request_.k, static_cast<int>(request_.train.dim));
        return request_.batch > 0 ? std::min(request_.batch, batch) : batch;
    }
    static ByteRows view(const DeviceBuffer<std::uint8_t>& buffer, const Rows& rows) {
        return {buffer.d_data(), rows.count, rows.dim, static_cast<std::size_t>(rows.dim)};
    }
    void copy_in(void* d_to, const void* from, std::size_t bytes, const char* what) {
        check(cudaMemcpyAsync(d_to, from, bytes, cudaMemcpyHostToDevice, stream_), what);
    }
    void copy_out(void* to, const void* d_from, std::size_t bytes, const char* what) {
        check(cudaMemcpyAsync(to, d_from, bytes, cudaMemcpyDeviceToHost, stream_), what);
    }

    void arrange_training_set() {
        const std::size_t bytes = bytes_of(request_.train);
        const DeviceBuffer<std::uint8_t> train(bytes);
        upload_.time(stream_, {.name = "upload", .bytes = static_cast<double>(bytes), .transfer = true}, [&] {
            copy_in(train.d_data(), request_.train.pixels, bytes, "uploading training images");
            copy_in(labels_.d_data(), request_.train_labels.data(), request_.train_labels.size(),
                    "uploading labels");
        });
        arrange_.time(stream_, {.name = "arrange", .bytes = 3.0 * static_cast<double>(bytes)}, [&] {
            search_ = std::make_unique<FusedSearch>(kernel_, view(train, request_.train), request_.k, batch_,
                                                    stream_);
        });
        check(cudaStreamSynchronize(stream_), "arranging the training set");
    }

    void search_batch(std::int64_t begin, std::int64_t count, SearchResult& result) {
        const Rows queries{request_.query.row(begin), count, request_.query.dim};
        const NeighborRows neighbors{neighbors_.d_data(), count, request_.k};
        const double n = static_cast<double>(count), k = request_.k;
        const double bytes = static_cast<double>(bytes_of(queries));

        upload_.time(stream_, {.name = "upload", .bytes = bytes, .transfer = true}, [&] {
            copy_in(query_.d_data(), queries.pixels, bytes_of(queries), "uploading images");
        });
        const std::vector<FusedSearch::Step> steps = search_->steps(view(query_, queries), neighbors);
        std::vector<StageTimer> timers(steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            Stage stage{.name = steps[i].name};
            // What is asked for, whatever the kernels leave out.
            if (stage.name == "search")
                stage.operations = 2.0 * n * static_cast<double>(request_.train.count) *
                                   static_cast<double>(request_.train.dim);
            timers[i].time(stream_, stage, [&] { steps[i].enqueue(stream_); });
        }
        vote_.time(stream_, {.name = "vote", .bytes = n * k * (sizeof(Neighbor) + 1) + n * sizeof(Vote)},
                   [&] {
                       enqueue_vote(neighbors, labels_.d_data(), request_.weights, request_.tie,
                                    votes_.d_data(), stream_);
                   });
        download_.time(
            stream_,
            {.name = "download", .bytes = n * (k * sizeof(Neighbor) + sizeof(Vote)), .transfer = true},
            [&] { download(count); });
        download_.end.synchronize();
        std::copy_n(host_neighbors_.data(), count * request_.k,
                    result.neighbors.rows.begin() + begin * request_.k);
        std::copy_n(host_votes_.data(), count, result.votes.begin() + begin);
        upload_.add_to(timeline_);
        for (StageTimer& timer : timers)
            timer.add_to(timeline_);
        vote_.add_to(timeline_);
        download_.add_to(timeline_);
    }

    void download(std::int64_t count) {
        const auto n = static_cast<std::size_t>(count), k = static_cast<std::size_t>(request_.k);
        copy_out(host_neighbors_.data(), neighbors_.d_data(), n * k * sizeof(Neighbor),
                 "downloading neighbors");
        copy_out(host_votes_.data(), votes_.d_data(), n * sizeof(Vote), "downloading votes");
    }

    const SearchRequest& request_;
    const Watch& watch_;
    const TensorKernel& kernel_;
    std::int64_t batch_;
    DeviceBuffer<std::uint8_t> labels_, query_;
    DeviceBuffer<Neighbor> neighbors_;
    DeviceBuffer<Vote> votes_;
    PinnedBuffer<Neighbor> host_neighbors_;
    PinnedBuffer<Vote> host_votes_;
    std::unique_ptr<FusedSearch> search_;
    StageTimer upload_, arrange_, vote_, download_;
    Timeline timeline_;
    Stream stream_;  // destroyed first
};

}  // namespace

Refusal refuse_tensor(const SearchRequest& request) {
    const Problem problem = request.problem();
    if (Refusal refusal = refuse_problem(problem)) return refusal;
    if (Refusal refusal = refuse_all_but_l2("tensor", problem)) return refusal;
    if (!request.select.empty()) return "tensor selects while it multiplies, and takes no --select";
    constexpr std::int64_t most = 0x7fffffff - tile_train;
    if (problem.n_train > most || problem.n_query > most)
        return "tensor takes at most " + std::to_string(most) + " images";
    Refusal refusal;
    choose_kernel(request, refusal);
    return refusal;
}

SearchResult run_tensor(const SearchRequest& request, const Watch& watch) {
    Refusal refusal;
    const TensorKernel* kernel = choose_kernel(request, refusal);
    if (kernel == nullptr) throw UsageError(*refusal);
    return Tensor(request, *kernel, watch).run();
}

}  // namespace knn::gpu
