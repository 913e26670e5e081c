#pragma once
/// A generated evaluation, to test the forms of the report.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "classifier/evaluation.h"

namespace knn::test {

struct SampleOptions {
    int classes = 10, k = 5;
    std::int64_t n_train = 300, n_test = 400;
    int rows = 9, cols = 7;  ///< of an image: not square, so that a swap shows
    double error_rate = 0.1;
    std::vector<std::string> names = {};  ///< of the classes; empty: they are numbers
};

/// The evaluation and the data set it points to.
struct Sample {
    std::unique_ptr<Dataset> data;
    Evaluation evaluation;
};

/// All its numbers are consistent: confusion, scores and votes come from the same labels.
Sample sample_evaluation(const SampleOptions& options = {});

}  // namespace knn::test
