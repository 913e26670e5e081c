#include "gpu/fused/search.h"

#include <algorithm>
#include <cmath>

#include "gpu/fused/fold.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr std::int64_t row_alignment = 32;               // a sector of the L2 cache
constexpr std::int64_t window_bytes = 25 * 1000 * 1000;  // of training images that stay in the L2 cache
constexpr std::int64_t most_list_bytes = 208 << 20;
constexpr std::int64_t most_query_tiles = 128;
constexpr std::int64_t few_queries = 2;  // up to here comparing them with all is faster

std::int64_t divided_up(std::int64_t n, std::int64_t by) {
    return (n + by - 1) / by;
}

int tiles_of(std::int64_t n_train) {
    return static_cast<int>(divided_up(n_train, tile_train));
}

/// Entries for each list of a pass: three standard deviations more than expected, and the scatter of the list
/// itself.
int capacity_for(double survivors, double spread, const Schedule& schedule) {
    if (schedule.train_tiles == 0) return 0;
    const double share = static_cast<double>(schedule.longest_piece()) / schedule.train_tiles / quad;
    const double mean = survivors * share;
    return static_cast<int>(mean * (1 + 3 * spread) + 5.5 * std::sqrt(mean) + 8);
}

Schedule schedule_for(std::int64_t query_tiles, int first_tile, int last_tile, std::int64_t dim,
                      int multiprocessors) {
    Schedule schedule;
    schedule.query_tiles = static_cast<int>(query_tiles);
    schedule.first_tile = first_tile;
    schedule.train_tiles = last_tile - first_tile;
    if (schedule.train_tiles == 0) return schedule;
    const std::int64_t bytes = std::int64_t{schedule.train_tiles} * tile_train * dim;
    schedule.windows =
        static_cast<int>(std::min<std::int64_t>(divided_up(bytes, window_bytes), schedule.train_tiles));
    schedule.blocks = static_cast<int>(
        std::min<std::int64_t>(multiprocessors, std::int64_t{schedule.query_tiles} * schedule.train_tiles));
    return schedule;
}

}  // namespace

/// The work of the passes for so many query tiles, and the lists that they need.
struct FusedSearch::Layout {
    Schedule sample, first, rest;
    int slots = 0, capacity = 0;  // of the larger pass: a fold empties the lists in between

    Layout(const Sampling& sampling, int train_tiles, std::int64_t dim, std::int64_t query_tiles,
           int multiprocessors) {
        const auto schedule = [&](int first_tile, int last_tile) {
            return schedule_for(query_tiles, first_tile, last_tile, dim, multiprocessors);
        };
        sample = schedule(0, sampling.sample_tiles);
        first = schedule(0, sampling.first_tiles);
        rest = schedule(sampling.first_tiles, train_tiles);
        slots = std::max(first.slots(), rest.slots());
        capacity = std::max(capacity_for(sampling.survivors_first, sampling.spread, first),
                            capacity_for(sampling.survivors_rest, sampling.spread, rest));
    }
    std::int64_t lists() const { return std::int64_t{first.query_tiles} * tile_queries * slots * quad; }
    std::int64_t entries() const { return lists() * capacity; }
    std::int64_t bytes() const { return entries() * SurvivorLists::bytes_a_group; }
    std::int64_t maxima() const {
        return std::int64_t{first.query_tiles} * tile_queries * sample.slots() * buckets;
    }
};

TensorRows::TensorRows(std::int64_t n, std::int64_t dim) {
    const std::int64_t pitch = divided_up(dim, row_alignment) * row_alignment;
    bytes_ = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>(n * pitch));
    rows_ = {bytes_.d_data(), n, dim, static_cast<std::size_t>(pitch)};
}

std::int64_t FusedSearch::batch_size(std::int64_t n_query, std::int64_t n_train, int k, int dim) {
    const int train_tiles = tiles_of(n_train);
    const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
    const Sampling sampling = choose_sampling(train_tiles, k, dim);
    const std::int64_t all = divided_up(n_query, tile_queries);
    std::int64_t most = std::min(all, most_query_tiles);
    while (most > 1 && Layout(sampling, train_tiles, dim, most, multiprocessors).bytes() > most_list_bytes)
        --most;
    const std::int64_t batches = divided_up(all, most);
    return std::min(divided_up(all, batches) * tile_queries, n_query);
}

FusedSearch::FusedSearch(const TensorKernel& kernel, const ByteRows& train, int k, std::int64_t max_queries,
                         cudaStream_t stream)
    : kernel_(kernel),
      train_tiles_(tiles_of(train.n)),
      multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)),
      used_(train, stream),
      sampling_(choose_sampling(train_tiles_, k, static_cast<int>(used_.count()))),
      train_(std::int64_t{train_tiles_} * tile_train, used_.count()),
      query_(max_queries, used_.count()),
      images_(static_cast<std::size_t>(train_tiles_) * tile_train),
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
    std::int64_t lists = 0, entries = 0, maxima = 0;
    for (std::int64_t tiles = 1; tiles <= query_tiles; ++tiles) {
        const Layout layout = layout_for(tiles);
        lists = std::max(lists, layout.lists());
        entries = std::max(entries, layout.entries());
        maxima = std::max(maxima, layout.maxima());
    }
    counts_ = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(lists));
    maxima_ = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(maxima));
    products_ = DeviceBuffer<int4>(static_cast<std::size_t>(entries));
    places_ = DeviceBuffer<std::uint32_t>(static_cast<std::size_t>(entries));
    for (const DeviceBuffer<std::int32_t>* counters : {&scan_finished_, &counts_})
        check(cudaMemsetAsync(counters->d_data(), 0, counters->size() * sizeof(std::int32_t), stream),
              "clearing counters");
    enqueue_prepare_training(train, used_, train_tiles_, training(), images_.d_data(), score_bias_.d_data(),
                             stream);
    check(cudaStreamSynchronize(stream), "preparing the training set");
}

void FusedSearch::limit_capacity(int capacity) {
    most_capacity_ = capacity;
}

FusedSearch::Layout FusedSearch::layout_for(std::int64_t query_tiles) const {
    return {sampling_, train_tiles_, used_.count(), query_tiles, multiprocessors_};
}

FusedSearch::Passes FusedSearch::passes_for(std::int64_t n_query) const {
    const Layout layout = layout_for(divided_up(n_query, tile_queries));
    TensorPass pass;
    pass.dim = static_cast<int>(used_.count());
    pass.d_score_bias = score_bias_.d_data();
    pass.d_thresholds = thresholds_.d_data();
    pass.d_maxima = maxima_.d_data();
    pass.sample_slots = layout.sample.slots();
    pass.lists.d_products = products_.d_data();
    pass.lists.d_places = places_.d_data();
    pass.lists.d_counts = counts_.d_data();
    pass.lists.capacity = most_capacity_ > 0 ? std::min(layout.capacity, most_capacity_) : layout.capacity;
    pass.slots = layout.slots;
    pass.undecided = {undecided_count_.d_data(), undecided_.d_data()};
    Passes passes{pass, pass, pass};
    passes.sample.schedule = layout.sample;
    passes.first.schedule = layout.first;
    passes.rest.schedule = layout.rest;
    return passes;
}

std::vector<FusedSearch::Step> FusedSearch::steps(const ByteRows& query, const NeighborRows& out) {
    const Passes passes = passes_for(query.n);
    const ByteRows rows = query_.first(query.n);
    const auto prepare = [=, this](cudaStream_t stream) {
        enqueue_prepare_queries(query, used_, passes.rest, rows, query_norms_.d_data(), stream);
    };
    const bool is_split = passes.rest.schedule.train_tiles > 0;
    const auto fold = [=, this](const TensorPass& pass, const FoldStep& step, cudaStream_t stream) {
        enqueue_fold(pass, step, images_.d_data(), query_norms_.d_data(), thresholds_.d_data(), out, stream);
    };
    const auto scan = [=, this](cudaStream_t stream) {
        enqueue_scan(training(), images_.d_data(), rows, query_norms_.d_data(), out, passes.rest.undecided,
                     {scan_keys_.d_data(), scan_finished_.d_data()}, stream);
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
             if (is_split) {
                 fold(passes.first, {.is_last = false, .rank = sampling_.first_rank}, stream);
                 kernel_.search(training(), rows, passes.rest, stream);
             }
         }},
        {"fold",
         [=](cudaStream_t stream) {
             fold(is_split ? passes.rest : passes.first, {.is_first = !is_split}, stream);
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
