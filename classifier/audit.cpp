#include "classifier/audit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "classifier/exact_distances.h"
#include "cpu/host/threads.h"
#include "data/core/clock.h"
#include "data/core/dataset.h"
#include "data/core/format.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

/// Of one image.
struct Means {
    double own = 0, other = 0;  ///< of the label, and the smallest of another class
    std::uint8_t suggested = 0;
};

/// `row`: the neighbors of an image with this label, with `distances`; `labels`: of the training set, which has `classes`.
Means means_of(std::span<const Neighbor> row, std::span<const double> distances,
               std::span<const std::uint8_t> labels, std::span<const std::uint8_t> classes,
               std::uint8_t label, int each) {
    std::array<double, 256> sums{};
    std::array<int, 256> counts{};
    for (std::size_t i = 0; i < row.size(); ++i) {
        const std::uint8_t c = labels[row[i].index];
        if (counts[c] == each) continue;
        ++counts[c];
        sums[c] += distances[i];
    }
    const double last = distances.back();
    const auto mean = [&](std::uint8_t c) { return (sums[c] + (each - counts[c]) * last) / each; };
    Means means{.own = mean(label), .other = -1, .suggested = label};
    for (const std::uint8_t c : classes) {
        if (c == label || (means.other >= 0 && mean(c) >= means.other)) continue;
        means.other = mean(c);
        if (means.other < means.own) means.suggested = c;
    }
    return means;
}

/// Of each of the `images`, in their order. Distances of real rows are exact, those of what a transform makes scores.
std::vector<Means> all_means(const Neighbors& neighbors, const Training& training, const Rows& images,
                             std::span<const std::uint8_t> labels, const Method& method, int threads,
                             const ProgressToken& token) {
    constexpr std::int64_t piece = 16;
    const std::vector<std::uint8_t> classes = occurring_labels({training.labels});
    const Measure measure = method.neighbor_measure();
    const bool exact = measure.real && method.transform.is_raw();
    std::vector<Means> means(at(neighbors.n_query));
    cpu::for_rows(neighbors.n_query, piece, threads, token.stop, [&](std::int64_t first, std::int64_t last) {
        std::vector<double> distances(at(neighbors.k));
        for (std::int64_t i = first; i < last; ++i) {
            const std::span<const Neighbor> row = neighbors.row(i);
            std::ranges::transform(row, distances.begin(), [&](const Neighbor& one) {
                if (!exact) return distance_of(measure, one.distance);
                return shown_distance(measure,
                                      exact_distance_to(training.rows, one, images.slice(i, 1), measure));
            });
            means[at(i)] = means_of(row, distances, training.labels, classes, labels[at(i)], method.vote.k);
        }
    });
    return means;
}

/// t of audit.h; any positive number if all distances are 0, or so small that it would be.
double smallest_unit(const std::vector<Means>& means) {
    double sum = 0;
    for (const Means& one : means)
        sum += std::min(one.own, one.other);
    const double t = 0.01 * sum / static_cast<double>(means.size());
    return t > 0 ? t : 1;
}

double evidence_of(const Means& means, double t) {
    return std::log((means.own + t) / (means.other + t));
}

double logistic(double x) {
    return 1 / (1 + std::exp(-x));
}

/// Nothing is certain: 1e-6 to 1 - 1e-6, as a confidence.
double wrong_probability(double evidence, double slope) {
    constexpr double least = 1e-6;
    return std::clamp(logistic(slope * evidence), least, 1 - least);
}

/// Newton's method on the sum of log(1 - logistic(slope · evidence)), which is concave.
double fitted_slope(std::vector<double> evidence) {
    double size = 0;
    for (const double one : evidence)
        size += std::abs(one);
    size /= static_cast<double>(evidence.size());
    if (size == 0) return 0;
    evidence.push_back(size);
    double slope = 0;
    constexpr int steps = 100;
    constexpr double enough = 1e-9;
    for (int step = 0; step < steps; ++step) {
        double first = 0, second = 0;
        for (const double one : evidence) {
            const double p = logistic(slope * one);
            first -= one * p;
            second += one * one * p * (1 - p);
        }
        if (second <= 0) break;
        // A step from far away must not jump over the maximum.
        const double move = std::clamp(first / second, -1 / size, 1 / size);
        slope += move;
        if (std::abs(move) < enough * std::abs(slope)) break;
    }
    return std::max(slope, 0.0);  // labels that have nothing to do with the images contradict nothing
}

}  // namespace

Method audit_method(const Method& method, std::int64_t n_train) {
    require_others(method.vote.k, n_train);
    Method wide = method;
    const int wanted = std::max(method.vote.k, method.reranks() ? method.rerank.candidates : audit_neighbors);
    wide.vote.k = static_cast<int>(std::min<std::int64_t>(wanted, n_train - 1));
    return wide;
}

Audit audit(const Index& index, const Method& method, const Rows& test,
            std::span<const std::uint8_t> test_labels, const ProgressToken& token) {
    const Training& training = index.training();
    const auto start = Clock::now();
    Audit audit;
    audit.each = method.vote.k;
    Results found = index.search(Queries::all_of(training.rows), {.vote = false, .token = token});
    audit.neighbors = std::move(found.neighbors);
    const auto means_by = [&](const Rows& images, std::span<const std::uint8_t> labels) {
        return all_means(audit.neighbors, training, images, labels, method, found.plan.threads, token);
    };
    std::vector<Means> means = means_by(training.rows, training.labels);
    const double t = smallest_unit(means);
    std::vector<double> evidence;
    for (const Means& one : means)
        evidence.push_back(evidence_of(one, t));
    audit.slope = fitted_slope(evidence);
    std::span<const std::uint8_t> labels = training.labels;
    if (test.count > 0) {
        found = index.search(test, {.vote = false, .token = token});
        audit.neighbors = std::move(found.neighbors);
        labels = test_labels;
        means = means_by(test, labels);
    }
    for (std::size_t i = 0; i < means.size(); ++i) {
        const double against = evidence_of(means[i], t);
        audit.images.push_back({static_cast<std::int64_t>(i), labels[i], means[i].suggested, against,
                                wrong_probability(against, audit.slope)});
    }
    std::ranges::stable_sort(audit.images, std::greater<>(), &Suspicion::evidence);
    audit.plan = found.plan;
    audit.search_ms = ms_since(start);
    return audit;
}

std::vector<std::int64_t> plant_wrong_labels(std::span<std::uint8_t> labels, std::int64_t n,
                                             std::uint64_t seed) {
    const std::vector<std::uint8_t> classes = occurring_labels({labels});
    if (n > std::ssize(labels))
        throw UsageError("§plant " + std::to_string(n) + ": more than the " +
                         counted(std::ssize(labels), "label") + "; expected at most that many");
    if (classes.size() < 2)
        throw UsageError("§plant " + std::to_string(n) +
                         ": all labels are the same; expected at least two classes");
    // Of the library's generators the bits are defined, of its distributions they are not.
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> places(labels.size());
    std::iota(places.begin(), places.end(), 0);
    for (std::int64_t i = 0; i < n; ++i) {
        const auto left = static_cast<std::uint64_t>(std::ssize(labels) - i);
        std::swap(places[at(i)], places[at(i) + random() % left]);
        std::uint8_t& label = labels[at(places[at(i)])];
        std::uint8_t other = classes[random() % (classes.size() - 1)];
        if (other >= label) other = *std::upper_bound(classes.begin(), classes.end(), other);
        label = other;
    }
    places.resize(at(n));
    std::sort(places.begin(), places.end());
    return places;
}

}  // namespace knn
