#pragma once
/// A k-nearest-neighbor graph for other programs, and what was counted of it.

#include <iosfwd>
#include <memory>
#include <span>
#include <string>

#include "classifier/graph.h"

namespace knn {

/// Takes all rows of a graph in the order of the points. What it has not yet written, the destructor writes.
class GraphWriter {
  public:
    virtual ~GraphWriter() = default;
    virtual void row(std::int64_t point, std::span<const Neighbor> neighbors) = 0;
};

/// NumPy arrays of n × k, C order: int32 indices; distances as int64 for integral metrics, else float32.
std::unique_ptr<GraphWriter> npy_indices(std::ostream& out, std::int64_t n, int k);
std::unique_ptr<GraphWriter> npy_distances(std::ostream& out, std::int64_t n, int k, const Measure& measure);

/// point,rank,neighbor,distance: points from 0, rank from 1.
std::unique_ptr<GraphWriter> graph_csv(std::ostream& out, const Measure& measure);

/// A MatrixMarket file of n × n: the entry (i, j), counted from 1, is the distance from point i to its neighbor j;
/// entries are integers for integral metrics, else reals. An undirected form is a symmetric matrix, of which the
/// file has the lower triangle. `entries`: edges, for an undirected form pairs.
std::unique_ptr<GraphWriter> graph_matrix(std::ostream& out, std::int64_t n, std::int64_t entries,
                                          GraphForm form, const Measure& measure);

std::string graph_text(const GraphResult& graph, std::span<const std::uint8_t> labels);

/// Schema mnist-knn/graph/1.
std::string graph_json(const GraphResult& graph, std::span<const std::uint8_t> labels);

/// An SVG: how many points have how many in-edges, as bars: each range of in-degrees is twice as wide as the one before.
std::string graph_plot(const GraphResult& graph);

}  // namespace knn
