#include "gpu/fused/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/core/round_up.h"

namespace knn::gpu {

extern const TensorKernel tensor_sm90, tensor_mma;

namespace {

const TensorKernel* const table[] = {&tensor_sm90, &tensor_mma};

constexpr std::int64_t pass_windows =
    4;  // a pass keeps a list for each window, so larger sets take more passes
constexpr std::int64_t max_list_bytes = 208 << 20;
constexpr std::int64_t max_query_tiles = 128;
constexpr std::int64_t max_direct_queries = 2;  // up to here comparing each with all images is faster

/// The tiles of so many windows.
int tiles_in(std::int64_t windows, std::int64_t dim) {
    constexpr std::int64_t many = 1 << 23;  // more than there are
    return static_cast<int>(std::clamp<std::int64_t>(windows * window_bytes / (tile_train * dim), 1, many));
}

/// Entries per list: the expected number plus three standard deviations and the spread within a list. share: of the tiles
/// of a pass, the longest piece.
int capacity_for(double survivors, double spread, double share) {
    const double mean = survivors * share / quad;
    return static_cast<int>(mean * (1 + 3 * spread) + 5.5 * std::sqrt(mean) + 8);
}

}  // namespace

std::span<const TensorKernel* const> tensor_table() {
    return table;
}

void check_pass(const ByteRows& train, const ByteRows& query, const TensorPass& pass, PassKind kind) {
    require(train.aligned(32) && query.aligned(32), "rows at multiples of 32 bytes");
    require(train.n % tile_train == 0 && train.n <= std::int64_t{1} << 31 &&
                std::int64_t{pass.schedule.first_tile + pass.schedule.train_tiles} * tile_train <= train.n,
            "whole tiles of at most 2,147,483,648 training images");
    require(kind == PassKind::sample || pass.lists.capacity >= 1, "lists of at least one group of survivors");
}

/// The work of the passes for this number of query tiles, and the lists that they need.
struct FusedSearch::Layout {
    Schedule sample;
    std::vector<Schedule> passes;
    int slots = 0, capacity = 0;  // of the largest pass: a fold after each empties the lists

    Layout(const Sampling& sampling, std::int64_t dim, std::int64_t query_tiles, int multiprocessors)
        : sample(schedule_for(query_tiles, 0, sampling.sample_tiles, dim, multiprocessors)) {
        for (const SearchPass& pass : sampling.passes) {
            passes.push_back(schedule_for(query_tiles, pass.first_tile, pass.n_tiles, dim, multiprocessors));
            slots = std::max(slots, passes.back().slots());
            const double share = static_cast<double>(passes.back().max_piece()) / passes.back().train_tiles;
            capacity = std::max(capacity, capacity_for(pass.survivors, sampling.spread, share));
        }
    }
    std::int64_t lists() const { return std::int64_t{sample.query_tiles} * tile_queries * slots * quad; }
    std::int64_t entries() const { return lists() * capacity; }
    std::int64_t bytes() const { return entries() * SurvivorLists::bytes_per_group; }
    std::int64_t maxima() const {
        return std::int64_t{sample.query_tiles} * tile_queries * sample.slots() * buckets;
    }
};

namespace {

std::shared_ptr<const FusedTraining> arranged(const ByteRows& train, cudaStream_t stream) {
    const int tiles = static_cast<int>(divide_up(train.n, tile_train));
    const std::size_t rows = static_cast<std::size_t>(tiles) * tile_train;
    std::vector<std::int32_t> used = used_pixels(train, stream);
    const auto made =
        std::make_shared<FusedTraining>(FusedTraining{.n = train.n,
                                                      .tiles = tiles,
                                                      .dim = static_cast<int>(used.size()),
                                                      .images = DeviceBuffer<TrainImage>(rows),
                                                      .score_bias = DeviceBuffer<std::int32_t>(rows)});
    if (made->dim != train.cols) {
        made->used_pixels = used;
        used.resize(static_cast<std::size_t>(round_up(made->dim, 4)));  // they are read four at a time
        made->used = copied_to_device(std::span(used), "uploading the pixels in use");
    }
    made->pixels.reserve(std::int64_t{tiles} * tile_train, made->dim);
    enqueue_prepare_training(train, made->used.d_data(), tiles, made->rows(), made->images.d_data(),
                             made->score_bias.d_data(), stream);
    check(cudaStreamSynchronize(stream), "preparing the training set");
    return made;
}

}  // namespace

FusedSearch::FusedSearch(const TensorKernel& kernel, const ByteRows& train, cudaStream_t stream,
                         const Sketch* sketch)
    : FusedSearch(kernel, arranged(train, stream)) {
    if (sketch != nullptr) make_sketches(*sketch, stream);
}

FusedSearch::FusedSearch(const FusedSearch& other) : FusedSearch(other.kernel_, other.training_) {}

FusedSearch::FusedSearch(const TensorKernel& kernel, std::shared_ptr<const FusedTraining> training)
    : kernel_(kernel),
      training_(std::move(training)),
      multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)),
      undecided_count_(1),
      fallback_finished_(static_cast<std::size_t>(brute_force_blocks())) {
    fill(fallback_finished_, 0, "clearing counters");
}

void FusedSearch::make_sketches(const Sketch& sketch, cudaStream_t stream) {
    sketches_ = std::make_unique<SketchSearch>(
        kernel_, sketch, training_->used_pixels.empty() ? nullptr : &training_->used_pixels,
        training_->rows(), training_->images.d_data(), stream);
    asked_ = sampled_for_ = {};  // a search needs other passes and other memory now
}

/// In ms.
double FusedSearch::time_search(const Batch& batch, cudaStream_t stream) {
    reserve({batch.query.n, batch.out.k, batch.left_out.any(), false});
    Event begin, end;
    begin.record(stream);
    enqueue(batch, stream);
    end.record(stream);
    end.synchronize();
    return elapsed_ms(begin, end);
}

bool FusedSearch::try_sketches(const ByteRows& sample, const std::uint32_t* d_images, int k, bool uses_cache,
                               cudaStream_t stream) {
    try {
        const std::int64_t n = divide_up(sample.n, 2);
        const DeviceBuffer<Neighbor> found(static_cast<std::size_t>(n * k));
        const Batch batch{sample.slice(0, n), {found.d_data(), n, k}, {d_images}};
        time_search(batch, stream);  // an idle device raises its clock
        const double direct_ms = time_search(batch, stream);
        make_sketches(fit_sketch_to(sample, uses_cache, stream), stream);
        const std::int64_t few =
            std::min<std::int64_t>(n, 64);  // where they prune nothing, all are undecided
        if (uses_sketches(n)) {
            time_search({sample.slice(0, few), batch.out.slice(0, few), batch.left_out}, stream);
            if (undecided() < few / 2 && time_search(batch, stream) < direct_ms) return true;
        }
    } catch (const DeviceError&) {
        check(cudaStreamSynchronize(stream), "searching a sample");
    }
    sketches_.reset();
    asked_ = sampled_for_ = {};
    return false;
}

std::int64_t FusedSearch::reserve(const SearchShape& shape, std::int64_t limit) {
    const auto [n_query, k, leaves_out, has_known] = shape;
    if (shape == asked_ && limit == limit_) return batch_;
    const SearchShape wanted{0, k, leaves_out, has_known};
    if (n_query > max_direct_queries && !(sampled_for_ == wanted)) {
        // The query itself may be among those that reach a threshold of the sample, but not among the k best so far.
        const int pass_tiles = tiles_in(pass_windows, training_->dim), reaching = k + (leaves_out ? 1 : 0);
        const bool sketched = sketches_ && sketches_->supports(k);
        sampling_ = sketched    ? choose_sketch_sampling(training_->tiles, reaching, pass_tiles, has_known)
                    : has_known ? sampling_of_known(training_->tiles, reaching, pass_tiles)
                                : choose_sampling(training_->tiles, reaching, training_->dim, pass_tiles);
        for (SearchPass& pass : sampling_.passes)
            pass.rank = std::min(pass.rank, k);
        sampled_for_ = wanted;
    }
    asked_ = {};  // until the allocations succeed
    k_ = k;
    batch_ = choose_batch(n_query, limit);
    reserve_batch(batch_, k);
    if (n_query % batch_ != 0) reserve_batch(n_query % batch_, k);
    asked_ = shape;
    limit_ = limit;
    return batch_;
}

std::int64_t FusedSearch::choose_batch(std::int64_t n_query, std::int64_t limit) const {
    std::int64_t batch = n_query;
    if (n_query > max_direct_queries) {
        const std::int64_t all = divide_up(n_query, tile_queries);
        std::int64_t tiles = std::min(all, max_query_tiles);
        while (tiles > 1 && layout_for(tiles * tile_queries).bytes() > max_list_bytes)
            --tiles;
        batch = std::min(divide_up(all, divide_up(all, tiles)) * tile_queries, n_query);
    }
    return limit > 0 ? std::min(limit, batch) : batch;
}

void FusedSearch::reserve_batch(std::int64_t n_query, int k) {
    const std::int64_t rows = round_up(n_query, tile_queries);
    query_.reserve(rows, training_->dim);
    query_norms_.reserve(static_cast<std::size_t>(rows));
    undecided_.reserve(static_cast<std::size_t>(rows));
    fallback_keys_.reserve(static_cast<std::size_t>(brute_force_blocks()) * static_cast<std::size_t>(k));
    if (only_brute_force(n_query)) return;
    const Layout layout = layout_for(n_query);
    thresholds_.reserve(static_cast<std::size_t>(rows));
    if (uses_sketches(n_query)) return sketches_->reserve(n_query, k, sampling_, multiprocessors_);
    maxima_.reserve(static_cast<std::size_t>(layout.maxima()));
    products_.reserve(static_cast<std::size_t>(layout.entries()));
    positions_.reserve(static_cast<std::size_t>(layout.entries()));
    if (counts_.reserve(static_cast<std::size_t>(layout.lists()))) fill(counts_, 0, "clearing counters");
}

bool FusedSearch::only_brute_force(std::int64_t n_query) const {
    return n_query <= max_direct_queries || sampling_.sample_tiles == 0;
}

FusedSearch::Layout FusedSearch::layout_for(std::int64_t n_query) const {
    return {sampling_, training_->dim, divide_up(n_query, tile_queries), multiprocessors_};
}

void FusedSearch::enqueue(const Batch& batch, cudaStream_t stream, StageTimer* timer) {
    const ByteRows& query = batch.query;
    require(query.n <= batch_ && batch.out.k == asked_.k && batch.left_out.any() == asked_.leaves_out &&
                (batch.known.d_data != nullptr) == asked_.has_known,
            "a batch of the search that `reserve` prepared");
    const auto stage = [&](const Stage& what, const auto& launch) {
        timer != nullptr ? timer->time(stream, what, launch) : launch();
    };
    const ByteRows train = training_->rows(), rows = query_.rows(query.n, training_->dim);
    const Undecided undecided{undecided_count_.d_data(), undecided_.d_data()};
    const bool all_undecided = only_brute_force(query.n), sketched = uses_sketches(query.n);
    stage({.name = "prepare"}, [&] {
        enqueue_prepare_queries(query, training_->used.d_data(), undecided, all_undecided, rows,
                                query_norms_.d_data(), stream);
        if (sketched) sketches_->enqueue_queries(rows, stream);
    });
    if (!all_undecided) {
        const Layout layout = layout_for(query.n);
        const int capacity = max_capacity_ > 0 ? std::min(layout.capacity, max_capacity_) : layout.capacity;
        TensorPass pass{.schedule = layout.sample,
                        .dim = training_->dim,
                        .d_images = training_->images.d_data(),
                        .d_score_bias = training_->score_bias.d_data(),
                        .d_query_norms = query_norms_.d_data(),
                        .d_thresholds = thresholds_.d_data(),
                        .d_maxima = maxima_.d_data(),
                        .sample_slots = layout.sample.slots(),
                        .lists = {products_.d_data(), positions_.d_data(), counts_.d_data(), capacity},
                        .slots = layout.slots,
                        .undecided = undecided};
        stage({.name = "sample"}, [&] {
            if (sketched) return sketches_->enqueue_sample(rows, pass, batch, stream);
            kernel_.sample(train, rows, pass, stream);
            enqueue_thresholds(pass, sampling_.sample_rank, batch, stream);
        });
        const std::size_t last = layout.passes.size() - 1;
        const auto fold = [&](std::size_t i) {
            const FoldStep step{.is_first = i == 0, .is_last = i == last, .rank = sampling_.passes[i].rank};
            if (sketched)
                sketches_->enqueue_refine(i, rows, pass, step, batch, stream);
            else
                enqueue_fold(pass, step, batch, stream);
        };
        // All pixels count, although the kernels skip unused ones.
        const double products = static_cast<double>(query.n) * static_cast<double>(training_->n) *
                                static_cast<double>(query.cols);
        stage({.name = "search", .operations = 2 * products}, [&] {
            for (std::size_t i = 0; i <= last; ++i) {
                if (i > 0) fold(i - 1);
                pass.schedule = layout.passes[i];
                if (sketched)
                    sketches_->enqueue_search(i, pass, query.n, stream);
                else
                    kernel_.search(train, rows, pass, stream);
            }
        });
        stage({.name = "fold"}, [&] { fold(last); });
    }
    stage({.name = "fallback"}, [&] {
        enqueue_brute_force(train, training_->images.d_data(), rows, query_norms_.d_data(), batch, undecided,
                            {fallback_keys_.d_data(), fallback_finished_.d_data()}, stream);
    });
}

std::int64_t FusedSearch::undecided() const {
    std::int32_t count = 0;
    check(cudaMemcpy(&count, undecided_count_.d_data(), sizeof(count), cudaMemcpyDeviceToHost),
          "reading the number of undecided queries");
    return count;
}

}  // namespace knn::gpu
