#include "gpu/fused/self_search.h"

#include <algorithm>
#include <cmath>

#include "data/core/round_up.h"
#include "gpu/fused/columns.h"
#include "gpu/fused/fold.h"
#include "gpu/fused/layout.h"
#include "gpu/runtime/check.h"
#include "gpu/runtime/device_copy.h"

namespace knn::gpu {

namespace {

/// With more neighbors the host copies answers for longer than the kernels save, because all come at the end.
constexpr int most_k = 10;
constexpr std::int64_t most_list_bytes = std::int64_t{4} << 30;
constexpr int consumer_threads = 256;  // of a block: each has a list of records
/// Images are neighbors of others far more often than the mean (hubs), and all queries of a thread may be such.
constexpr double hub_factor = 6;

}  // namespace

/// The work of the passes, and the lists that they need.
struct FusedSelfSearch::Layout {
    Schedule sample, first;
    Triangle triangle;
    int slots = 0, capacity = 0, record_lists = 0, record_capacity = 0, column_capacity = 0;
    std::int64_t positions = 0;

    Layout(const Sampling& sampling, const FusedTraining& training, int multiprocessors) {
        const int tiles = training.tiles(), dim = training.dim(), n_first = sampling.passes[0].n_tiles;
        positions = std::int64_t{tiles} * tile_train;
        const std::int64_t query_tiles = positions / tile_queries;
        sample = schedule_for(query_tiles, 0, sampling.sample_tiles, dim, multiprocessors);
        first = schedule_for(query_tiles, 0, n_first, dim, multiprocessors);
        const Schedule rest = schedule_for(query_tiles, n_first, tiles - n_first, dim, multiprocessors);
        triangle = share_triangle(tiles, n_first, rest.windows, rest.blocks);
        const auto capacity_of = [&](const SearchPass& pass, int piece) {
            return capacity_for(pass.survivors, sampling.spread, static_cast<double>(piece) / pass.n_tiles);
        };
        slots = std::max(first.slots(), triangle.slots);
        capacity = std::max(capacity_of(sampling.passes[0], first.max_piece()),
                            capacity_of(sampling.passes[1], triangle.max_piece));
        const double survivors = sampling.passes[1].survivors * (1 + 3 * sampling.spread);
        record_lists = rest.blocks * consumer_threads;
        record_capacity =
            static_cast<int>(hub_factor * survivors * static_cast<double>(positions) / record_lists) + 64;
        column_capacity = static_cast<int>(survivors + 5.5 * std::sqrt(survivors)) + 16;
    }
    std::int64_t lists() const { return positions * slots * quad; }
    std::int64_t bytes() const {
        return lists() * capacity * std::int64_t{SurvivorLists::bytes_per_group} +
               std::int64_t{record_lists} * record_capacity * std::int64_t{PairArrays::bytes_per_record} +
               positions * column_capacity * std::int64_t{sizeof(int2)};
    }
};

FusedSelfSearch::FusedSelfSearch(const TensorKernel& kernel, const FusedTraining& training)
    : kernel_(kernel),
      training_(training),
      multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)) {}

void FusedSelfSearch::limit_capacity(int capacity) {
    max_capacity_ = capacity;
}

bool FusedSelfSearch::reserve(int k) {
    if (k == asked_) return k_ == k;
    asked_ = k;
    k_ = 0;
    try {
        if (prepare(k)) k_ = k;
    } catch (const DeviceError&) {  // others may have taken the memory since it was found free
    }
    if (k_ == 0) release();
    return k_ == k;
}

bool FusedSelfSearch::prepare(int k) {
    if (kernel_.pairs == nullptr || k > most_k) return false;
    const int tiles = training_.tiles();
    sampling_ = choose_sampling(tiles, k + 1, training_.dim(), tiles, true);
    if (sampling_.sample_tiles == 0 || sampling_.passes.size() != 2) return false;
    sampling_.passes[0].rank = std::min(sampling_.passes[0].rank, k);
    Layout layout(sampling_, training_, multiprocessors_);
    const auto half_of_free = static_cast<std::int64_t>(free_memory() / 2);
    if (layout.bytes() > std::min(most_list_bytes, half_of_free)) return false;
    if (max_capacity_ > 0)
        for (int* const capacity : {&layout.capacity, &layout.record_capacity, &layout.column_capacity})
            *capacity = std::min(*capacity, max_capacity_);
    allocate(layout);
    out_.reserve(static_cast<std::size_t>(positions_ * k));
    scan_keys_.reserve(static_cast<std::size_t>(scan_blocks()) * static_cast<std::size_t>(k));
    return true;
}

/// The memory is for other searches of the set.
void FusedSelfSearch::release() {
    const auto free_all = [](auto&... buffers) { ((buffers = {}), ...); };
    free_all(pieces_, begin_, norms_, indices_, thresholds_, negated_, maxima_, counts_, record_counts_,
             column_counts_, products_, record_products_, survivor_positions_, record_places_, entries_, out_,
             undecided_count_, undecided_, scan_finished_, scan_keys_);
}

void FusedSelfSearch::allocate(const Layout& layout) {
    positions_ = layout.positions;
    sample_ = layout.sample;
    first_ = layout.first;
    slots_ = layout.slots;
    capacity_ = layout.capacity;
    record_lists_ = layout.record_lists;
    record_capacity_ = layout.record_capacity;
    column_capacity_ = layout.column_capacity;
    pieces_ = copied_to_device(std::span(layout.triangle.pieces), "uploading a schedule");
    begin_ = copied_to_device(std::span(layout.triangle.begin), "uploading a schedule");
    const auto positions = static_cast<std::size_t>(positions_),
               lists = static_cast<std::size_t>(layout.lists());
    const auto entries = lists * static_cast<std::size_t>(capacity_);
    const auto records = static_cast<std::size_t>(record_lists_) * static_cast<std::size_t>(record_capacity_);
    norms_.reserve(positions);
    indices_.reserve(positions);
    thresholds_.reserve(positions);
    negated_.reserve(positions);
    maxima_.reserve(positions * static_cast<std::size_t>(sample_.slots() * buckets));
    products_.reserve(entries);
    survivor_positions_.reserve(entries);
    record_products_.reserve(records);
    record_places_.reserve(records);
    entries_.reserve(positions * static_cast<std::size_t>(column_capacity_));
    undecided_.reserve(positions);
    undecided_count_.reserve(1);
    const std::pair<DeviceBuffer<std::int32_t>*, std::size_t> counters[] = {
        {&counts_, lists},
        {&record_counts_, static_cast<std::size_t>(record_lists_)},
        {&column_counts_, positions},
        {&scan_finished_, static_cast<std::size_t>(scan_blocks())}};
    for (const auto& [counter, size] : counters)
        if (counter->reserve(size)) fill(*counter, 0, "clearing counters");
}

TensorPass FusedSelfSearch::pass() const {
    TensorPass pass;
    pass.dim = training_.dim();
    pass.d_score_bias = training_.d_score_bias();
    pass.d_thresholds = thresholds_.d_data();
    pass.d_maxima = maxima_.d_data();
    pass.sample_slots = sample_.slots();
    pass.lists = {products_.d_data(), survivor_positions_.d_data(), counts_.d_data(), capacity_};
    pass.slots = slots_;
    pass.undecided = {undecided_count_.d_data(), undecided_.d_data()};
    pass.pairs.pieces = {pieces_.d_data(), begin_.d_data()};
    pass.pairs.d_negated = negated_.d_data();
    pass.pairs.d_products = record_products_.d_data();
    pass.pairs.d_places = record_places_.d_data();
    pass.pairs.d_counts = record_counts_.d_data();
    pass.pairs.capacity = record_capacity_;
    pass.pairs.d_entries = entries_.d_data();
    pass.pairs.d_column_counts = column_counts_.d_data();
    pass.pairs.column_capacity = column_capacity_;
    return pass;
}

std::vector<FusedSearch::Step> FusedSelfSearch::steps(const NeighborRows& out) {
    require(k_ > 0 && out.k == k_ && out.n_query <= positions_, "the search that `reserve` prepared");
    TensorPass sample = pass(), first = pass(), pairs = pass();
    sample.schedule = sample_;
    first.schedule = first_;
    // The kernel reads its tiles from the list of pieces; the rest of a schedule says which tiles there are.
    pairs.schedule = {sample_.query_tiles, 0, training_.tiles(), 1, record_lists_ / consumer_threads};
    const ByteRows train = training_.rows();
    const NeighborRows by_position{out_.d_data(), positions_, k_};
    Excluded itself(Exclude{.first = 0}, 0);
    itself.d_indices = indices_.d_data();
    const auto fold = [=, this](const TensorPass& of, const FoldStep& step, cudaStream_t stream) {
        enqueue_fold(of, step, training_.d_images(), norms_.d_data(), thresholds_.d_data(), by_position,
                     itself, stream);
    };
    return {
        {"prepare",
         [=, this](cudaStream_t stream) {
             check(cudaMemsetAsync(undecided_count_.d_data(), 0, sizeof(std::int32_t), stream),
                   "clearing a counter");
             enqueue_positions(training_.d_images(), positions_, norms_.d_data(), indices_.d_data(), stream);
         }},
        {"sample",
         [=, this](cudaStream_t stream) {
             kernel_.sample(train, train, sample, stream);
             enqueue_thresholds(sample, positions_, sampling_.sample_rank, nullptr, k_, norms_.d_data(),
                                thresholds_.d_data(), stream);
         }},
        {"search",
         [=, this](cudaStream_t stream) {
             kernel_.search(train, train, first, stream);
             fold(first, {.is_first = true, .is_last = false, .rank = sampling_.passes[0].rank}, stream);
             enqueue_negated(thresholds_.d_data(), positions_, negated_.d_data(), stream);
             kernel_.pairs(train, train, pairs, stream);
         },
         true},
        {"fold",
         [=, this](cudaStream_t stream) {
             enqueue_columns(pairs, record_lists_, stream);
             fold(pairs, {.is_first = false, .is_last = true, .pairs = true}, stream);
         }},
        {"scan",
         [=, this](cudaStream_t stream) {
             enqueue_scan(train, training_.d_images(), train, norms_.d_data(), by_position, pass().undecided,
                          itself, {}, {scan_keys_.d_data(), scan_finished_.d_data()}, stream);
             enqueue_reorder(by_position, indices_.d_data(), out, stream);
         }},
    };
}

std::int64_t FusedSelfSearch::undecided() const {
    std::int32_t count = 0;
    check(cudaMemcpy(&count, undecided_count_.d_data(), sizeof(count), cudaMemcpyDeviceToHost),
          "reading the number of undecided queries");
    return count;
}

}  // namespace knn::gpu
