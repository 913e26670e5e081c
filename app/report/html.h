#pragma once
/// The report as one self-contained page: no network, no second file.

#include <cstdint>
#include <string>
#include <vector>

#include "classifier/evaluation.h"

namespace knn {

/// The test images that a page shows as digits, one card each.
struct Gallery {
    std::vector<std::int64_t> images;  ///< indices in the test set, below n_test, right or wrong
    std::string title;                 ///< the heading above them
    std::string order = "confidence";  ///< initially: confidence (highest first), index, or pair (of labels)
};

/// All misclassified images.
Gallery misclassified(const Evaluation& evaluation);

/// The summary, the confusion matrix, the tables of classes and of times, and the digits with their
/// neighbors. A page has at most 1,000 digits with 10 neighbors each, fewer if the images are large, and says
/// so; they are taken from all cells of the matrix in turn, highest confidence first. Throws
/// std::out_of_range if the gallery contains an image that was not classified.
std::string html_page(const Evaluation& evaluation, const Gallery& gallery);
std::string html_page(const Evaluation& evaluation);

}  // namespace knn
