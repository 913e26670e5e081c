#pragma once
/// The result of `evaluate`, from which every form of the report (text, json, csv, picture, html) is made; confidence intervals of
/// error rates, and a test for the difference of two classifiers.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "classifier/confidence.h"
#include "classifier/index.h"
#include "data/core/dataset.h"
#include "data/core/round_up.h"
#include "data/core/voting.h"

namespace knn {

/// A proportion with its confidence interval.
struct Interval {
    double low = 0, high = 0;
};

/// The 95 % Wilson score interval of the share `count` / `total` (E. B. Wilson, 1927); {0, 0} of nothing.
Interval wilson_interval(std::int64_t count, std::int64_t total);

// Accuracy, confusion matrix and scores of each class.

struct ClassScore {
    int label = 0;
    double precision = 0, recall = 0, f1 = 0;  ///< 0 if the class is never predicted or never occurs
    std::int64_t support = 0;
};

/// Rows and columns of the confusion matrix correspond to `labels`, in that order.
struct Score {
    std::vector<std::uint8_t> labels;  ///< the classes, ascending
    std::int64_t correct = 0, total = 0;
    double accuracy = 0;                               ///< correct / total
    double accuracy_low = 0, accuracy_high = 0;        ///< 95 % Wilson score interval
    std::vector<std::vector<std::int64_t>> confusion;  ///< [true][predicted]
    std::vector<ClassScore> per_class;
    std::vector<std::string> classes = {};  ///< names, by label; empty: the labels are numbers

    std::string class_name(int label) const {
        return classes.empty() ? std::to_string(label) : classes[static_cast<std::size_t>(label)];
    }
};
Score score(std::span<const Vote> votes, std::span<const std::uint8_t> truth,
            std::span<const std::uint8_t> labels);

/// McNemar's exact test of two classifiers on the same images, of which `only_a` are right by the first alone and
/// `only_b` by the second alone: if both were equally good, each of these n images would fall to either side with
/// probability 1/2. Returns the probability of a difference at least this large, two-sided:
/// min(1, 2 Σ_{i = 0}^{min(only_a, only_b)} C(n, i) / 2^n). The relative error is below 1e-7 for n up to 10^6.
double mcnemar_p(std::int64_t only_a, std::int64_t only_b);

/// From this p on the difference is not significant.
inline constexpr double significance = 0.05;

// Two classifiers on one test set: which images only one of them gets right.

/// A test image that one of two classifiers gets right and the other wrong.
struct Disagreement {
    std::int64_t index = 0;
    int label = 0, a = 0, b = 0;  ///< the true label and both answers; one of them is the label

    friend bool operator==(const Disagreement&, const Disagreement&) = default;
};

struct Comparison {
    std::int64_t both_right = 0, only_a = 0, only_b = 0, both_wrong = 0;
    double p_value = 1;                       ///< McNemar's exact test
    std::vector<Disagreement> disagreements;  ///< by index

    std::int64_t total() const { return both_right + only_a + only_b + both_wrong; }
};

/// One vote of each for every true label.
Comparison compare(std::span<const Vote> a, std::span<const Vote> b, std::span<const std::uint8_t> truth);

struct Evaluation {
    const Dataset* data = nullptr;  ///< whole; the images that were used are the first `n_train`, `n_test`
    std::int64_t n_train = 0, n_test = 0;
    std::vector<std::string> pictures;  ///< the files of the test images, if they are pictures
    std::int64_t n_named = 0;           ///< with those that were rejected or failed
    std::string created;                ///< ISO 8601, UTC
    Method method;
    Results found;                   ///< timeline and time include opening
    std::vector<double> confidence;  ///< n_test; probabilities that the answers are right, see confidence.h
    bool calibrated = false;  ///< false: there are too few training images, and they are shares of the votes
    Score score;
    double load_ms = 0, wall_ms = 0;

    /// Of a test image: its true label, and the one that it got.
    std::uint8_t truth(std::int64_t image) const { return data->test.labels.data()[image]; }
    std::uint8_t predicted(std::int64_t image) const { return found.votes[at(image)].label; }
};

/// The answers to the first test images of the data set, scored, without confidences.
Evaluation scored(const Index& index, Results found, const Dataset& data);

/// Gives the answers their confidences, fitted by leave-one-out unless the training set has kept the fit.
void add_confidence(Evaluation& evaluation, const Index& index, const ProgressToken& token);

/// 1 or 0 for each test image.
std::vector<std::uint8_t> right_answers(const Evaluation& evaluation);

/// Each label's share of the votes of these neighbors, at least one, the largest first, then the smallest label.
struct VoteShare {
    int label = 0;
    double share = 0;  ///< 0 < share <= 1
};
std::vector<VoteShare> vote_shares(std::span<const Neighbor> neighbors, const std::uint8_t* labels,
                                   Weights weights, const Measure& measure);

}  // namespace knn
