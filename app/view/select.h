#pragma once
/// Which digits `view` shows, and in which order.

#include <string>

#include "app/cli/options.h"
#include "app/report/html.h"
#include "classifier/evaluation.h"

namespace knn {

/// The test images that the options select, in their order.
struct Selection {
    Gallery gallery;          ///< at most --limit images
    std::int64_t found = 0;   ///< images that pass the filters
    std::string description;  ///< "misclassified, true label 4, predicted 9"
};

/// Throws UsageError if a label is not one of the classes or an index is beyond the last test image.
/// `limit`: 0 for all.
Selection select(const Evaluation& evaluation, const ViewOptions& options, std::int64_t limit);

/// Sorts test images into the order.
void sort_images(std::vector<std::int64_t>& images, const Evaluation& evaluation, Order order);

}  // namespace knn
