#pragma once
/// Accuracy, confusion matrix and scores of each class.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/voting.h"

namespace knn {

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
};
Score score(std::span<const Vote> votes, std::span<const std::uint8_t> truth,
            std::span<const std::uint8_t> labels);

}  // namespace knn
