#pragma once
/// What the server answers with: the command opens it, the routes use it.

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "classifier/evaluation.h"
#include "classifier/picture_answers.h"

namespace knn::web {

/// The classified test set.
struct TestAnswers {
    const Evaluation* evaluation = nullptr;
    /// Finds the neighbors of these test images, unless they are known.
    std::function<void(const std::vector<std::int64_t>&)> complete;
    std::shared_ptr<const void> owner;
};

struct Model {
    PictureAnswers frame;  ///< the training set and the method; no pictures
    bool rejects = true;   ///< pictures without a digit are not searched
    /// Searches for all digits at once and writes the answers into them; from several threads.
    std::function<void(std::span<Answer* const>)> search;
    /// Then, of all digits of the pictures, chooses the answers.
    std::function<void(std::span<PictureAnswer>)> choose;
    nlohmann::ordered_json info;  ///< of GET /v1/info
    /// Classifies the test set, which takes seconds. Throws DataError where there is none.
    std::function<TestAnswers()> classify_test_set;
};

}  // namespace knn::web
