// The version before the improvements of seed 003 as a whole: images as floats in pageable memory, linear rows; then, for
// one test image after another, an upload, the scalar distance kernel, the padded bitonic sort, and a download of the k
// nearest. The host waits for each. Votes are the caller's.

#include "gpu/bench/bench.h"

#include "data/core/clock.h"
#include "data/core/round_up.h"
#include "gpu/bench/rungs.h"
#include "gpu/engines/strategies.h"
#include "gpu/runtime/buffers.h"
#include "gpu/runtime/stream.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

/// count × stride floats, zeros beyond dim: the rungs read four at a time.
std::vector<float> floats_of(const Rows& images, std::int64_t stride) {
    std::vector<float> floats(static_cast<std::size_t>(images.count * stride));
    for (std::int64_t i = 0; i < images.count; ++i)
        std::copy_n(images.row(i), images.dim, floats.begin() + i * stride);
    return floats;
}

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

}  // namespace knn::gpu
