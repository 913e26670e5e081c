#pragma once
/// What was counted of a k-nearest-neighbor graph, for people and machines.

#include <string>

#include "app/report/drawing.h"
#include "classifier/graph.h"

namespace knn {

std::string graph_text(const GraphResult& graph, std::span<const std::uint8_t> labels);

/// Schema mnist-knn/graph/1.
std::string graph_json(const GraphResult& graph, std::span<const std::uint8_t> labels);

/// How many points have how many in-edges, as bars: each range of in-degrees is twice as wide as the one before.
Drawing graph_plot(const GraphResult& graph);

}  // namespace knn
