#pragma once
/// Two diagrams of what confidences are worth: how often answers are right that are so sure, and how many errors are left
/// if the least sure answers are rejected.

#include "app/report/drawing.h"
#include "classifier/evaluation.h"

namespace knn {

/// Without test images both are empty.
Drawing trust_plot(const Evaluation& evaluation);

}  // namespace knn
