#include "tests/support/oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace knn::test {

namespace {

using Wide = __int128;

std::int64_t bits_of(double value) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

/// Σ of what `term` makes of the pixels of both images.
template <class Number>
Number sum_of(const knn::Rows& a, std::int64_t at, const knn::Rows& b, std::int64_t bt, const auto& term) {
    const std::uint8_t *x = a.row(at), *y = b.row(bt);
    Number sum = 0;
    for (std::int64_t i = 0; i < a.dim; ++i)
        sum += term(x[i], y[i]);
    return sum;
}

std::vector<double> powers_of(double p) {
    std::vector<double> powers;
    for (int v = 0; v < 256; ++v)
        powers.push_back(static_cast<double>(powl(static_cast<long double>(v) / 255, p)));
    return powers;
}

/// Σ a b where the mean is 0 or left in; else dim · Σ (a - mean a)(b - mean b), in integers: with a' = dim ·
/// a - Σa the sum Σ a'b' is dim times that.
std::int64_t product(const knn::Rows& a, std::int64_t at, const knn::Rows& b, std::int64_t bt,
                     bool centered) {
    const auto sum_a = sum_of<Wide>(a, at, a, at, [](Wide x, Wide) { return x; });
    const auto sum_b = sum_of<Wide>(b, bt, b, bt, [](Wide x, Wide) { return x; });
    const auto sum = sum_of<Wide>(a, at, b, bt, [&](Wide x, Wide y) {
        return centered ? (a.dim * x - sum_a) * (a.dim * y - sum_b) : x * y;
    });
    return static_cast<std::int64_t>(centered ? sum / a.dim : sum);
}

std::int64_t angle(const knn::Rows& a, std::int64_t at, const knn::Rows& b, std::int64_t bt, bool centered) {
    const auto norm_a = static_cast<double>(product(a, at, a, at, centered));
    const auto norm_b = static_cast<double>(product(b, bt, b, bt, centered));
    if (norm_a == 0 || norm_b == 0) return bits_of(1);
    const volatile double norms = norm_a * norm_b;  // volatile: each operation is rounded by itself
    const volatile double root = std::sqrt(norms);
    const volatile double cosine = static_cast<double>(product(a, at, b, bt, centered)) / root;
    const volatile double distance = 1 - cosine;
    return distance < 0 ? 0 : bits_of(distance);
}

std::int64_t score(const knn::Rows& a, std::int64_t at, const knn::Rows& b, std::int64_t bt, Metric metric,
                   const std::vector<double>& powers) {
    using Number = std::int64_t;
    switch (metric) {
        case Metric::l2:
            return sum_of<Number>(a, at, b, bt, [](Number x, Number y) { return (x - y) * (x - y); });
        case Metric::l1:
            return sum_of<Number>(a, at, b, bt, [](Number x, Number y) { return std::abs(x - y); });
        case Metric::lp:
            return bits_of(sum_of<double>(a, at, b, bt, [&](Number x, Number y) {
                return powers[static_cast<std::size_t>(std::abs(x - y))];
            }));
        case Metric::cosine:
        case Metric::pearson:
            return angle(a, at, b, bt, metric == Metric::pearson);
    }
    return -1;
}

/// The weight of one neighbor at a nonzero distance.
double by_distance(std::int64_t score, const Measure& measure) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(score));
    if (measure.metric == Metric::l2) return 1 / static_cast<double>(score);
    const volatile double root =
        measure.metric == Metric::lp ? std::pow(double{value}, 1 / measure.p) : value;
    const volatile double distance = measure.metric == Metric::l1   ? static_cast<double>(score)
                                     : measure.metric == Metric::lp ? 255 * root
                                                                    : root;
    const volatile double squared = distance * distance;
    return 1 / squared;
}

}  // namespace

std::vector<std::uint32_t> scores(const knn::Rows& train, const knn::Rows& query, const Measure& measure) {
    const std::vector<double> powers = powers_of(measure.p);
    std::vector<std::uint32_t> all;
    for (std::int64_t q = 0; q < query.count; ++q)
        for (std::int64_t t = 0; t < train.count; ++t)
            all.push_back(static_cast<std::uint32_t>(score(query, q, train, t, measure.metric, powers)));
    return all;
}

Neighbors nearest(const knn::Rows& train, const knn::Rows& query, int k, const Measure& measure) {
    const std::vector<std::uint32_t> all = scores(train, query, measure);
    Neighbors found(query.count, k);
    for (std::int64_t q = 0; q < query.count; ++q) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> row;  // (score, index)
        for (std::int64_t t = 0; t < train.count; ++t)
            row.emplace_back(all[static_cast<std::size_t>(q * train.count + t)],
                             static_cast<std::uint32_t>(t));
        std::sort(row.begin(), row.end());
        for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i)
            found.row(q)[i] = {row[i].first, row[i].second};
    }
    return found;
}

Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, Weights weights, Tie tie,
          const Measure& measure) {
    std::vector<double> votes(256);
    for (const auto& [score, index] : neighbors)
        if (weights == Weights::uniform || (neighbors[0].distance == 0 && score == 0))
            votes[labels[index]] += 1;
        else if (neighbors[0].distance != 0)
            votes[labels[index]] += by_distance(score, measure);
    double total = 0, most = 0;
    for (const double one : votes) {
        total += one;
        most = std::max(most, one);
    }
    std::vector<std::uint8_t> tied;  // in the order of preference
    if (tie == Tie::smallest)
        for (int label = 0; label < 256; ++label)
            tied.push_back(static_cast<std::uint8_t>(label));
    else
        for (const Neighbor& neighbor : neighbors)
            tied.push_back(labels[neighbor.index]);
    std::erase_if(tied, [&](std::uint8_t label) { return votes[label] < most; });
    return {tied.front(), most / total};
}

Vote class_mean_vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, int wanted,
                     Tie tie, std::span<const std::int64_t> sizes) {
    std::map<std::uint8_t, std::vector<std::int64_t>> by_class;  // distances
    std::int64_t each = 0;
    for (const auto& [distance, index] : neighbors) {
        std::vector<std::int64_t>& row = by_class[labels[index]];
        row.push_back(distance);
        each = std::max(each, std::min<std::int64_t>(std::ssize(row), wanted));
    }
    struct Mean {
        std::int64_t sum, count;
    };
    std::map<std::uint8_t, Mean> means;
    for (auto& [label, row] : by_class) {
        const std::int64_t n_images =
            sizes.empty() ? std::count(labels.begin(), labels.end(), label) : sizes[label];
        if (std::ssize(row) < each && n_images > wanted) continue;
        const std::int64_t count = std::min(each, std::max<std::int64_t>(std::ssize(row), n_images - 1));
        row.resize(static_cast<std::size_t>(count), neighbors.back().distance);
        means[label] = {std::accumulate(row.begin(), row.end(), std::int64_t{0}), count};
    }
    const auto nearer = [](const Mean& a, const Mean& b) { return a.sum * b.count < b.sum * a.count; };
    Mean least = means.begin()->second;
    for (const auto& [label, mean] : means)
        least = std::min(least, mean, nearer);
    std::vector<std::uint8_t> tied;  // in the order of preference
    double total = 0;
    for (const auto& [label, mean] : means) {
        if (!nearer(least, mean)) tied.push_back(label);
        total += !nearer(least, mean) ? 1.0
                                      : static_cast<double>(least.sum * mean.count) /
                                            static_cast<double>(mean.sum * least.count);
    }
    if (tie == Tie::nearest)
        for (const Neighbor& neighbor : neighbors)
            if (const std::uint8_t label = labels[neighbor.index]; std::ranges::count(tied, label) > 0)
                return {label, 1.0 / total};
    return {tied.front(), 1.0 / total};
}

Rows random_rows(std::int64_t n, std::int64_t dim, std::uint64_t seed, int levels) {
    std::mt19937_64 random(seed);
    Rows rows{std::vector<std::uint8_t>(static_cast<std::size_t>(n * dim)), n, dim};
    const int step = levels > 1 ? 255 / (levels - 1) : 0;
    for (std::uint8_t& pixel : rows.pixels)
        pixel = static_cast<std::uint8_t>(
            levels > 1 ? static_cast<int>(random() % static_cast<unsigned>(levels)) * step : 77);
    return rows;
}

}  // namespace knn::test
