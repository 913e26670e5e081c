#pragma once
/// Two classifiers on one test set: which images only one of them gets right.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/voting.h"

namespace knn {

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

}  // namespace knn
