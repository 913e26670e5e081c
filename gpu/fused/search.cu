#include "gpu/fused/search.h"

#include <algorithm>
#include <cmath>

#include "gpu/fused/merge.h"
#include "gpu/fused/norms.h"
#include "gpu/runtime/check.h"

namespace knn::gpu {

namespace {

constexpr std::int64_t row_alignment = 32;              // a sector of the L2 cache
constexpr std::int64_t window_bytes = 25 * 1000 * 1000;  // of training images that stay in the L2 cache
constexpr std::int64_t most_list_bytes = 192 << 20;
constexpr int usual_ratio = 24;  // training images for each of the sample

std::int64_t divided_up(std::int64_t n, std::int64_t by) {
    return (n + by - 1) / by;
}

int tiles_of(std::int64_t n_train) {
    return static_cast<int>(divided_up(n_train, tile_train));
}

/// Of the sample, how many images the rank-th largest of the buckets' maxima leaves above it, on average.
double images_above(int rank) {
    return -buckets * std::log1p(-static_cast<double>(rank) / buckets);
}

Schedule schedule_for(std::int64_t n_query, int train_tiles, int windows, int blocks) {
    Schedule schedule;
    schedule.query_tiles = static_cast<int>(divided_up(n_query, tile_queries));
    schedule.train_tiles = train_tiles;
    schedule.windows = std::min(windows, train_tiles);
    schedule.blocks =
        static_cast<int>(std::min<std::int64_t>(blocks, std::int64_t{schedule.query_tiles} * train_tiles));
    return schedule;
}

int windows_for(std::int64_t n_train, std::int64_t dim) {
    return static_cast<int>(divided_up(n_train * dim, window_bytes));
}

/// Room for three standard deviations more than expected in each list, and for their own scatter.
int capacity_for(const Sampling& sampling, const Schedule& schedule) {
    const double share = static_cast<double>(schedule.longest_piece()) / schedule.train_tiles / quad;
    const double mean = sampling.survivors * share;
    const double room = mean * (1 + 3 * sampling.spread) + 6 * std::sqrt(mean) + 8;
    return static_cast<int>(divided_up(static_cast<std::int64_t>(room), 8) * 8);
}

}  // namespace

Sampling choose_sampling(int train_tiles, int k) {
    for (int tiles = std::max(train_tiles / usual_ratio, 1);; tiles /= 2) {
        const double ratio = static_cast<double>(train_tiles) / tiles;
        for (int rank = 1; rank <= buckets * 3 / 4; ++rank) {
            const double above = images_above(rank);
            // Enough by count, or by three standard deviations of what lies above the threshold.
            if (rank < k && (above - 3 * std::sqrt(above)) * ratio < k) continue;
            return {tiles, rank, above * ratio, 1 / std::sqrt(above)};
        }
        if (tiles == 1) return {};
    }
}

TensorRows::TensorRows(std::int64_t n, std::int64_t dim, std::int64_t spare) {
    const std::int64_t pitch = divided_up(dim, row_alignment) * row_alignment;
    bytes_ = DeviceBuffer<std::uint8_t>(static_cast<std::size_t>((n + spare) * pitch));
    check(cudaMemset(bytes_.d_data(), 0, bytes_.size()), "clearing images");
    rows_ = {bytes_.d_data(), n, dim, static_cast<std::size_t>(pitch)};
}

std::int64_t FusedSearch::allocated_rows(std::int64_t n_train) {
    return std::int64_t{tiles_of(n_train)} * tile_train;
}

std::int64_t FusedSearch::most_queries(std::int64_t n_train, int k) {
    // Long pieces: the lists of a whole window.
    const Sampling sampling = choose_sampling(tiles_of(n_train), k);
    const double a_query =
        (sampling.survivors * (1 + 3 * sampling.spread) + 64 * quad) * 2.5 * sizeof(Survivor);
    const auto most = static_cast<std::int64_t>(most_list_bytes / a_query);
    return std::clamp<std::int64_t>(most / tile_queries * tile_queries, tile_queries, 128 * tile_queries);
}

FusedSearch::FusedSearch(const TensorKernel& kernel, std::int64_t n_train, std::int64_t dim, int k,
                         std::int64_t max_queries)
    : kernel_(kernel),
      n_train_(n_train),
      dim_(dim),
      max_queries_(max_queries),
      k_(k),
      train_tiles_(tiles_of(n_train)),
      windows_(windows_for(n_train, dim)),
      multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)),
      sampling_(choose_sampling(train_tiles_, k)),
      train_norms_(static_cast<std::size_t>(n_train)),
      query_norms_(static_cast<std::size_t>(max_queries)),
      score_bias_(static_cast<std::size_t>(allocated_rows(n_train))),
      undecided_count_(1),
      undecided_(static_cast<std::size_t>(max_queries)) {
    const auto rows = static_cast<std::size_t>(divided_up(max_queries, tile_queries) * tile_queries);
    thresholds_ = DeviceBuffer<std::int32_t>(rows);
    maxima_ = DeviceBuffer<std::int32_t>(rows * buckets);
    // Batches of fewer queries have more and shorter pieces: room for any of them.
    std::size_t lists = 0, entries = 0;
    for (std::int64_t tiles = 1; tiles <= static_cast<std::int64_t>(rows) / tile_queries; ++tiles) {
        const Schedule schedule =
            schedule_for(tiles * tile_queries, train_tiles_, windows_, multiprocessors_);
        const auto now = static_cast<std::size_t>(tiles * tile_queries * schedule.slots() * quad);
        lists = std::max(lists, now);
        entries = std::max(entries, now * static_cast<std::size_t>(capacity_for(sampling_, schedule)));
    }
    counts_ = DeviceBuffer<std::int32_t>(lists);
    survivors_ = DeviceBuffer<Survivor>(entries);
}

void FusedSearch::limit_capacity(int capacity) {
    capacity_ = capacity;
}

TensorPass FusedSearch::pass_for(const ByteRows& query, int train_tiles, int windows) const {
    TensorPass pass;
    pass.schedule = schedule_for(query.n, train_tiles, windows, multiprocessors_);
    pass.dim = static_cast<int>(dim_);
    pass.tile_stride = train_tiles_;
    pass.d_score_bias = score_bias_.d_data();
    pass.d_thresholds = thresholds_.d_data();
    pass.d_maxima = maxima_.d_data();
    pass.d_survivors = survivors_.d_data();
    pass.d_counts = counts_.d_data();
    pass.slots = pass.schedule.slots();
    pass.capacity = capacity_for(sampling_, pass.schedule);
    if (capacity_ > 0) pass.capacity = std::min(pass.capacity, capacity_);
    pass.undecided = {undecided_count_.d_data(), undecided_.d_data()};
    return pass;
}

void FusedSearch::enqueue_training(const ByteRows& train, cudaStream_t stream) {
    enqueue_train_norms(train, train_tiles_, train_norms_.d_data(), score_bias_.d_data(), stream);
}

std::vector<FusedSearch::Step> FusedSearch::steps(const ByteRows& train, const ByteRows& query,
                                                  const NeighborRows& out) {
    const TensorPass pass = pass_for(query, train_tiles_, windows_);
    const TensorPass sample = pass_for(query, std::max(sampling_.tiles, 1), 1);
    return {
        {"norms",
         [=, this](cudaStream_t stream) { enqueue_query_norms(query, pass, query_norms_.d_data(), stream); }},
        {"sample",
         [=, this](cudaStream_t stream) {
             if (sampling_.tiles > 0) kernel_.sample(train, query, sample, stream);
             enqueue_thresholds(pass, query.n, sampling_.rank, thresholds_.d_data(), stream);
         }},
        {"search", [=, this](cudaStream_t stream) { kernel_.search(train, query, pass, stream); }},
        {"merge",
         [=, this](cudaStream_t stream) {
             enqueue_merge(pass, train_norms_.d_data(), query_norms_.d_data(), out, stream);
         }},
        {"scan", [=](cudaStream_t stream) { enqueue_scan(train, query, out, pass.undecided, stream); }},
    };
}

std::int64_t FusedSearch::undecided() const {
    std::int32_t count = 0;
    check(cudaMemcpy(&count, undecided_count_.d_data(), sizeof(count), cudaMemcpyDeviceToHost),
          "reading the number of undecided queries");
    return count;
}

}  // namespace knn::gpu
