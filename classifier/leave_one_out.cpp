#include "classifier/leave_one_out.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "classifier/classifier.h"
#include "data/set/cache.h"

namespace knn {

namespace {

constexpr std::int64_t max_images = 2000;
constexpr int max_neighbors = 32;  // a larger k uses only these

LeaveOneOut sized(std::int64_t n_train) {
    LeaveOneOut sample;
    sample.count = std::min(max_images, n_train);
    sample.k = static_cast<int>(std::min<std::int64_t>(max_neighbors, n_train - 1));
    return sample;
}

void search(LeaveOneOut& sample, const Rows& train, const Measure& measure, int threads, const Watch& watch) {
    const Exclude itself{0, train.count, sample.count};
    std::vector<std::uint8_t> queries;
    queries.reserve(static_cast<std::size_t>(sample.count * train.dim));
    for (std::int64_t i = 0; i < sample.count; ++i) {
        const std::uint8_t* image = train.row(itself.index_of(i));
        queries.insert(queries.end(), image, image + train.dim);
    }
    sample.nearest = search_on_cpu(train, {queries.data(), sample.count, train.dim}, sample.k, measure,
                                   itself, watch, threads)
                         .rows;
}

std::span<const std::uint8_t> bytes_of(const std::vector<Neighbor>& neighbors) {
    return {reinterpret_cast<const std::uint8_t*>(neighbors.data()), neighbors.size() * sizeof(Neighbor)};
}

}  // namespace

LeaveOneOut leave_one_out(const TrainingSet& set, const Rows& train, const Method& method, bool use_cache,
                          int threads, const Watch& watch) {
    const Measure& measure = method.measure;
    if (train.count < min_sampled_images) return {};
    const bool keeps = use_cache && !set.key.empty();
    std::string file = "sample-" + set.name + "-" + std::to_string(train.count);
    std::string key = set.key + "first " + std::to_string(train.count) + " sample 2";
    if (measure.metric != Metric::l2) {
        file += std::string("-") + name(measure.metric);
        key += std::string(" ") + name(measure.metric);
    }
    if (measure.metric == Metric::lp) key += " p " + std::to_string(std::bit_cast<std::uint64_t>(measure.p));
    if (!method.transform.is_raw()) {
        file.append("-").append(std::to_string(std::hash<std::string>()(method.transform.text())));
        key += " of " + method.transform.text();
    }
    LeaveOneOut sample = sized(train.count);
    const std::size_t size = static_cast<std::size_t>(sample.count) * static_cast<std::size_t>(sample.k);
    if (keeps)
        if (const auto cached = read_cached(file, key, 1);
            cached && cached->span().size() == size * sizeof(Neighbor)) {
            sample.nearest.resize(size);
            std::memcpy(sample.nearest.data(), cached->span().data(), cached->span().size());
            const bool fits = std::all_of(sample.nearest.begin(), sample.nearest.end(),
                                          [&](const Neighbor& n) { return n.index < train.count; });
            if (fits) return sample;
        }
    search(sample, train, measure, threads, watch);
    const std::array<std::span<const std::uint8_t>, 1> pieces = {bytes_of(sample.nearest)};
    if (keeps) write_cached(file, key, pieces);
    return sample;
}

}  // namespace knn
