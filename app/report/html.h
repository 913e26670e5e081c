#pragma once
/// The report as one page that needs nothing else: no network, no second file.

#include <string>

#include "app/report/evaluation.h"

namespace knn {

/// The confusion matrix, the timing bars and the misclassified digits with their neighbors.
std::string html_page(const Evaluation& evaluation);

}  // namespace knn
