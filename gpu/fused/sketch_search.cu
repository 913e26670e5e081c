#include "gpu/fused/sketch_search.h"

#include <algorithm>
#include <span>

#include "data/core/round_up.h"

namespace knn::gpu {

namespace {

/// Lists are three times as long as expected, as some queries have a hundred times as many; where that is too short, queries are
/// left to the fallback.
constexpr int most_capacity = 12'288;

/// As many of the first training images in tile order, which are a fair sample, determine e₀.
constexpr std::int64_t most_errors = 1 << 14;

constexpr int search_threads = 256;

/// Copies rows ⌊i · n / m⌋, a block each, one after another.
__global__ void __launch_bounds__(search_threads) gather_kernel(ByteRows rows, std::uint8_t* d_out) {
    const std::uint8_t* d_row = rows.row(std::int64_t{blockIdx.x} * rows.n / gridDim.x);
    for (std::int64_t j = threadIdx.x; j < rows.cols; j += search_threads)
        d_out[std::int64_t{blockIdx.x} * rows.cols + j] = d_row[j];
}

}  // namespace

Sketch fit_sketch_to(const ByteRows& rows, bool uses_cache, cudaStream_t stream) {
    const std::int64_t n = rows_to_fit(rows.n, rows.cols);
    const DeviceBuffer<std::uint8_t> gathered(static_cast<std::size_t>(n * rows.cols));
    gather_kernel<<<grid_size(n), search_threads, 0, stream>>>(rows, gathered.d_data());
    check_launch("gathering rows");
    std::vector<std::uint8_t> some(gathered.size());
    check(cudaMemcpyAsync(some.data(), gathered.d_data(), some.size(), cudaMemcpyDeviceToHost, stream),
          "downloading rows");
    check(cudaStreamSynchronize(stream), "downloading rows");
    return cached_fit(Rows{some.data(), n, rows.cols}, sketch_columns, uses_cache);
}

SketchSearch::SketchSearch(const TensorKernel& kernel, const Sketch& sketch,
                           const std::vector<std::int32_t>* used, const ByteRows& train,
                           const TrainImage* d_images, cudaStream_t stream)
    : kernel_(kernel), train_(train), bound_{sketch.stretch, 0}, scale_(sketch.scale) {
    if (kernel.search_sketches == nullptr || train.n > most_sketched || sketch.columns != sketch_columns)
        return;
    const std::vector<std::uint32_t> weights = arranged_weights(sketch, used);
    weights_ = copied_to_device(std::span(weights), "uploading weights");
    std::vector<std::int32_t> centers = sketch.centers;
    centers.resize(sketch_columns);
    centers_ = copied_to_device(std::span(centers), "uploading centers");
    const auto n = static_cast<std::size_t>(train.n);
    train_sketches_.reserve(n * sketch_columns);
    const DeviceBuffer<SketchTerms> terms(n);
    const SketchWeights weights_there{reinterpret_cast<const uint4*>(weights_.d_data()), centers_.d_data(),
                                      scale_};
    enqueue_sketches(weights_there, train, false, train_sketches_.d_data(), terms.d_data(), stream);

    std::vector<SketchTerms> some(static_cast<std::size_t>(std::min(train.n, most_errors)));
    check(cudaMemcpyAsync(some.data(), terms.d_data(), some.size() * sizeof(SketchTerms),
                          cudaMemcpyDeviceToHost, stream),
          "downloading errors");
    check(cudaStreamSynchronize(stream), "making sketches");
    const auto at = some.begin() + static_cast<std::ptrdiff_t>(some.size() * 99 / 100);
    std::nth_element(some.begin(), at, some.end(),
                     [](const SketchTerms& a, const SketchTerms& b) { return a.error < b.error; });
    bound_.error = at->error;

    const DeviceBuffer<std::int32_t> unfit(1);
    fill(unfit, 0, "clearing a flag");
    enqueue_values(train.n, terms.d_data(), d_images, bound_.error, train_sketches_.d_data(), unfit.d_data(),
                   stream);
    std::int32_t is_unfit = 0;
    check(cudaMemcpyAsync(&is_unfit, unfit.d_data(), sizeof(is_unfit), cudaMemcpyDeviceToHost, stream),
          "downloading a flag");
    check(cudaStreamSynchronize(stream), "making sketches");
    fits_ = is_unfit == 0;
}

SketchLists SketchSearch::lists_for(std::int64_t n_query) const {
    SketchLists lists{survivors_.d_data(), counts_.d_data()};
    double longest = 0;
    for (const SearchPass& pass : sampling_.passes) {
        const Schedule schedule = schedule_of(pass.first_tile, pass.n_tiles, n_query);
        lists.slots = std::max(lists.slots, schedule.slots());
        const double share = static_cast<double>(schedule.max_piece()) / schedule.train_tiles;
        longest = std::max(longest, 3 * share * sketch_survivors(pass.survivors) * queries_per_list);
    }
    lists.capacity = std::min(static_cast<int>(longest) + 512, most_capacity);
    if (max_capacity_ > 0) lists.capacity = std::min(lists.capacity, max_capacity_);
    return lists;
}

void SketchSearch::reserve(std::int64_t n_query, int k, const Sampling& sampling, int multiprocessors) {
    multiprocessors_ = multiprocessors;
    sampling_ = sampling;
    const SketchLists lists = lists_for(n_query);
    const auto rows = static_cast<std::size_t>(round_up(n_query, sketch_queries));
    const std::size_t count = rows / queries_per_list * static_cast<std::size_t>(lists.slots);
    // The kernels read whole tiles of queries.
    if (query_sketches_.reserve(rows * sketch_columns)) fill(query_sketches_, 0, "clearing sketches");
    query_terms_.reserve(rows);
    survivors_.reserve(count * static_cast<std::size_t>(lists.capacity));
    counts_.reserve(count);
    best_.reserve(count * queries_per_list * static_cast<std::size_t>(k));
    maxima_.reserve(rows * static_cast<std::size_t>(sample_schedule(n_query).slots() * sketch_maxima));
}

void SketchSearch::enqueue_queries(const ByteRows& query, cudaStream_t stream) {
    enqueue_sketches({reinterpret_cast<const uint4*>(weights_.d_data()), centers_.d_data(), scale_}, query,
                     true, query_sketches_.d_data(), query_terms_.d_data(), stream);
}

Schedule SketchSearch::schedule_of(int first_tile, int n_tiles, std::int64_t n_query) const {
    // Few blocks for a query tile, and few windows: else it would have more than most_slots pieces.
    constexpr int most_blocks = 48, most_windows = 8;
    const std::int64_t query_tiles = divide_up(n_query, sketch_queries);
    Schedule schedule = schedule_for(query_tiles, first_tile, n_tiles, sketch_columns, multiprocessors_);
    schedule.windows = std::min(schedule.windows, most_windows);
    schedule.blocks = static_cast<int>(std::min<std::int64_t>(schedule.blocks, most_blocks * query_tiles));
    return schedule;
}

Schedule SketchSearch::sample_schedule(std::int64_t n_query) const {
    Schedule schedule = schedule_of(0, sampling_.sample_tiles, n_query);
    // Two or more, as a piece gives no more than 32 maxima.
    schedule.windows = std::max((schedule.train_tiles + most_sample_window - 1) / most_sample_window,
                                std::min(schedule.train_tiles, 2));
    return schedule;
}

SketchPass SketchSearch::pass_of(const Schedule& schedule, const SketchLists& lists, const TensorPass& pass,
                                 std::int64_t n_query) const {
    return {.schedule = schedule,
            .n_query = n_query,
            .bound = bound_,
            .d_train = train_sketches_.d_data(),
            .d_query = query_sketches_.d_data(),
            .d_query_terms = query_terms_.d_data(),
            .d_query_norms = pass.d_query_norms,
            .d_thresholds = pass.d_thresholds,
            .lists = lists,
            .d_maxima = maxima_.d_data()};
}

SketchPass SketchSearch::search_pass(std::size_t i, const TensorPass& pass, std::int64_t n_query) const {
    const SearchPass& of = sampling_.passes[i];
    return pass_of(schedule_of(of.first_tile, of.n_tiles, n_query), lists_for(n_query), pass, n_query);
}

void SketchSearch::enqueue_sample(const ByteRows& query, const TensorPass& pass, const Batch& batch,
                                  cudaStream_t stream) {
    const Schedule schedule = sample_schedule(query.n);
    const SketchPass sample = pass_of(schedule, {.slots = schedule.slots()}, pass, query.n);
    kernel_.search_sketches(sample, train_.n, PassKind::sample, stream);
    enqueue_sketch_thresholds(sample, train_, query, pass, batch, stream);
}

void SketchSearch::enqueue_search(std::size_t i, const TensorPass& pass, std::int64_t n_query,
                                  cudaStream_t stream) {
    kernel_.search_sketches(search_pass(i, pass, n_query), train_.n, PassKind::search, stream);
}

void SketchSearch::enqueue_refine(std::size_t i, const ByteRows& query, const TensorPass& pass,
                                  const FoldStep& step, const Batch& batch, cudaStream_t stream) {
    gpu::enqueue_refine(search_pass(i, pass, query.n), train_, query, pass, step, batch, best_.d_data(),
                        stream);
}

}  // namespace knn::gpu
