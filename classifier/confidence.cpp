#include "classifier/confidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "classifier/cholesky.h"
#include "classifier/extra_rows.h"
#include "classifier/host.h"
#include "data/core/format.h"

namespace knn {

Calibration calibration(std::span<const double> confidences, std::span<const std::uint8_t> right) {
    constexpr std::size_t n_bins = 15;
    Calibration result;
    for (std::size_t i = 0; i < n_bins; ++i)
        result.bins.push_back({.low = double(i) / n_bins, .high = double(i + 1) / n_bins});
    for (std::size_t i = 0; i < confidences.size(); ++i) {
        const auto place = static_cast<std::size_t>(confidences[i] * n_bins);
        CalibrationBin& bin = result.bins[std::min(place, n_bins - 1)];
        ++bin.count;
        bin.confidence += confidences[i];
        bin.accuracy += right[i];
    }
    for (CalibrationBin& bin : result.bins) {
        if (bin.count == 0) continue;
        const auto n = static_cast<double>(bin.count);
        result.expected_calibration_error +=
            std::abs(bin.accuracy - bin.confidence) / static_cast<double>(confidences.size());
        bin.confidence /= n;
        bin.accuracy /= n;
    }
    // As reports have it: a half is then rounded in one way wherever it is shown.
    result.expected_calibration_error = with_digits(result.expected_calibration_error, 9);
    return result;
}

namespace {

using Inputs = Confidence::Inputs;
constexpr std::size_t size = Confidence::n_inputs + 1;
constexpr int max_steps = 50, max_halvings = 30;
constexpr double smallest_step = 1e-9;

/// Of each weight; 0: any. Without them the few errors of a good method can make it the other way round, and a query that a
/// training row all but equals, as none in the sample does, is the least certain of all.
constexpr Inputs signs{0, 1, -1, 1, 1, 0};

Inputs inputs_of(const ConfidenceFeatures& answer) {
    return {1,
            answer.share,
            answer.distance,
            answer.margin * (1 - answer.alone),
            answer.margin * answer.alone,
            answer.alone};
}

double product(const Inputs& a, const Inputs& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double probability_of(double z) {
    return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
}

/// log(1 + exp(z)) without overflow.
double softplus(double z) {
    return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
}

/// Scaled inputs, with how much each counts as right and as wrong.
struct Example {
    Inputs x;
    double right, wrong;
};

/// The logarithm of the likelihood times the prior.
double objective(const std::vector<Example>& examples, const Inputs& weights) {
    double sum = 0;
    for (const Example& one : examples) {
        const double z = product(one.x, weights);
        sum -= one.right * softplus(-z) + one.wrong * softplus(z);
    }
    for (std::size_t i = 1; i < size; ++i)
        sum -= weights[i] * weights[i] / 2;
    return sum;
}

Inputs newton_step(const std::vector<Example>& examples, const Inputs& weights) {
    std::array<Inputs, size> curvature{};
    Inputs slope{};
    for (std::size_t i = 1; i < size; ++i) {
        curvature[i][i] = 1;
        slope[i] = -weights[i];
    }
    for (const Example& one : examples) {
        const double p = probability_of(product(one.x, weights));
        const double all = one.right + one.wrong, pull = one.right - all * p, bend = all * p * (1 - p);
        for (std::size_t i = 0; i < size; ++i) {
            slope[i] += pull * one.x[i];
            for (std::size_t j = 0; j <= i; ++j)
                curvature[i][j] += bend * one.x[i] * one.x[j];
        }
    }
    solve_by_cholesky(curvature, slope);
    return slope;
}

Inputs fitted_weights(const std::vector<Example>& examples) {
    Inputs weights{};
    double best = objective(examples, weights);
    for (int step = 0; step < max_steps; ++step) {
        Inputs move = newton_step(examples, weights), next{};
        for (int halving = 0;; ++halving) {
            for (std::size_t i = 0; i < size; ++i)
                next[i] = weights[i] + move[i];
            if (const double value = objective(examples, next); value > best) {
                best = value;
                break;
            }
            if (halving == max_halvings) return weights;
            for (double& one : move)
                one /= 2;
        }
        weights = next;
        if (std::all_of(move.begin(), move.end(), [](double m) { return std::abs(m) < smallest_step; }))
            break;
    }
    return weights;
}

}  // namespace

Confidence::Confidence(const LeaveOneOut& sample) : fitted_(!sample.empty()) {
    if (sample.empty()) return;
    const auto n = static_cast<double>(sample.size());
    for (const SampledAnswer& answer : sample) {
        const Inputs x = inputs_of(answer.confidence_features);
        for (std::size_t i = 0; i < size; ++i)
            fit_.means[i] += x[i] / n;
    }
    for (const SampledAnswer& answer : sample) {
        const Inputs x = inputs_of(answer.confidence_features);
        for (std::size_t i = 0; i < size; ++i)
            fit_.deviations[i] += (x[i] - fit_.means[i]) * (x[i] - fit_.means[i]) / n;
    }
    for (double& deviation : fit_.deviations)
        deviation = deviation > 1e-18 ? std::sqrt(deviation) : 0;  // 0: the same for all, says nothing
    for (;;) {
        std::vector<Example> examples;
        examples.reserve(sample.size() + 1);
        for (const SampledAnswer& answer : sample)
            examples.push_back(
                {scaled(answer.confidence_features), double(answer.right), double(1 - answer.right)});
        examples.push_back({{1}, 0.5, 0.5});
        fit_.weights = fitted_weights(examples);
        std::size_t most_wrong = 0;
        double least = 0;
        for (std::size_t i = 1; i < size; ++i)
            if (const double weight = fit_.weights[i] * signs[i]; weight < least)
                least = weight, most_wrong = i;
        if (most_wrong == 0) break;
        fit_.deviations[most_wrong] = 0;
    }
}

Inputs Confidence::scaled(const ConfidenceFeatures& answer) const {
    Inputs x = inputs_of(answer);
    for (std::size_t i = 1; i < size; ++i)
        x[i] = fit_.deviations[i] > 0 ? (x[i] - fit_.means[i]) / fit_.deviations[i] : 0;
    return x;
}

double Confidence::probability(const ConfidenceFeatures& answer) const {
    if (!fitted_) return answer.share;
    const double p = probability_of(product(scaled(answer), fit_.weights));
    return std::clamp(std::round(p * 1e6), 1.0, 999'999.0) / 1e6;
}

Confidence fitted_confidence(const Index& index, const ProgressToken& token) {
    const TrainingSet& set = index.set();
    const Method& method = index.method();
    if (const auto kept = set.find<Confidence::Weights>(Fitted::confidence, method, 1); !kept.empty())
        return Confidence(kept.front());
    if (const auto sample = find_sample(set, method)) return Confidence(*sample);
    const Confidence confidence(leave_one_out(index, nullptr, token));
    if (confidence.fitted())
        set.keep<Confidence::Weights>(Fitted::confidence, method, {&confidence.weights(), 1});
    return confidence;
}

AnswerScorer::AnswerScorer(const Index& index, const LeaveOneOut& sample, const ExtraRows* extra)
    : index_(index),
      extra_(extra),
      compared_(extra != nullptr ? extra->compared() : compared_rows(index)),
      confidence_(sample),
      rejection_(sample) {}

double AnswerScorer::probability(const Results& found, std::int64_t query) const {
    return confidence_.probability(found.confidence_features[static_cast<std::size_t>(query)]);
}

NoveltyTest AnswerScorer::test(const Results& found, std::int64_t query, const std::uint8_t* pixels,
                               std::optional<double> loss) const {
    const auto at = static_cast<std::size_t>(query);
    const bool has_features = found.features.count() > 0;
    std::vector<std::uint8_t> made;
    if (const FittedTransform* transform = index_.training().transform; !has_features && transform != nullptr)
        made = features(*transform, {pixels, 1, index_.set().images().dim}, 1);
    const std::uint8_t* row = has_features   ? found.features.rows.row(query)
                              : made.empty() ? pixels
                                             : made.data();
    const ConfidenceFeatures& confidence_features = found.confidence_features[at];
    const double unlike = novelty_score(row, compared_, found.voters(query), found.votes[at].label);
    NoveltyTest test{rejection_.p_value(confidence_features, unlike), ""};
    if (loss) test.reason = rejection_.reason(confidence_features, unlike, *loss);
    return test;
}

}  // namespace knn
