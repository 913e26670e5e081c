#include "classifier/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "classifier/vote.h"
#include "data/core/clock.h"
#include "data/core/format.h"

namespace knn {

namespace {

double ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Class `c` against the rest, from its row and column of the confusion matrix.
ClassScore class_score(const Score& score, std::size_t c) {
    ClassScore result;
    result.label = score.labels[c];
    std::int64_t predicted = 0;
    for (std::size_t i = 0; i < score.labels.size(); ++i) {
        result.support += score.confusion[c][i];
        predicted += score.confusion[i][c];
    }
    const std::int64_t hits = score.confusion[c][c];
    result.precision = ratio(hits, predicted);
    result.recall = ratio(hits, result.support);
    result.f1 = ratio(2 * hits, predicted + result.support);  // = 2pr / (p + r)
    return result;
}

}  // namespace

Interval wilson_interval(std::int64_t count, std::int64_t total) {
    if (total == 0) return {};
    constexpr double z = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
    const double n = static_cast<double>(total), p = static_cast<double>(count) / n;
    const double center = p + z * z / (2 * n);
    const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    const double scale = 1 + z * z / n;
    // At the ends the interval reaches 0 or 1 exactly, which rounding would miss.
    return {count == 0 ? 0 : (center - half) / scale, count == total ? 1 : (center + half) / scale};
}

double mcnemar_p(std::int64_t only_a, std::int64_t only_b) {
    const std::int64_t n = only_a + only_b, fewer = std::min(only_a, only_b);
    // Relative to the largest term, the last: C(n, i - 1) = C(n, i) · i / (n - i + 1).
    double sum = 1, term = 1;
    for (std::int64_t i = fewer; i > 0 && term > 0; --i) {
        term *= static_cast<double>(i) / static_cast<double>(n - i + 1);
        sum += term;
    }
    const auto whole = static_cast<double>(n), part = static_cast<double>(fewer);
    const double log_largest = std::lgamma(whole + 1) - std::lgamma(part + 1) -
                               std::lgamma(whole - part + 1) - whole * std::log(2.0);
    return std::min(1.0, 2 * std::exp(log_largest + std::log(sum)));
}

Comparison compare(std::span<const Vote> a, std::span<const Vote> b, std::span<const std::uint8_t> truth) {
    if (a.size() != truth.size() || b.size() != truth.size())
        throw std::invalid_argument("two votes for each true label were expected");
    Comparison result;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const bool a_right = a[i].label == truth[i], b_right = b[i].label == truth[i];
        ++(a_right ? (b_right ? result.both_right : result.only_a)
                   : (b_right ? result.only_b : result.both_wrong));
        if (a_right != b_right)
            result.disagreements.push_back({static_cast<std::int64_t>(i), truth[i], a[i].label, b[i].label});
    }
    result.p_value = mcnemar_p(result.only_a, result.only_b);
    return result;
}

Score score(std::span<const Vote> votes, std::span<const std::uint8_t> truth,
            std::span<const std::uint8_t> labels) {
    if (votes.size() != truth.size())
        throw std::invalid_argument("one vote for each true label was expected");
    Score score;
    score.labels.assign(labels.begin(), labels.end());
    score.total = static_cast<std::int64_t>(votes.size());
    std::array<std::size_t, 256> class_of_label;
    class_of_label.fill(labels.size());
    for (std::size_t c = 0; c < labels.size(); ++c)
        class_of_label[labels[c]] = c;
    score.confusion.assign(labels.size(), std::vector<std::int64_t>(labels.size(), 0));
    for (std::size_t i = 0; i < votes.size(); ++i) {
        score.confusion.at(class_of_label[truth[i]]).at(class_of_label[votes[i].label]) += 1;
        score.correct += votes[i].label == truth[i] ? 1 : 0;
    }
    score.accuracy = ratio(score.correct, score.total);
    const Interval interval = wilson_interval(score.correct, score.total);
    score.accuracy_low = interval.low;
    score.accuracy_high = interval.high;
    for (std::size_t c = 0; c < labels.size(); ++c)
        score.per_class.push_back(class_score(score, c));
    return score;
}

Evaluation scored(const Index& index, Results found, const Dataset& data) {
    Evaluation evaluation;
    evaluation.data = &data;
    evaluation.n_train = index.training().rows.count;
    evaluation.n_test = std::ssize(found.votes);
    evaluation.created = utc_now();
    evaluation.method = index.method();
    Timeline whole = index.opening();
    whole.add(found.timeline);
    found.timeline = std::move(whole);
    found.search_ms += index.open_ms();
    evaluation.score = score(found.votes, data.test.labels.span().first(found.votes.size()), data.labels);
    evaluation.score.classes = data.classes;
    evaluation.found = std::move(found);
    return evaluation;
}

void add_confidence(Evaluation& evaluation, const Index& index, const ProgressToken& token) {
    const auto start = Clock::now();
    const Confidence confidence = fitted_confidence(index, token);
    evaluation.calibrated = confidence.fitted();
    evaluation.confidence.clear();
    for (const ConfidenceFeatures& answer : evaluation.found.confidence_features)
        evaluation.confidence.push_back(confidence.probability(answer));
    evaluation.found.timeline.add_since("confidence", start);
}

std::vector<std::uint8_t> right_answers(const Evaluation& evaluation) {
    const std::uint8_t* truth = evaluation.data->test.labels.data();
    std::vector<std::uint8_t> right;
    for (const Vote& vote : evaluation.found.votes)
        right.push_back(vote.label == *truth++);
    return right;
}

std::vector<VoteShare> vote_shares(std::span<const Neighbor> neighbors, const std::uint8_t* labels,
                                   Weights weights, const Measure& measure) {
    const std::uint32_t nearest = neighbors.front().distance;
    std::array<double, 256> sums{};
    for (const Neighbor& neighbor : neighbors)
        sums[labels[neighbor.index]] += vote_weight(neighbor.distance, nearest, weights, measure);
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    std::vector<VoteShare> shares;
    for (int label = 0; label < 256; ++label)
        if (const double sum = sums[static_cast<std::size_t>(label)]; sum > 0)
            shares.push_back({label, sum / total});
    std::ranges::stable_sort(shares, std::greater<>(), &VoteShare::share);
    return shares;
}

}  // namespace knn
