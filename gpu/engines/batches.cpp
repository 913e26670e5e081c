#include "gpu/engines/batches.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/engines/strategies.h"
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

/// Searches of at most so many queries run beside others. They need at most 0.5 GB each.
constexpr std::int64_t most_queries_beside = 2'048;
constexpr std::size_t least_free_memory = std::size_t{2} << 30;

/// The memory between the steps of a transform is for this many images.
constexpr std::int64_t images_per_transform = 16'384;

/// Whether the memory is the device's; null is no one's.
bool is_memory_of(const void* pointer, int device) {
    cudaPointerAttributes attributes{};
    if (pointer == nullptr) return true;
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) cudaGetLastError();
    return attributes.type == cudaMemoryTypeDevice && attributes.device == device;
}

/// Of n rows, as stages count them.
double byte_count(std::int64_t n, std::int64_t dim) {
    return static_cast<double>(n) * static_cast<double>(dim);
}

}  // namespace

Upload::Upload(const Training& training) {
    const bool transforms = training.transform != nullptr;
    const Rows& rows = training.rows;
    n = rows.count;
    ImageBuffer& uploaded = transforms ? pixels : features;
    uploaded.reserve(n, rows.dim);
    const auto own_labels = std::make_shared<DeviceBuffer<std::uint8_t>>(training.labels.size());
    labels = own_labels;
    timer.time(stream, {.name = "upload", .bytes = byte_count(n, rows.dim), .kind = StageKind::copy}, [&] {
        enqueue_upload(rows, uploaded.rows(n, rows.dim), stream);
        enqueue_copy(training.labels, own_labels->d_data(), stream, "uploading labels");
    });
    if (transforms) transform = DeviceTransform(*training.transform);
    dim = transforms ? transform.dim_out() : rows.dim;
    if (training.reranking != nullptr) {
        reranker = std::make_unique<DeviceReranker>(training.reranking->rerank, training.shape,
                                                    training.reranking->density);
        timer.time(stream, {.name = "describe", .bytes = byte_count(n, rows.dim)},
                   [&] { reranker->describe_training(uploaded.rows(n, rows.dim), stream); });
    }
    if (!transforms) return;
    features.reserve(n, dim);
    transform.reserve(std::min(n, images_per_transform));
    timer.time(stream, {.name = "transform", .bytes = byte_count(n, rows.dim + dim)},
               [&] { transform.enqueue(pixels.rows(n, rows.dim), features.rows(n, dim), stream); });
}

void Upload::finish(Timeline& timeline) {
    timer.synchronize();
    timer.add_to(timeline);
    pixels = {};
}

/// The memory of one batch in flight.
struct BatchedIndex::Slot {
    ImageBuffer images, features;  // features only if there is a transform
    DeviceBuffer<RealNorm> norms;  // of real rows
    DeviceBuffer<std::uint32_t> left_out;
    DeviceBuffer<Neighbor> known;
    DeviceBuffer<char> results;
    PinnedBuffer<char> host_results;
    StageTimer timer;
    std::int64_t begin = 0, n = 0;  // the queries in it; n = 0: nothing in flight
};

struct BatchedIndex::Run {
    const TopKRequest& wanted;
    const TopKResult& result;
    int candidates;
    bool is_one_batch;

    bool is_real() const { return !wanted.queries.rows.are_bytes(); }

    template <class T>
    std::span<T> rows_of(std::span<T> all, const Slot& slot, int length) const {
        if (all.empty()) return {};
        return all.subspan(static_cast<std::size_t>(slot.begin * length),
                           static_cast<std::size_t>(slot.n * length));
    }
};

BatchedIndex::BatchedIndex(std::unique_ptr<BatchEngine> engine, Resident training, const Measure& measure,
                           const Plan& plan)
    : engine_(std::move(engine)),
      training_(std::move(training)),
      measure_(training_.reranker ? Measure{} : measure),
      device_(plan.device.number),
      limit_(plan.batch),
      slots_{std::make_unique<Slot>(), std::make_unique<Slot>()} {
    if (plan.expected.n_query > 0 && plan.expected.k <= training_.n) prepare(plan.expected);
}

BatchedIndex::~BatchedIndex() {
    cudaSetDevice(device_);
    for (const Stream* stream : {&uploads_, &kernels_, &downloads_})
        cudaStreamSynchronize(*stream);  // before memory that queued kernels or copies use is freed
}

/// Where memory does not suffice, the search tries again: by then what was searched before may have given its memory back.
void BatchedIndex::prepare(const Plan::Expected& search) {
    try {
        Timeline timeline;  // of the first search, which follows
        reserve({search.n_query, search.k, false, search.has_known}, timeline);
        const std::int64_t n = std::min(batch_, search.n_query);
        for (const auto& slot : slots_)
            reserve_slot(*slot, n, search.has_known ? static_cast<std::size_t>(n * search.k) : 0,
                         ResultLayout(n, search.k, false).bytes);
    } catch (const DeviceError&) {
    }
}

void BatchedIndex::reserve_slot(Slot& slot, std::int64_t n, std::size_t known, std::size_t result_bytes) {
    slot.images.reserve(n, query_dim());
    if (!training_.transform.is_raw()) slot.features.reserve(n, training_.dim);
    slot.known.reserve(known);
    slot.results.reserve(result_bytes);
    slot.host_results.reserve(result_bytes);
}

std::int64_t BatchedIndex::query_dim() const {
    return training_.transform.is_raw() ? training_.dim : training_.transform.dim_in();
}

/// The first that is free of this and those beside it; of a large search, or if none is free, one that others used.
BatchedIndex& BatchedIndex::locked(std::int64_t n_query, std::unique_lock<std::mutex>& lock) {
    lock = std::unique_lock(searching_, std::try_to_lock);
    if (lock) return *this;
    if (n_query <= most_queries_beside)
        if (BatchedIndex* const next = beside()) return next->locked(n_query, lock);
    lock.lock();
    return *this;
}

BatchedIndex* BatchedIndex::beside() {
    const std::lock_guard lock(making_);
    if (beside_ || most_beside_ == 0) return beside_.get();
    const int left = std::exchange(most_beside_, 0);
    try {
        if (training_.reranker || reals_ || free_memory() < least_free_memory) return nullptr;
        auto engine = engine_->beside();
        if (!engine) return nullptr;
        Resident same{training_.n, training_.dim, training_.labels, training_.transform.beside(), nullptr};
        Plan plan;
        plan.device.number = device_;
        plan.batch = limit_;
        beside_ = std::make_unique<BatchedIndex>(std::move(engine), std::move(same), measure_, plan);
        beside_->most_beside_ = left - 1;
    } catch (const DeviceError&) {  // no memory
    }
    return beside_.get();
}

std::int64_t BatchedIndex::top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                                 const ProgressToken& token) {
    const OnDevice on_device(device_);
    std::unique_lock<std::mutex> lock;
    return locked(wanted.queries.count(), lock).search(wanted, result, timeline, token);
}

std::int64_t BatchedIndex::search(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                                  const ProgressToken& token) {
    wait_for_queued();
    require_top_k(wanted, result, training_.n);
    const std::int64_t n = wanted.queries.count();
    require(n == 0 || wanted.queries.rows.dim == query_dim(),
            "queries of as many pixels as the training images");
    require(wanted.vote == nullptr || training_.labels->size() > 0, "labels to vote with");
    token.step(0, n);
    if (n == 0) return 0;
    const std::int64_t others = training_.n - (wanted.queries.leaves_out() ? 1 : 0);
    const bool is_real = !wanted.queries.rows.are_bytes();
    require(!is_real || (reals_ && reals_->take(wanted)), "real queries as the rows that are kept");
    const int candidates = is_real ? wanted.candidates : candidates_for(wanted.k, others);
    reserve({n, candidates, wanted.queries.leaves_out(), !wanted.known.neighbors.empty()}, timeline);
    if (is_real) {
        reals_->reserve(batch_);
        candidates_.reserve(static_cast<std::size_t>(batch_ * candidates));
    }
    run({wanted, result, candidates, batch_ >= n}, timeline, token);
    return batch_;
}

bool BatchedIndex::keep(const QuantizedRows& rows) {
    const std::lock_guard lock(searching_);
    const OnDevice on_device(device_);
    if (static_cast<std::size_t>(rows.rows.bytes()) > free_memory() / 2) return false;
    reals_ = std::make_unique<DeviceReals>(rows);
    return true;
}

int BatchedIndex::candidates_for(int k, std::int64_t others) const {
    if (!training_.reranker) return k;
    return std::max(k, static_cast<int>(std::min<std::int64_t>(training_.reranker->candidates(), others)));
}

/// What is queued may use memory that the next search replaces or writes on another stream.
void BatchedIndex::wait_for_queued() {
    if (queued_shape_.n_query > 0) kernels_.synchronize();
    queued_shape_ = {};
}

bool BatchedIndex::enqueue(const DeviceSearch& wanted) {
    for (const void* memory :
         {static_cast<const void*>(wanted.queries), static_cast<const void*>(wanted.indices),
          static_cast<const void*>(wanted.distances)})
        if (!is_memory_of(memory, device_)) return false;
    if (measure_.metric == Metric::lp || wanted.dim != query_dim()) return false;
    const OnDevice on_device(device_);
    std::unique_lock<std::mutex> lock;
    locked(wanted.count, lock).queue(wanted);
    return true;
}

void BatchedIndex::queue(const DeviceSearch& wanted) {
    const int candidates = candidates_for(wanted.k, training_.n);
    const SearchShape shape{wanted.count, candidates, false, false};
    if (!(shape == queued_shape_)) wait_for_queued();
    if (!queued_) {
        queued_ = std::make_unique<Slot>();
        queued_->timer.turn_off();
    }
    Slot& slot = *queued_;
    try {
        Timeline timeline;
        reserve(shape, timeline);
        const std::int64_t most = std::min(batch_, wanted.count);
        slot.images.reserve(most, wanted.dim);
        if (!training_.transform.is_raw()) slot.features.reserve(most, training_.dim);
        slot.results.reserve(static_cast<std::size_t>(most * wanted.k) * sizeof(Neighbor));
        queries_ready_.record(static_cast<cudaStream_t>(wanted.queries_stream));
        kernels_.wait_for(queries_ready_);
        queued_shape_ = shape;
        for (std::int64_t begin = 0; begin < wanted.count; begin += batch_) {
            const std::int64_t n = std::min(batch_, wanted.count - begin);
            // Rows that lie as our own do are read where they are, if they are read once.
            ByteRows images{const_cast<std::uint8_t*>(wanted.queries) + begin * wanted.pitch, n, wanted.dim,
                            static_cast<std::size_t>(wanted.pitch)};
            const NeighborRows found{reinterpret_cast<Neighbor*>(slot.results.d_data()), n, wanted.k};
            if (!images.aligned(4) || !training_.transform.is_raw() || training_.reranker) {
                const ByteRows own = slot.images.rows(n, wanted.dim);
                check(cudaMemcpy2DAsync(own.d_data, own.pitch_bytes, images.d_data, images.pitch_bytes,
                                        static_cast<std::size_t>(wanted.dim), static_cast<std::size_t>(n),
                                        cudaMemcpyDeviceToDevice, kernels_),
                      "copying queries");
                images = own;
            }
            enqueue_stages(slot, images, candidates, {}, {}, found);
            const auto at = [&](auto* rows) { return rows == nullptr ? rows : rows + begin * wanted.k; };
            enqueue_answers(found, is_integral(measure_.metric), at(wanted.indices), at(wanted.distances),
                            kernels_);
        }
        answers_.record(kernels_);
        check(cudaStreamWaitEvent(static_cast<cudaStream_t>(wanted.answers_stream), answers_),
              "ordering streams");
    } catch (...) {
        abandon();
        throw;
    }
}

void BatchedIndex::run(const Run& run, Timeline& timeline, const ProgressToken& token) {
    const std::int64_t n = run.wanted.queries.count();
    std::int64_t done = 0;
    int turn = 0;
    const auto collect_next = [&] {
        done += slots_[turn]->n;
        collect(run, *slots_[turn], timeline);
    };
    try {
        for (std::int64_t begin = 0; begin < n; begin += batch_, turn ^= 1) {
            collect_next();
            if (begin > 0) token.step(done, n);
            enqueue(run, *slots_[turn], begin);
            if (run.is_one_batch && run.wanted.meanwhile) run.wanted.meanwhile();
        }
        for (int left = 0; left < 2; ++left, turn ^= 1)
            collect_next();
        token.step(done, n);
    } catch (...) {
        abandon();
        throw;
    }
}

/// The engine comes last: it takes what fits into the memory that is left.
void BatchedIndex::reserve(const SearchShape& shape, Timeline& timeline) {
    if (!training_.transform.is_raw())
        training_.transform.reserve(std::min(shape.n_query, images_per_transform));
    if (training_.reranker) {
        const std::int64_t most =
            std::min({shape.n_query, most_reranked, limit_ > 0 ? limit_ : most_reranked});
        training_.reranker->reserve(most, shape.k);
        candidates_.reserve(static_cast<std::size_t>(most) * static_cast<std::size_t>(shape.k));
    }
    batch_ = engine_->reserve(shape, limit_, timeline);
    if (training_.reranker && batch_ > most_reranked)
        batch_ = engine_->reserve(shape, most_reranked, timeline);
}

/// From images on the device: transform, the engine's stages and re-ranking; `neighbors` gets the result.
void BatchedIndex::enqueue_stages(Slot& slot, const ByteRows& images, int candidates, const LeftOut& left_out,
                                  const KnownRows& known, const NeighborRows& neighbors) {
    DeviceTransform& transform = training_.transform;
    DeviceReranker* reranker = training_.reranker.get();
    const std::int64_t n = images.n;
    const Batch batch{transform.is_raw() ? images : slot.features.rows(n, training_.dim),
                      reranker != nullptr ? NeighborRows{candidates_.d_data(), n, candidates} : neighbors,
                      left_out, known};
    if (!transform.is_raw())
        slot.timer.time(kernels_, {.name = "transform", .bytes = byte_count(n, images.cols + training_.dim)},
                        [&] { transform.enqueue(images, batch.query, kernels_); });
    engine_->enqueue(batch, slot.timer, kernels_);
    if (reranker == nullptr) return;
    slot.timer.time(kernels_, {.name = "describe", .bytes = byte_count(n, images.cols)},
                    [&] { reranker->describe_queries(images, kernels_); });
    slot.timer.time(kernels_, {.name = "rerank"}, [&] { reranker->enqueue(batch.out, neighbors, kernels_); });
}

void BatchedIndex::enqueue_reals(Slot& slot, const RealQueries& queries, int candidates,
                                 const LeftOut& left_out, const NeighborRows& neighbors) {
    const std::int64_t n = queries.rows.n;
    const Batch batch{slot.features.rows(n, training_.dim), {candidates_.d_data(), n, candidates}, left_out};
    slot.timer.time(kernels_, {.name = "bytes", .bytes = byte_count(n, queries.rows.cols + training_.dim)},
                    [&] { reals_->enqueue_bytes(queries, batch.query, kernels_); });
    engine_->enqueue(batch, slot.timer, kernels_);
    slot.timer.time(kernels_, {.name = "exact"},
                    [&] { reals_->enqueue_exact(queries, batch.out, neighbors, kernels_); });
}

/// The upload of a batch, and what follows; `neighbors` gets the result.
void BatchedIndex::enqueue_search(const Run& run, Slot& slot, const Queries& queries,
                                  const NeighborRows& neighbors) {
    const Rows& rows = queries.rows;
    const Known& known = run.wanted.known;
    const auto known_rows = run.rows_of(known.neighbors, slot, run.wanted.k);
    slot.left_out.reserve(queries.images.size());
    const cudaStream_t in = run.is_one_batch ? kernels_ : uploads_;
    const auto norms = run.rows_of(run.wanted.norms, slot, 1);
    if (run.is_real()) {
        slot.images.reserve(rows.count, rows.row_bytes());
        slot.features.reserve(rows.count, rows.dim);
        slot.norms.reserve(norms.size());
    }
    const ByteRows images = slot.images.rows(rows.count, rows.row_bytes());
    const Stage upload{.name = "upload",
                       .bytes = static_cast<double>(rows.bytes()) +
                                static_cast<double>(known_rows.size_bytes() + norms.size_bytes()),
                       .kind = StageKind::copy};
    slot.timer.time(in, upload, [&] {
        enqueue_upload(rows, images, in);
        enqueue_copy(norms, slot.norms.d_data(), in, "uploading norms");
        enqueue_copy(queries.images, slot.left_out.d_data(), in, "uploading indices");
        if (known_rows.empty()) return;
        // From the pinned memory that gets the batch's answers later.
        std::memcpy(slot.host_results.data(), known_rows.data(), known_rows.size_bytes());
        const auto* pinned = reinterpret_cast<const Neighbor*>(slot.host_results.data());
        enqueue_copy(std::span(pinned, known_rows.size()), slot.known.d_data(), in,
                     "uploading known neighbors");
    });
    if (in != kernels_) kernels_.wait_for(slot.timer.last());
    const LeftOut left_out{queries.leaves_out() ? slot.left_out.d_data() : nullptr};
    if (run.is_real())
        return enqueue_reals(slot, {images, norms.empty() ? nullptr : slot.norms.d_data()}, run.candidates,
                             left_out, neighbors);
    enqueue_stages(slot, images, run.candidates, left_out,
                   known_rows.empty() ? KnownRows{} : KnownRows{slot.known.d_data(), known.first}, neighbors);
}

void BatchedIndex::enqueue(const Run& run, Slot& slot, std::int64_t begin) {
    const TopKRequest& wanted = run.wanted;
    const Queries queries = wanted.queries.slice(begin, std::min(batch_, wanted.queries.count() - begin));
    const VotingRule* rule = wanted.vote;
    const ResultLayout layout(queries.count(), wanted.k, rule != nullptr);
    slot.begin = begin;
    slot.n = queries.count();
    reserve_slot(slot, slot.n, run.rows_of(wanted.known.neighbors, slot, wanted.k).size(), layout.bytes);
    const cudaStream_t out = run.is_one_batch ? kernels_ : downloads_;
    const NeighborRows neighbors{reinterpret_cast<Neighbor*>(slot.results.d_data()), slot.n, wanted.k};
    auto* d_votes = reinterpret_cast<Vote*>(slot.results.d_data() + layout.votes);
    const double n = static_cast<double>(slot.n), k = wanted.k;

    enqueue_search(run, slot, queries, neighbors);
    if (rule != nullptr)
        slot.timer.time(kernels_,
                        {.name = "vote", .bytes = n * k * (sizeof(Neighbor) + 1) + n * sizeof(Vote)}, [&] {
                            enqueue_vote(neighbors, training_.labels->d_data(), rule->weights, rule->tie,
                                         d_votes, kernels_, measure_.metric);
                        });
    if (out != kernels_) downloads_.wait_for(slot.timer.last());
    const Stage download{.name = "download",
                         .bytes = n * (k * sizeof(Neighbor) + (rule != nullptr ? sizeof(Vote) : 0)),
                         .kind = StageKind::copy};
    slot.timer.time(out, download, [&] {
        check(cudaMemcpyAsync(slot.host_results.data(), slot.results.d_data(), layout.bytes,
                              cudaMemcpyDeviceToHost, out),
              "downloading answers");
    });
}

/// Waits for the batch in the slot, if there is one, and takes its results and times.
void BatchedIndex::collect(const Run& run, Slot& slot, Timeline& timeline) {
    if (slot.n == 0) return;
    slot.timer.synchronize();
    const TopKRequest& wanted = run.wanted;
    const ResultLayout layout(slot.n, wanted.k, wanted.vote != nullptr);
    const auto neighbors = run.rows_of(run.result.neighbors, slot, wanted.k);
    const auto votes = run.rows_of(run.result.votes, slot, 1);
    const char* results = slot.host_results.data();
    std::copy_n(reinterpret_cast<const Neighbor*>(results), neighbors.size(), neighbors.begin());
    std::copy_n(reinterpret_cast<const Vote*>(results + layout.votes), votes.size(), votes.begin());
    slot.timer.add_to(timeline);
    const std::int64_t begin = slot.begin;
    slot.n = 0;
    if (wanted.on_batch) wanted.on_batch({begin, neighbors, votes});
}

/// After an error or an interruption: waits until nothing reads the queries any more, and frees the slots.
void BatchedIndex::abandon() {
    for (const Stream* stream : {&uploads_, &kernels_, &downloads_})
        cudaStreamSynchronize(*stream);
    cudaGetLastError();
    for (const auto& slot : slots_) {
        slot->timer.clear();
        slot->n = 0;
    }
    queued_shape_ = {};
}

}  // namespace knn::gpu
