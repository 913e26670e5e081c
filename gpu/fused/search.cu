#include "gpu/fused/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/fused/merge.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr std::int64_t row_alignment = 32;               // a sector of the L2 cache
constexpr std::int64_t window_bytes = 25 * 1000 * 1000;  // of training images that stay in the L2 cache
constexpr std::int64_t most_list_bytes = 192 << 20;
constexpr std::int64_t few_queries = 2;  // up to here comparing them with all is faster

std::int64_t divided_up(std::int64_t n, std::int64_t by) {
    return (n + by - 1) / by;
}

int tiles_of(std::int64_t n_train) {
    return static_cast<int>(divided_up(n_train, tile_train));
}

/// Entries for each list of a pass: three standard deviations more than expected, the scatter of the list
/// itself, and what make_room keeps free.
int capacity_for(double survivors, double spread, const Schedule& schedule) {
    const double share = static_cast<double>(schedule.longest_piece()) / schedule.train_tiles / quad;
    const double mean = survivors * share;
    const double room = mean * (1 + 3 * spread) + 6 * std::sqrt(mean) + 10 + SurvivorList::most_at_once;
    return static_cast<int>(divided_up(static_cast<std::int64_t>(room), 4) * 4);
}

}  // namespace

TensorRows::TensorRows(std::int64_t n, std::int64_t dim) {
    const std::int64_t pitch = divided_up(dim, row_alignment) * row_alignment;
    bytes_ = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(n * pitch));
    rows_ = {bytes_.d_data(), n, dim, static_cast<std::size_t>(pitch)};
}

std::int64_t FusedSearch::most_queries(std::int64_t n_train, int k) {
    const Sampling sampling = choose_sampling(tiles_of(n_train), k);
    const double expected = (sampling.survivors_first + sampling.survivors_rest) * (1 + 3 * sampling.spread);
    const double a_query = 3 * (expected + 32 * quad) * sizeof(Survivor);  // pieces are not filled evenly
    const auto most = static_cast<std::int64_t>(most_list_bytes / a_query) / tile_queries * tile_queries;
    return std::clamp<std::int64_t>(most, tile_queries, 128 * tile_queries);
}

FusedSearch::FusedSearch(const TensorKernel& kernel, const ByteRows& train, int k, std::int64_t max_queries,
                         cudaStream_t stream)
    : kernel_(kernel),
      n_train_(train.n),
      train_tiles_(tiles_of(train.n)),
      multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)),
      sampling_(choose_sampling(train_tiles_, k)),
      used_(train, stream),
      train_(std::int64_t{train_tiles_} * tile_train, used_.count()),
      query_(max_queries, used_.count()),
      train_norms_(static_cast<std::size_t>(train_tiles_) * tile_train),
      query_norms_(static_cast<std::size_t>(max_queries)),
      score_bias_(static_cast<std::size_t>(train_tiles_) * tile_train),
      undecided_count_(1),
      undecided_(static_cast<std::size_t>(max_queries)),
      scan_keys_(static_cast<std::size_t>(scan_blocks()) * static_cast<std::size_t>(k)),
      scan_finished_(static_cast<std::size_t>(scan_blocks())) {
    const std::int64_t query_tiles = divided_up(max_queries, tile_queries);
    const auto rows = static_cast<std::size_t>(query_tiles * tile_queries);
    thresholds_ = DeviceBuffer<std::int32_t>(rows);
    // Fewer queries have more and shorter pieces: room for any number of them.
    std::size_t lists = 0, entries = 0, maxima = 0;
    for (std::int64_t tiles = 1; tiles <= query_tiles; ++tiles) {
        const TensorPass pass = passes_for(tiles * tile_queries).rest;
        const auto now = static_cast<std::size_t>(tiles * tile_queries * pass.slots * quad);
        lists = std::max(lists, now);
        entries = std::max(entries, now * static_cast<std::size_t>(pass.capacity));
        maxima =
            std::max(maxima, static_cast<std::size_t>(tiles * tile_queries * pass.sample_slots * buckets));
    }
    counts_ = DeviceBuffer<std::int32_t>(lists);
    maxima_ = DeviceBuffer<std::int32_t>(maxima);
    survivors_ = DeviceBuffer<Survivor>(entries);
    check(cudaMemsetAsync(scan_finished_.d_data(), 0, scan_finished_.size() * sizeof(std::int32_t), stream),
          "clearing counters");
    enqueue_prepare_training(train, used_, train_tiles_, training(), train_norms_.d_data(),
                             score_bias_.d_data(), stream);
    check(cudaStreamSynchronize(stream), "preparing the training set");
}

void FusedSearch::limit_capacity(int capacity) {
    most_capacity_ = capacity;
}

Schedule FusedSearch::schedule_of(std::int64_t n_query, int first_tile, int last_tile) const {
    Schedule schedule;
    schedule.query_tiles = static_cast<int>(divided_up(n_query, tile_queries));
    schedule.first_tile = first_tile;
    schedule.train_tiles = last_tile - first_tile;
    if (schedule.train_tiles == 0) return schedule;
    const std::int64_t bytes = std::int64_t{schedule.train_tiles} * tile_train * used_.count();
    schedule.windows =
        static_cast<int>(std::min<std::int64_t>(divided_up(bytes, window_bytes), schedule.train_tiles));
    schedule.blocks = static_cast<int>(
        std::min<std::int64_t>(multiprocessors_, std::int64_t{schedule.query_tiles} * schedule.train_tiles));
    return schedule;
}

FusedSearch::Passes FusedSearch::passes_for(std::int64_t n_query) const {
    TensorPass pass;
    pass.dim = static_cast<int>(used_.count());
    pass.d_score_bias = score_bias_.d_data();
    pass.d_thresholds = thresholds_.d_data();
    pass.d_maxima = maxima_.d_data();
    pass.d_survivors = survivors_.d_data();
    pass.d_counts = counts_.d_data();
    pass.undecided = {undecided_count_.d_data(), undecided_.d_data()};
    Passes passes{pass, pass, pass};
    passes.sample.schedule = schedule_of(n_query, 0, sampling_.sample_tiles);
    passes.first.schedule = schedule_of(n_query, 0, sampling_.first_tiles);
    passes.rest.schedule = schedule_of(n_query, sampling_.first_tiles, train_tiles_);
    const int first_slots = passes.first.schedule.slots();
    passes.rest.schedule.first_slot = first_slots;
    int capacity = capacity_for(sampling_.survivors_first, sampling_.spread, passes.first.schedule);
    if (passes.rest.schedule.train_tiles > 0)
        capacity = std::max(capacity,
                            capacity_for(sampling_.survivors_rest, sampling_.spread, passes.rest.schedule));
    if (most_capacity_ > 0) capacity = std::min(capacity, most_capacity_);
    for (TensorPass* each : {&passes.sample, &passes.first, &passes.rest}) {
        each->slots = first_slots + passes.rest.schedule.slots();
        each->capacity = capacity;
        each->sample_slots = passes.sample.schedule.slots();
    }
    return passes;
}

std::vector<FusedSearch::Step> FusedSearch::steps(const ByteRows& query, const NeighborRows& out) {
    const Passes passes = passes_for(query.n);
    const ByteRows rows = query_.first(query.n);
    const auto prepare = [=, this](cudaStream_t stream) {
        enqueue_prepare_queries(query, used_, passes.rest, rows, query_norms_.d_data(), stream);
    };
    const auto scan = [=, this](cudaStream_t stream) {
        enqueue_scan(training(), n_train_, rows, query_norms_.d_data(), train_norms_.d_data(), out,
                     passes.rest.undecided, {scan_keys_.d_data(), scan_finished_.d_data()}, stream);
    };
    if (query.n <= few_queries || sampling_.sample_tiles == 0)
        return {{"prepare",
                 [=](cudaStream_t stream) {
                     prepare(stream);
                     enqueue_all_undecided(passes.rest.undecided, query.n, stream);
                 }},
                {"scan", scan}};
    return {
        {"prepare", prepare},
        {"sample",
         [=, this](cudaStream_t stream) {
             kernel_.sample(training(), rows, passes.sample, stream);
             enqueue_thresholds(passes.sample, query.n, sampling_.sample_rank, thresholds_.d_data(), stream);
         }},
        {"search",
         [=, this](cudaStream_t stream) {
             kernel_.search(training(), rows, passes.first, stream);
             if (passes.rest.schedule.train_tiles == 0) return;
             enqueue_raise(passes.first, passes.rest.schedule.first_slot, query.n, sampling_.first_rank,
                           thresholds_.d_data(), stream);
             kernel_.search(training(), rows, passes.rest, stream);
         }},
        {"merge",
         [=, this](cudaStream_t stream) {
             enqueue_merge(passes.rest, train_norms_.d_data(), query_norms_.d_data(), train_tiles_, out,
                           stream);
         }},
        {"scan", scan},
    };
}

std::int64_t FusedSearch::undecided() const {
    std::int32_t count = 0;
    check(cudaMemcpy(&count, undecided_count_.d_data(), sizeof(count), cudaMemcpyDeviceToHost),
          "reading the number of undecided queries");
    return count;
}

}  // namespace knn::gpu
