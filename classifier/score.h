#pragma once
/// Right and wrong, counted.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/voting.h"

namespace knn {

struct ClassScore {
    int label = 0;
    double precision = 0, recall = 0, f1 = 0;  ///< 0 where nothing was predicted or nothing is there
    std::int64_t support = 0;
};

/// Right and wrong, counted. Rows and columns of the confusion matrix stand for `labels`, in that order.
struct Score {
    std::vector<std::uint8_t> labels;  ///< the classes, ascending
    std::int64_t correct = 0, total = 0;
    double accuracy = 0;                               ///< correct / total
    double accuracy_low = 0, accuracy_high = 0;        ///< 95 % Wilson score interval
    std::vector<std::vector<std::int64_t>> confusion;  ///< [true][predicted]
    std::vector<ClassScore> per_class;

    std::size_t class_of(std::uint8_t label) const;  ///< position in `labels`; throws std::out_of_range
};
Score score(std::span<const Vote> votes, std::span<const std::uint8_t> truth,
            std::span<const std::uint8_t> labels);

}  // namespace knn
