// The engine `classic`:
//
//   training bytes ─upload→ bytes ─expand→ floats, or what the distance kernel's `prepare` makes
//   query bytes ─upload→ bytes ─expand→ floats ─distance→ matrix ─sort→ neighbors ─vote→ votes ─download→ host
//
// The training set stays on the device in one format. For kernels that read bytes there are no floats at all. The
// matrix, the floats and the workspace are those of one batch, because batches run one after another.

#include <algorithm>

#include "gpu/distance/distance.h"
#include "gpu/engines/batches.h"
#include "gpu/engines/strategies.h"
#include "gpu/engines/vote.h"
#include "gpu/select/select.h"

namespace knn::gpu {

namespace {

// Larger batches are no faster, and would delay Ctrl-C and the progress bar.
constexpr std::int64_t usual_batch = 4096;
/// Of a batch, for large k: 64 MiB of host memory for the answers, which is pinned.
constexpr std::int64_t usual_neighbors = std::int64_t{1} << 23;
// The limit of --batch: fits in the grid of every kernel.
constexpr std::int64_t max_queries = std::int64_t{1} << 18;

constexpr int leave_out_threads = 256;

/// Leave-one-out: sets the score of each query and itself above all others. matrix: n_query × n_train 32-bit scores,
/// pitched rows, device memory. One thread per query. No score of data/core/metric.h reaches 2³² − 1, and k is at most
/// the number of other images, so the query itself is never selected.
__global__ void __launch_bounds__(leave_out_threads) leave_out_kernel(DistanceRows matrix, LeftOut left_out) {
    const std::int64_t q = std::int64_t{blockIdx.x} * leave_out_threads + threadIdx.x;
    if (q >= matrix.n) return;
    const std::uint32_t itself = left_out.of(q);
    if (itself < matrix.cols) matrix.row(q)[itself] = excluded_distance;
}

void enqueue_leave_out(const DistanceRows& matrix, const LeftOut& left_out, cudaStream_t stream) {
    leave_out_kernel<<<grid_size(divide_up(matrix.n, leave_out_threads)), leave_out_threads, 0, stream>>>(
        matrix, left_out);
    check_launch("launching leave_out");
}

class Classic final : public BatchEngine {
  public:
    /// Takes the training set from `upload`, on its stream.
    Classic(const DistanceKernel& distance, const Selector& selector, const Measure& measure, Upload& upload,
            Timeline& timeline)
        : distance_(distance), selector_(selector), n_train_(upload.n), dim_(upload.dim), measure_(measure) {
        const Problem problem = problem_of(1, 1);
        const ByteRows bytes = upload.features.rows(n_train_, dim_);
        const bool floats = distance.takes == Pixels::floats;
        if (floats) train_floats_ = PitchedBuffer<float>(n_train_, round_up(dim_, 4));
        prepared_ = DeviceBuffer<char>(distance.prepared_bytes(problem));
        const double size = static_cast<double>(n_train_) * static_cast<double>(dim_);
        distance.load(problem);
        selector.load(problem);
        load_vote();
        upload.timer.time(upload.stream, {.name = "expand", .bytes = (floats ? 5 : 2) * size}, [&] {
            if (floats) enqueue_expand(bytes, train_floats_.first(n_train_, dim_), upload.stream);
            if (prepared_.size() > 0)
                distance.prepare(problem, images(train_floats_, bytes), prepared_.d_data(), upload.stream);
        });
        upload.finish(timeline);
        if (prepared_.size() > 0)
            train_floats_ = {};
        else if (!floats)
            train_bytes_ = std::move(upload.features);
    }

    std::int64_t reserve(const SearchShape& shape, std::int64_t limit, Timeline& /*timeline*/) override {
        const int k = shape.k;
        require(!shape.has_known, "an engine that takes known neighbors");
        const Problem whole = problem_of(shape.n_query, k);
        if (const UnsupportedReason refusal = selector_for(whole).supports(whole))
            throw DeviceError("GPU: " + *refusal);
        const std::int64_t usual = std::min(usual_batch, usual_neighbors / k);
        const std::int64_t most = std::min({limit > 0 ? limit : usual, shape.n_query, max_queries});
        std::int64_t batch = most;
        if (batch > matrix_.rows().n || workspace_bytes(batch, k) > workspace_.size()) {
            batch = fitting(most, k);
            if (batch > matrix_.rows().n) {
                matrix_ = {};
                query_floats_ = {};
                if (distance_.takes == Pixels::floats)
                    query_floats_ = PitchedBuffer<float>(batch, round_up(dim_, 4));
                matrix_ = PitchedBuffer<std::uint32_t>(batch, n_train_);  // last: says that there is memory
            }
            workspace_.reserve(workspace_bytes(batch, k));
        }
        return batch;
    }

    void enqueue(const Batch& batch, StageTimer& timer, cudaStream_t stream) override {
        const Problem problem = problem_of(batch.query.n, batch.out.k);
        const double n = static_cast<double>(batch.query.n), n_train = static_cast<double>(n_train_);
        const double dim = static_cast<double>(dim_), pairs = n * n_train;
        const bool floats = distance_.takes == Pixels::floats;
        const DistanceInput in{.train = images(train_floats_, train_bytes_.rows(n_train_, dim_)),
                               .query = images(query_floats_, batch.query),
                               .d_prepared = prepared_.size() > 0 ? prepared_.d_data() : nullptr};
        const DistanceRows matrix = matrix_.first(batch.query.n);
        if (floats)
            timer.time(stream, {.name = "expand", .bytes = 5 * n * dim},
                       [&] { enqueue_expand(batch.query, in.query.floats, stream); });
        const Stage distance{.name = "distance",
                             .bytes = (floats ? 4 : 1) * (n_train * dim + n * dim) + 4 * pairs,
                             .operations = distance_.operations * pairs * dim};
        timer.time(stream, distance, [&] {
            distance_.enqueue(problem, in, matrix, workspace_.d_data(), stream);
            if (batch.left_out.any()) enqueue_leave_out(matrix, batch.left_out, stream);
        });
        timer.time(stream, {.name = "sort", .bytes = 4 * pairs + 8 * n * batch.out.k}, [&] {
            selector_for(problem).enqueue(problem, matrix, batch.out, workspace_.d_data(), stream);
        });
    }

  private:
    Problem problem_of(std::int64_t n_query, int k) const { return {n_train_, n_query, dim_, k, measure_}; }

    /// The plan's, unless k differs from that of the plan and is too large for it.
    const Selector& selector_for(const Problem& problem) const {
        if (!selector_.supports(problem)) return selector_;
        const auto all = selector_table();
        const auto other =
            std::ranges::find_if(all, [&](const Selector* one) { return !one->supports(problem); });
        return other != all.end() ? **other : selector_;
    }

    /// What the kernel reads: `bytes`, or the floats expanded from them.
    Images images(const PitchedBuffer<float>& floats, const ByteRows& bytes) const {
        if (distance_.takes == Pixels::bytes) return {{}, bytes};
        return {floats.first(bytes.n, dim_), {}};
    }

    std::size_t workspace_bytes(std::int64_t n_query, int k) const {
        const Problem problem = problem_of(n_query, k);
        return std::max(distance_.workspace_bytes(problem), selector_for(problem).workspace_bytes(problem));
    }

    /// The number of queries that leaves a tenth of the free memory unused.
    std::int64_t fitting(std::int64_t batch, int k) const {
        constexpr std::int64_t pitch = 512;  // at most what cudaMallocPitch rounds rows up to
        const std::int64_t images = round_up(4 * n_train_, pitch) + round_up(4 * dim_, pitch);
        const std::int64_t in_flight =
            2 * (ImageBuffer::pitch_of(dim_) + static_cast<std::int64_t>(sizeof(Vote)) +
                 k * static_cast<std::int64_t>(sizeof(Neighbor)));
        const std::int64_t held = matrix_.rows().n * images + static_cast<std::int64_t>(workspace_.size());
        const std::int64_t budget = (static_cast<std::int64_t>(free_memory()) + held) / 10 * 9;
        while (batch > 1 &&
               batch * (images + in_flight) + static_cast<std::int64_t>(workspace_bytes(batch, k)) > budget)
            batch = (batch + 1) / 2;
        return batch;
    }

    const DistanceKernel& distance_;
    const Selector& selector_;
    std::int64_t n_train_, dim_;
    Measure measure_;
    ImageBuffer train_bytes_;
    PitchedBuffer<float> train_floats_, query_floats_;
    DeviceBuffer<char> prepared_, workspace_;
    PitchedBuffer<std::uint32_t> matrix_;
};

}  // namespace

std::vector<Strategy> distance_kernels() {
    return strategies_of(distance_table());
}
std::vector<Strategy> selectors() {
    return strategies_of(selector_table());
}

UnsupportedReason configure_classic(const Problem& problem, Plan& plan) {
    const OnDevice on_device(plan.device.number);
    if (names_columns(plan.sketch)) return "classic computes all distances; sketches are for tensor and cpu";
    UnsupportedReason refusal;
    const MetricSet metric = metric_set(problem.measure.metric);
    const auto* distance = choose(distance_table(), plan.distance, "distance kernel", refusal,
                                  [&](const DistanceKernel& kernel) { return kernel.supports(problem); });
    if (distance == nullptr && plan.distance.empty())  // the reason of a kernel that supports the metric
        for (const DistanceKernel* kernel : distance_table())
            if ((kernel->metrics & metric) != 0) return kernel->supports(problem);
    if (distance == nullptr) return refusal;
    const auto* selector = choose(selector_table(), plan.select, "selector", refusal,
                                  [&](const Selector& one) { return one.supports(problem); });
    if (selector == nullptr) return refusal;
    plan.distance = distance->name;
    plan.select = selector->name;
    plan.threads = 1;
    return std::nullopt;
}

std::unique_ptr<DeviceIndex> open_classic(const Training& training, const Measure& measure, const Plan& plan,
                                          Timeline& timeline) {
    const OnDevice on_device(plan.device.number);
    Upload upload(training);
    auto engine =
        std::make_unique<Classic>(named_in(distance_table(), plan.distance),
                                  named_in(selector_table(), plan.select), measure, upload, timeline);
    return std::make_unique<BatchedIndex>(std::move(engine), std::move(upload), measure, plan);
}

}  // namespace knn::gpu
