#include "classifier/rejection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "app/cli/options.h"
#include "app/report/format.h"
#include "classifier/vote.h"
#include "cpu/search.h"

namespace knn {

namespace {

constexpr std::int64_t most_images = 2000, fewest_images = 200;
constexpr int most_neighbors = 32;  // a larger k is judged by these

// What these shares reject is in docs/rejection.md.
constexpr double not_strange = 0.991;  ///< of the sample
constexpr double too_divided = 0.002;  ///< of the sample, at most
constexpr double weight_of_doubt = 0.3;

/// One image of the sample.
std::int64_t position(std::int64_t i, std::int64_t n_sample, std::int64_t n_train) {
    return i * n_train / n_sample;
}

/// The neighbors without the image itself, which is among them unless as many others are equal to it.
void take_others(std::span<const Neighbor> found, std::int64_t itself, std::vector<Neighbor>& nearest) {
    const auto self = std::find_if(found.begin(), found.end(),
                                   [&](const Neighbor& n) { return std::int64_t{n.index} == itself; });
    const auto end = self == found.end() ? found.end() - 1 : found.end();
    for (auto neighbor = found.begin(); neighbor != end; ++neighbor)
        if (neighbor != self) nearest.push_back(*neighbor);
}

LeaveOneOut search(const Rows& train, std::span<const std::uint8_t> labels, const Measure& measure,
                   int threads, const Watch& watch) {
    LeaveOneOut sample;
    sample.count = std::min(most_images, train.count);
    sample.k = static_cast<int>(std::min<std::int64_t>(most_neighbors, train.count - 1));
    const auto dim = static_cast<std::size_t>(train.dim);
    std::vector<std::uint8_t> queries(static_cast<std::size_t>(sample.count) * dim);
    for (std::int64_t i = 0; i < sample.count; ++i)
        std::copy_n(train.row(position(i, sample.count, train.count)), dim, queries.begin() + i * train.dim);
    SearchRequest request;
    request.train = train;
    request.query = {queries.data(), sample.count, train.dim};
    request.train_labels = labels.first(static_cast<std::size_t>(train.count));
    request.k = sample.k + 1;
    request.metric = measure.metric;
    request.p = measure.p;
    request.threads = threads;
    const SearchResult found = cpu::search(request, watch);
    for (std::int64_t i = 0; i < sample.count; ++i)
        take_others(found.neighbors.row(i), position(i, sample.count, train.count), sample.nearest);
    return sample;
}

std::span<const std::uint8_t> bytes_of(const std::vector<Neighbor>& neighbors) {
    return {reinterpret_cast<const std::uint8_t*>(neighbors.data()), neighbors.size() * sizeof(Neighbor)};
}

/// Of the nearest five at most, not squared.
double mean_distance(std::span<const Neighbor> neighbors, const Measure& measure) {
    const auto nearest = neighbors.first(std::min<std::size_t>(neighbors.size(), 5));
    double sum = 0;
    for (const Neighbor& neighbor : nearest)
        sum += measure.metric == Metric::l2 ? std::sqrt(static_cast<double>(neighbor.distance))
                                            : distance_of(measure.metric, measure.p, neighbor.distance);
    return sum / static_cast<double>(nearest.size());
}

/// The value that `share` of `values` do not exceed.
double quantile(std::vector<double> values, double share) {
    const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + place, values.end());
    return values[static_cast<std::size_t>(place)];
}

}  // namespace

LeaveOneOut leave_one_out(const TrainingSet& set, const Rows& train, const Measure& measure,
                          bool use_cache, int threads, const Watch& watch) {
    if (train.count < fewest_images) return {};
    const bool keeps = use_cache && !set.key.empty();
    std::string file = "sample-" + set.name + "-" + std::to_string(train.count);
    std::string key = set.key + "first " + std::to_string(train.count) + " sample 2";
    if (measure.metric != Metric::l2) {
        file += std::string("-") + name(measure.metric);
        key += std::string(" ") + name(measure.metric);
    }
    if (measure.metric == Metric::lp) key += " p " + std::to_string(std::bit_cast<std::uint64_t>(measure.p));
    LeaveOneOut sample;
    sample.count = std::min(most_images, train.count);
    sample.k = static_cast<int>(std::min<std::int64_t>(most_neighbors, train.count - 1));
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
    sample = search(train, set.labels, measure, threads, watch);
    const std::array<std::span<const std::uint8_t>, 1> pieces = {bytes_of(sample.nearest)};
    if (keeps) write_cached(file, key, pieces);
    return sample;
}

double strangeness(std::span<const Neighbor> neighbors, const Vote& vote, const Measure& measure) {
    return mean_distance(neighbors, measure) * (1 + weight_of_doubt * (1 - vote.confidence));
}

Rejection::Rejection(const LeaveOneOut& sample, std::span<const std::uint8_t> labels, int k, Weights weights,
                     Tie tie, const Measure& measure)
    : measure_(measure), strange_(std::numeric_limits<double>::infinity()) {
    if (sample.count < fewest_images) return;
    const auto judged = static_cast<std::size_t>(std::min(k, sample.k));
    std::vector<double> strange, shares;
    for (std::int64_t i = 0; i < sample.count; ++i) {
        const auto neighbors = sample.row(i).first(judged);
        const Vote vote = cpu::vote(neighbors, labels, weights, tie, measure);
        strange.push_back(strangeness(neighbors, vote, measure));
        shares.push_back(vote.confidence);
    }
    strange_ = quantile(strange, not_strange);
    divided_ = quantile(shares, too_divided);
}

std::string Rejection::reason(std::span<const Neighbor> neighbors, const Vote& vote) const {
    const auto text = [&](double d) { return is_integral(measure_.metric) ? fixed(d, 0) : short_number(d); };
    const double mean = mean_distance(neighbors, measure_);
    const std::string distance = text(mean), limit = text(strange_);
    const std::string share = percent(vote.confidence, 0);
    if (mean > strange_)
        return "unlike the training images: the nearest are " + distance + " away on average, limit " + limit;
    if (strangeness(neighbors, vote, measure_) > strange_)
        return "unlike the training images: the nearest are " + distance +
               " away on average and disagree, the most frequent label has " + share + " of the votes";
    if (vote.confidence < divided_)
        return "the neighbors disagree: the most frequent label has " + share + " of the votes";
    return "";
}

}  // namespace knn
