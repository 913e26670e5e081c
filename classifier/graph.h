#pragma once
/// The exact k-nearest-neighbor graph of a set of points with itself, and what can be counted of it.
///
/// Row i has the k nearest of point i among all others, ordered by (distance, index): an edge from i to each.
/// Equal points are told apart by index. Every metric is symmetric bit for bit (data/core/metric.h, exact_distance.h), so the edge
/// from j to i exists exactly if the pair (distance of i and j, i) is not behind the last neighbor of j. The last
/// neighbor of each point is therefore all that is needed to find mutual edges.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "classifier/exact_distances.h"
#include "classifier/index.h"
#include "data/core/names.h"

namespace knn {

/// Which edges: all of them; those whose reverse is one too; those and the reverse of the others.
enum class GraphForm { directed, mutual, symmetric };
template <>
inline constexpr std::array name_list<GraphForm>{"directed", "mutual", "symmetric"};

/// How many points are searched at once where the neighbors of all are not needed together: those of one part have 64 MiB,
/// or as much memory as the points. At least one point.
std::int64_t points_of_part(const Rows& points, int k);

struct GraphSearch {
    double ms = 0;  ///< of the searches alone
    Plan plan;
};
/// Searches all neighbors of all training points of `index`, `most` at a time (0: points_of_part) in their order; `take` gets the
/// first point and the rows of each part. Adds to `timeline`. Throws as Index::search, and what `take` throws.
GraphSearch search_graph(const Index& index, Timeline& timeline, const ProgressToken& token,
                         const std::function<void(std::int64_t first, const Neighbors& part)>& take,
                         std::int64_t most = 0);

/// A row for each point, each in order.
using GraphRows = std::vector<std::vector<Neighbor>>;

/// What a list takes beside its neighbors: its object, and what is kept of its memory.
inline constexpr std::int64_t list_bytes = sizeof(std::vector<Neighbor>) + 2 * sizeof(std::size_t);

/// What the directed graph and one of these forms of it take, at most.
std::int64_t undirected_bytes(std::int64_t n, int k, GraphForm form);

/// The form `mutual` or `symmetric` of a graph. Throws Interrupted.
GraphRows undirected(const Neighbors& directed, GraphForm form, const NeighborOrder& is_before = {},
                     const ProgressToken& token = {});

/// Finds the mutual edges of rows that come in order, with 16 bytes for each point.
class MutualCounter {
  public:
    explicit MutualCounter(std::int64_t n) : last_(static_cast<std::size_t>(n)) {}
    void row(std::int64_t point, std::span<const Neighbor> neighbors, const NeighborOrder& is_before = {});
    /// Pairs that are neighbors of each other.
    std::int64_t pairs() const { return pairs_; }

  private:
    std::vector<ComparedNeighbor> last_;  ///< of the rows so far
    std::int64_t pairs_ = 0;
};

/// What is known of a graph.
struct GraphCounts {
    std::int64_t points = 0;
    std::int64_t edges = 0;                ///< of an undirected form: pairs
    std::vector<std::uint32_t> in_degree;  ///< by point: how many points have it as a neighbor
    std::int64_t components = 0;           ///< connected, whatever the direction of the edges
    std::int64_t largest_component = 0;    ///< points
    std::int64_t isolated = 0;             ///< points without any edge
    std::optional<double> same_class;      ///< share of the edges whose ends have one label

    double mean_in_degree() const;
    /// Of the in-degrees, E[(N - mean)^3] / deviation^3: the hubness of Radovanovic, Nanopoulos and Ivanovic
    /// (Hubs in space, JMLR 11, 2010). 0 if all are equal.
    double skewness() const;
    std::int64_t without_in_edges() const;
    /// The points with the largest in-degrees, at most n, the largest first, then by index.
    std::vector<std::int64_t> hubs(std::size_t n) const;
};

/// Counts rows that come in any order, with 8 bytes for each point. `labels` may be empty.
class GraphCounter {
  public:
    GraphCounter(std::int64_t n, GraphForm form, std::span<const std::uint8_t> labels);
    void row(std::int64_t point, std::span<const Neighbor> neighbors);
    GraphCounts counts() const;

  private:
    std::uint32_t root(std::uint32_t point) const;

    GraphForm form_;
    std::span<const std::uint8_t> labels_;
    std::vector<std::uint32_t> in_degree_;
    mutable std::vector<std::uint32_t> parent_;  ///< of a forest whose trees are the components
    std::vector<bool> has_out_edges_;
    std::int64_t edges_ = 0, within_class_ = 0;
};

}  // namespace knn
