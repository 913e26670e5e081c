#include "classifier/vote.h"

#include <bit>
#include <cmath>

#include "cpu/host/threads.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

/// So that logarithms, and sums of weights, are finite.
constexpr double least_real = 1e-300, most_real = 1e300;
/// Of two distances, whatever their unit: those of bytes are never as far apart.
constexpr double most_ratio = 1e40;

double positive_distance(const Measure& measure, std::uint32_t score) {
    const double distance = distance_of(measure, score);
    if (measure.real) return std::clamp(distance, least_real, most_real);
    return std::max(distance, is_integral(measure) ? 1.0 : 1e-9);
}

/// The nearest neighbors of one class.
struct ClassSum {
    std::uint8_t label;
    int count;
    double sum;
};

}  // namespace

double vote_weight(std::uint32_t distance, std::uint32_t nearest, Weights weights, const Measure& measure) {
    if (weights == Weights::uniform) return 1.0;
    if (nearest == 0) return distance == 0 ? 1.0 : 0.0;
    if (!measure.real) return inverse_square(measure, distance);
    const double d = std::ldexp(distance_of(measure, distance), -std::ilogb(distance_of(measure, nearest)));
    return std::max(1.0 / (measure.metric == Metric::l2 ? d : d * d), least_real);
}

Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, const VotingRule& rule,
          const Measure& measure) {
    // Of the labels that are there: to add up and compare 256 sums would take longer than all the rest.
    std::array<double, 256> sums;
    std::array<std::uint64_t, 4> there{};
    const std::uint32_t nearest = neighbors.front().distance;
    for (const Neighbor& neighbor : neighbors) {
        const std::uint8_t label = labels[neighbor.index];
        const double weight = vote_weight(neighbor.distance, nearest, rule.weights, measure);
        std::uint64_t& word = there[label / 64];
        const std::uint64_t bit = std::uint64_t{1} << label % 64;
        sums[label] = (word & bit) == 0 ? weight : sums[label] + weight;
        word |= bit;
    }
    double total = 0, largest = 0;
    std::uint8_t winner = 0;
    for (unsigned i = 0; i < there.size(); ++i)
        for (std::uint64_t bits = there[i]; bits != 0; bits &= bits - 1) {
            const auto label =
                static_cast<std::uint8_t>(64 * i + static_cast<unsigned>(std::countr_zero(bits)));
            total += sums[label];
            if (sums[label] <= largest) continue;
            largest = sums[label];
            winner = label;
        }
    if (rule.tie == Tie::nearest) {
        const auto first = std::find_if(neighbors.begin(), neighbors.end(), [&](const Neighbor& neighbor) {
            return sums[labels[neighbor.index]] == largest;
        });
        winner = labels[first->index];
    }
    return {winner, largest / total};
}

ClassSizes class_sizes(std::span<const std::uint8_t> labels) {
    ClassSizes sizes{};
    for (const std::uint8_t label : labels)
        ++sizes[label];
    return sizes;
}

bool ClassMeans::Mean::is_less(const Mean& other) const {
    return sum * static_cast<std::uint64_t>(other.count) < other.sum * static_cast<std::uint64_t>(count);
}

void ClassMeans::clear() {
    for (const std::uint8_t label : labels_)
        sums_[label].clear();
    labels_.clear();
    most_ = 0;
}

void ClassMeans::add(std::uint8_t label, std::uint32_t distance) {
    std::vector<std::uint64_t>& sums = sums_[label];
    if (sums.empty()) {
        first_[label] = labels_.size();
        labels_.insert(std::lower_bound(labels_.begin(), labels_.end(), label), label);
    }
    sums.push_back((sums.empty() ? 0 : sums.back()) + distance);
    most_ = std::max(most_, static_cast<int>(sums.size()));
    last_ = distance;
}

ClassMeans::Mean ClassMeans::mean(std::uint8_t label, int j) const {
    const std::vector<std::uint64_t>& sums = sums_[label];
    const std::int64_t others = sizes_[label] - 1;
    const int each = std::min(j, most_), count = std::min(static_cast<int>(sums.size()), each);
    const int missing = static_cast<int>(std::clamp<std::int64_t>(others, 1, each)) - count;
    const std::uint64_t sum = sums[static_cast<std::size_t>(count - 1)];
    if (missing <= 0) return {label, sum, count};
    const bool is_small = others < j;
    return {label, sum + static_cast<std::uint64_t>(missing) * last_, is_small ? count + missing : 0};
}

ClassMeans::Mean ClassMeans::least(int j, Tie tie) const {
    Mean least;
    for (const std::uint8_t label : labels_) {
        const Mean one = mean(label, j);
        if (one.count == 0) continue;
        const bool ties = least.count > 0 && !least.is_less(one);
        if (least.count == 0 || one.is_less(least) ||
            (ties && tie == Tie::nearest && first_[label] < first_[least.label]))
            least = one;
    }
    return least;
}

std::uint8_t ClassMeans::label(int j, Tie tie) const {
    return least(j, tie).label;
}

Vote ClassMeans::vote(int j, Tie tie) const {
    const Mean winner = least(j, tie);
    const auto product = [](const Mean& a, const Mean& b) {
        return static_cast<double>(a.sum * static_cast<std::uint64_t>(b.count));
    };
    double total = 0;
    for (const std::uint8_t label : labels_)
        if (const Mean one = mean(label, j); one.count > 0)
            total += winner.is_less(one) ? product(winner, one) / product(one, winner) : 1.0;
    return {winner.label, 1.0 / total};
}

void vote_rows(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
               const VotingRule& rule, const Measure& measure, int threads, std::span<Vote> votes) {
    const bool by_mean = rule.votes == VoteKind::class_mean;
    const ClassSizes sizes = by_mean ? class_sizes(labels) : ClassSizes{};
    cpu::for_lists(std::ssize(votes), k, threads, [&](std::int64_t first, std::int64_t last) {
        ClassMeans means(sizes);
        for (std::int64_t q = first; q < last; ++q) {
            const auto row = neighbors.subspan(at(q * k), at(k));
            means.clear();
            if (by_mean)
                for (const Neighbor& neighbor : row)
                    means.add(labels[neighbor.index], neighbor.distance);
            votes[at(q)] = by_mean ? means.vote(rule.k, rule.tie) : vote(row, labels, rule, measure);
        }
    });
}

std::vector<Vote> votes(const Neighbors& neighbors, std::span<const std::uint8_t> labels,
                        const VotingRule& rule, const Measure& measure, int threads) {
    std::vector<Vote> all(at(neighbors.n_query));
    vote_rows(neighbors.rows, neighbors.k, labels, rule, measure, threads, all);
    return all;
}

ConfidenceFeatures confidence_features(std::span<const Neighbor> neighbors,
                                       std::span<const std::uint8_t> labels, const Vote& vote,
                                       const VotingRule& rule, const Measure& measure) {
    const int j = rule.votes == VoteKind::class_mean ? rule.k : 1;
    std::array<ClassSum, 256> classes;  // few are used, so that a search beats a table of labels
    std::size_t n_classes = 0;
    double sum = 0, last = 0;  // of the nearest k; of the last neighbor
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        last = positive_distance(measure, neighbors[i].distance);
        if (i < at(rule.k)) sum += last;
        const std::uint8_t label = labels[neighbors[i].index];
        const auto end = classes.begin() + std::ptrdiff_t(n_classes);
        const auto one = std::find_if(classes.begin(), end, [&](const auto& c) { return c.label == label; });
        if (one == end) *one = {label, 0, 0}, ++n_classes;
        if (one->count == j) continue;
        ++one->count;
        one->sum += last;
    }
    double own = HUGE_VAL, other = HUGE_VAL;  // distance of the winner's class, and of the nearest other
    for (const ClassSum& one : std::span(classes).first(n_classes)) {
        double& least = one.label == vote.label ? own : other;
        least = std::min(least, one.sum + (j - one.count) * last);
    }
    const bool alone = std::isinf(other);
    const std::size_t nearest = std::min(neighbors.size(), at(rule.k));
    return {.share = vote.vote_share,
            .distance = std::log(sum / static_cast<double>(nearest)),
            .margin = std::log(std::clamp((alone ? j * last : other) / own, 1 / most_ratio, most_ratio)),
            .alone = alone ? 1.0 : 0.0};
}

void confidence_features_of(std::span<const Neighbor> neighbors, int k, std::span<const std::uint8_t> labels,
                            std::span<const Vote> votes, const VotingRule& rule, const Measure& measure,
                            int threads, std::span<ConfidenceFeatures> all) {
    cpu::for_lists(std::ssize(all), k, threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q)
            all[at(q)] =
                confidence_features(neighbors.subspan(at(q * k), at(k)), labels, votes[at(q)], rule, measure);
    });
}

}  // namespace knn
