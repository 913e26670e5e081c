#include "classifier/score.h"

#include <array>
#include <stdexcept>

#include "classifier/statistics.h"

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

}  // namespace knn
