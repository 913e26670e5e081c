#include "gpu/engines/batches.h"

#include <algorithm>
#include <cstring>

#include "gpu/engines/vote.h"

namespace knn::gpu {

namespace {

/// The layout of a batch's results, the same on the device and in pinned memory: neighbors, then votes.
struct ResultLayout {
    std::size_t votes, bytes;  // offset of the votes, and total size

    ResultLayout(std::int64_t n, int k, bool vote) {
        votes = static_cast<std::size_t>(round_up(n * k * static_cast<std::int64_t>(sizeof(Neighbor)),
                                                  static_cast<std::int64_t>(alignof(Vote)) * 2));
        bytes = votes + (vote ? static_cast<std::size_t>(n) * sizeof(Vote) : 0);
    }
};

/// Batches that are re-ranked are not larger: 240 MB of descriptors for 28 × 28 pixels.
constexpr std::int64_t most_reranked = std::int64_t{1} << 16;

}  // namespace

/// The memory of one batch in flight.
struct BatchedSearcher::Slot {
    ImageBuffer images, features;  // features only if there is a transform
    DeviceBuffer<char> results;
    DeviceBuffer<Neighbor> known;  // only if neighbors are improved
    PinnedBuffer<char> host_results;
    StageTimer timer;
    std::int64_t begin = 0, n = 0;  // the queries in it; n = 0: nothing in flight
};

struct BatchedSearcher::Run {
    Rows queries;
    int candidates, k;
    const VotingRule* rule;  // null: no vote
    Exclude exclude;
    bool is_one_batch;
    std::span<Neighbor> improved = {};  ///< n_query × k, replaced by the result; empty: none are known
    std::uint32_t first = 0;            ///< where indices begin

    std::span<Neighbor> known_of(std::int64_t begin, std::int64_t n) const {
        if (improved.empty()) return {};
        return improved.subspan(static_cast<std::size_t>(begin * k), static_cast<std::size_t>(n * k));
    }
};

BatchedSearcher::BatchedSearcher(std::unique_ptr<BatchEngine> engine, Upload& upload, const Measure& measure,
                                 const Plan& plan)
    : engine_(std::move(engine)),
      labels_(std::move(upload.labels)),
      transform_(std::move(upload.transform)),
      train_images_(upload.images),
      shape_(upload.shape),
      n_train_(upload.n),
      dim_(upload.dim),
      measure_(measure),
      plan_(plan),
      limit_(plan.batch),
      slots_{std::make_unique<Slot>(), std::make_unique<Slot>()} {}

BatchedSearcher::~BatchedSearcher() {
    cudaSetDevice(plan_.device.number);
    for (const Stream* stream : {&uploads_, &kernels_, &downloads_})
        cudaStreamSynchronize(*stream);  // before memory that queued kernels or copies use is freed
}

bool BatchedSearcher::votes(const VotingRule& rule) const {
    return labels_.size() > 0 && rule.votes == Votes::majority &&
           vote_supports(neighbor_measure().metric, rule.weights);
}

bool BatchedSearcher::rerank_by(const Reranking& reranking, Timeline& timeline) {
    check(cudaSetDevice(plan_.device.number), "choosing the device");
    if (!reranker_ || reranking.rerank.kind != reranking_.rerank.kind) {
        auto reranker = std::make_unique<DeviceReranker>(reranking.rerank, shape_);
        ImageBuffer pixels;
        pixels.reserve(n_train_, train_images_.dim);
        const ByteRows rows = pixels.rows(n_train_, train_images_.dim);
        const double bytes = byte_count(n_train_, train_images_.dim);
        StageTimer timer;
        timer.time(kernels_, {.name = "upload", .bytes = bytes, .kind = StageKind::copy},
                   [&] { enqueue_upload(train_images_, rows, kernels_); });
        timer.time(kernels_, {.name = "describe", .bytes = bytes},
                   [&] { reranker->describe_training(rows, kernels_); });
        timer.synchronize();
        timer.add_to(timeline);
        reranker_ = std::move(reranker);
    }
    reranker_->set_density(reranking.density, kernels_);
    reranking_.rerank = reranking.rerank;
    return true;
}

Neighbors BatchedSearcher::search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                                  const Watch& watch) {
    Answers answers;
    search_and_tell(queries, k, nullptr, exclude, timeline, watch, {}, answers);
    return std::move(answers.neighbors);
}

Answers BatchedSearcher::search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude,
                                         Timeline& timeline, const Watch& watch) {
    Answers answers;
    search_and_tell(queries, rule.k, &rule, exclude, timeline, watch, {}, answers);
    return answers;
}

void BatchedSearcher::search_and_tell(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                                      Timeline& timeline, const Watch& watch, const Tell& tell,
                                      Answers& answers) {
    check(cudaSetDevice(plan_.device.number), "choosing the device");
    require(rule == nullptr || votes(*rule), "labels, and a voting rule that the GPU computes");
    require_search(queries, k, exclude);
    const std::int64_t n = queries.count;
    watch.step(0, n);
    answers = {};
    answers.neighbors = Neighbors(0, k);
    if (n == 0) return;
    answers.neighbors.n_query = n;
    answers.neighbors.rows.reserve(static_cast<std::size_t>(n) * static_cast<std::size_t>(k));
    if (rule != nullptr) answers.votes.reserve(static_cast<std::size_t>(n));
    const int candidates = reranker_ ? reranking_.candidates(k, n_train_, exclude.any()) : k;
    reserve(n, candidates, exclude, false);
    run({queries, candidates, k, rule, exclude, plan_.batch >= n}, answers, timeline, watch, tell);
}

void BatchedSearcher::require_search(const Rows& queries, int k, Exclude exclude) const {
    const std::int64_t n = queries.count;
    require_k(k, n_train_, exclude);
    require(queries.dim == (transform_.is_raw() ? dim_ : transform_.dim_in()),
            "queries of as many pixels as the training images");
    require(!exclude.any() || n == 0 || exclude.index_of(n - 1) < n_train_,
            "queries that are training images");
}

void BatchedSearcher::prepare(std::int64_t n_query, int k, bool improve) {
    check(cudaSetDevice(plan_.device.number), "choosing the device");
    // Other engines' batches take what memory is free, which another part may need.
    if (!engine_->improves() || reranker_ || n_query == 0 || k > n_train_) return;
    reserve(n_query, k, {}, improve);
    const std::int64_t n = std::min(plan_.batch, n_query),
                       dim = transform_.is_raw() ? dim_ : transform_.dim_in();
    for (const auto& slot : slots_) {
        slot->images.reserve(n, dim);
        if (!transform_.is_raw()) slot->features.reserve(n, dim_);
        if (improve) slot->known.reserve(static_cast<std::size_t>(n * k));
        slot->results.reserve(ResultLayout(n, k, false).bytes);
        slot->host_results.reserve(ResultLayout(n, k, false).bytes);
    }
}

bool BatchedSearcher::improves(int k, Exclude exclude) const {
    return engine_->improves() && !reranker_ && k <= n_train_ - (exclude.any() ? 1 : 0);
}

void BatchedSearcher::improve(const Rows& queries, int k, std::uint32_t first, Exclude exclude,
                              Timeline& timeline, const Watch& watch, const Tell& tell,
                              std::span<Neighbor> best) {
    check(cudaSetDevice(plan_.device.number), "choosing the device");
    require_search(queries, k, exclude);
    require(improves(k, exclude), "an engine that takes known neighbors");
    const std::int64_t n = queries.count;
    require(std::ssize(best) == n * k, "k neighbors of each query");
    watch.step(0, n);
    if (n == 0) return;
    reserve(n, k, exclude, true);
    Answers none;
    run({queries, k, k, nullptr, exclude, plan_.batch >= n, best, first}, none, timeline, watch, tell);
}

void BatchedSearcher::run(const Run& run, Answers& answers, Timeline& timeline, const Watch& watch,
                          const Tell& tell) {
    const std::int64_t n = run.queries.count;
    std::int64_t done = 0;
    int turn = 0;
    const auto collect_next = [&] {
        done += slots_[turn]->n;
        collect(run, *slots_[turn], answers, timeline, tell);
    };
    try {
        for (std::int64_t begin = 0; begin < n; begin += plan_.batch, turn ^= 1) {
            collect_next();
            if (begin > 0) watch.step(done, n);
            enqueue(run, *slots_[turn], begin);
            // While the device works. For all batches at once it would wait: new memory for a million queries takes
            // 0.1 s.
            const auto end = static_cast<std::size_t>(begin + slots_[turn]->n);
            if (run.improved.empty()) answers.neighbors.rows.resize(end * static_cast<std::size_t>(run.k));
            if (run.rule != nullptr) answers.votes.resize(end);
        }
        for (int left = 0; left < 2; ++left, turn ^= 1)
            collect_next();
        watch.step(done, n);
    } catch (...) {
        abandon();
        throw;
    }
}

/// The engine comes last: it takes what fits into the memory that is left.
void BatchedSearcher::reserve(std::int64_t n_query, int candidates, Exclude exclude, bool improve) {
    if (!transform_.is_raw()) transform_.reserve(std::min(n_query, images_per_transform));
    if (reranker_) {
        const std::int64_t most = std::min({n_query, most_reranked, limit_ > 0 ? limit_ : most_reranked});
        reranker_->reserve(most, candidates);
        candidates_.reserve(static_cast<std::size_t>(most) * static_cast<std::size_t>(candidates));
    }
    plan_.batch = engine_->reserve(n_query, candidates, exclude.any(), limit_, improve);
    if (reranker_ && plan_.batch > most_reranked)
        plan_.batch = engine_->reserve(n_query, candidates, exclude.any(), most_reranked, false);
}

cudaEvent_t BatchedSearcher::enqueue_rerank(const ByteRows& images, const NeighborRows& candidates,
                                            const NeighborRows& out, StageTimer& timer) {
    timer.time(kernels_, {.name = "describe", .bytes = byte_count(images.n, images.cols)},
               [&] { reranker_->describe_queries(images, kernels_); });
    return timer.time(kernels_, {.name = "rerank"}, [&] { reranker_->enqueue(candidates, out, kernels_); });
}

/// From the pinned memory that gets the batch's answers later.
void BatchedSearcher::enqueue_known(std::span<const Neighbor> known, const Slot& slot, cudaStream_t stream) {
    if (known.empty()) return;
    std::memcpy(slot.host_results.data(), known.data(), known.size_bytes());
    check(cudaMemcpyAsync(slot.known.d_data(), slot.host_results.data(), known.size_bytes(),
                          cudaMemcpyHostToDevice, stream),
          "uploading known neighbors");
}

/// Upload, transform and the engine's stages of a batch; `neighbors` gets their result.
cudaEvent_t BatchedSearcher::enqueue_search(const Run& run, Slot& slot, const Rows& queries,
                                            const NeighborRows& neighbors) {
    slot.images.reserve(queries.count, queries.dim);
    if (!transform_.is_raw()) slot.features.reserve(queries.count, dim_);
    const std::span<const Neighbor> known = run.known_of(slot.begin, queries.count);
    slot.known.reserve(known.size());
    const cudaStream_t in = run.is_one_batch ? kernels_ : uploads_;
    const ByteRows images = slot.images.rows(queries.count, queries.dim);
    const Batch batch{
        transform_.is_raw() ? images : slot.features.rows(queries.count, dim_),
        reranker_ ? NeighborRows{candidates_.d_data(), queries.count, run.candidates} : neighbors,
        {run.exclude, slot.begin},
        {known.empty() ? nullptr : slot.known.d_data(), run.first}};
    const double bytes = byte_count(queries.count, queries.dim) + static_cast<double>(known.size_bytes());
    cudaEvent_t done = slot.timer.time(in, {.name = "upload", .bytes = bytes, .kind = StageKind::copy}, [&] {
        enqueue_upload(queries, images, in);
        enqueue_known(known, slot, in);
    });
    if (in != kernels_) kernels_.wait_for(done);
    if (!transform_.is_raw())
        done = slot.timer.time(kernels_,
                               {.name = "transform", .bytes = byte_count(queries.count, queries.dim + dim_)},
                               [&] { transform_.enqueue(images, batch.query, kernels_); });
    for (Step& step : engine_->steps(batch))
        done = slot.timer.time(kernels_, std::move(step.stage), [&] { step.enqueue(kernels_); });
    return reranker_ ? enqueue_rerank(images, batch.out, neighbors, slot.timer) : done;
}

void BatchedSearcher::enqueue(const Run& run, Slot& slot, std::int64_t begin) {
    const Rows queries = run.queries.slice(begin, std::min(plan_.batch, run.queries.count - begin));
    const ResultLayout layout(queries.count, run.k, run.rule != nullptr);
    slot.results.reserve(layout.bytes);
    slot.host_results.reserve(layout.bytes);
    slot.begin = begin;
    slot.n = queries.count;
    const cudaStream_t out = run.is_one_batch ? kernels_ : downloads_;
    const NeighborRows neighbors{reinterpret_cast<Neighbor*>(slot.results.d_data()), queries.count, run.k};
    auto* d_votes = reinterpret_cast<Vote*>(slot.results.d_data() + layout.votes);
    const double n = static_cast<double>(queries.count), k = run.k;

    cudaEvent_t done = enqueue_search(run, slot, queries, neighbors);
    if (run.rule != nullptr)
        done = slot.timer.time(
            kernels_, {.name = "vote", .bytes = n * k * (sizeof(Neighbor) + 1) + n * sizeof(Vote)}, [&] {
                enqueue_vote(neighbors, labels_.d_data(), run.rule->weights, run.rule->tie, d_votes, kernels_,
                             neighbor_measure().metric);
            });
    if (out != kernels_) downloads_.wait_for(done);
    slot.timer.time(out,
                    {.name = "download",
                     .bytes = n * (k * sizeof(Neighbor) + (run.rule != nullptr ? sizeof(Vote) : 0)),
                     .kind = StageKind::copy},
                    [&] {
                        check(cudaMemcpyAsync(slot.host_results.data(), slot.results.d_data(), layout.bytes,
                                              cudaMemcpyDeviceToHost, out),
                              "downloading answers");
                    });
}

/// Waits for the batch in the slot, if there is one, and takes its results and times.
void BatchedSearcher::collect(const Run& run, Slot& slot, Answers& answers, Timeline& timeline,
                              const Tell& tell) {
    if (slot.n == 0) return;
    slot.timer.synchronize();
    const auto* neighbors = reinterpret_cast<const Neighbor*>(slot.host_results.data());
    const auto begin = static_cast<std::size_t>(slot.begin), n = static_cast<std::size_t>(slot.n);
    const auto k = static_cast<std::size_t>(run.k);
    FoundRows found{slot.begin, run.known_of(slot.begin, slot.n), {}};
    if (found.neighbors.empty())
        found.neighbors = std::span(answers.neighbors.rows).subspan(begin * k, n * k);
    std::copy_n(neighbors, n * k, found.neighbors.begin());
    if (run.rule != nullptr) {
        const ResultLayout layout(slot.n, run.k, true);
        const auto* votes = reinterpret_cast<const Vote*>(slot.host_results.data() + layout.votes);
        found.votes = std::span(answers.votes).subspan(begin, n);
        std::copy_n(votes, n, answers.votes.begin() + slot.begin);
    }
    slot.timer.add_to(timeline);
    slot.n = 0;
    if (tell) tell(found);
}

/// After an error or an interruption: waits until nothing reads the queries any more, and frees the slots.
void BatchedSearcher::abandon() {
    for (const Stream* stream : {&uploads_, &kernels_, &downloads_})
        cudaStreamSynchronize(*stream);
    cudaGetLastError();
    for (const auto& slot : slots_) {
        slot->timer.clear();
        slot->n = 0;
    }
}

}  // namespace knn::gpu
