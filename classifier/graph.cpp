#include "classifier/graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/core/clock.h"
#include "data/core/round_up.h"

namespace knn {

namespace {

/// Whether the edge from `point` to `neighbor` has a reverse; `last` is the last neighbor of the other end.
bool is_mutual(const NeighborOrder& is_before, std::int64_t point, const Neighbor& neighbor,
               const ComparedNeighbor& last) {
    return !is_before(neighbor.index, last, Neighbor{neighbor.distance, static_cast<std::uint32_t>(point)});
}

}  // namespace

std::int64_t points_of_part(const Rows& points, int k) {
    constexpr std::int64_t bytes = std::int64_t{64} << 20;
    const std::int64_t row_bytes = k * std::int64_t{sizeof(Neighbor)};
    return std::max<std::int64_t>(std::max(bytes, points.count * points.dim) / row_bytes, 1);
}

GraphSearch search_graph(const Index& index, Timeline& timeline, const ProgressToken& token,
                         const std::function<void(std::int64_t first, const Neighbors& part)>& take,
                         std::int64_t most) {
    const Rows& points = index.training().rows;
    if (most == 0) most = points_of_part(points, index.method().vote.k);
    GraphSearch search;
    for (std::int64_t first = 0; first < points.count; first += most) {
        const std::int64_t n = std::min(most, points.count - first);
        const auto start = Clock::now();
        const Results found = index.search(Queries::some_of(points, first, n),
                                           {.vote = false, .token = token.part(first, points.count)});
        search.ms += ms_since(start);
        search.plan = found.plan;
        timeline.add(found.timeline);
        take(first, found.neighbors);
    }
    return search;
}

std::int64_t undirected_bytes(std::int64_t n, int k, GraphForm form) {
    const std::int64_t directed = n * k * std::int64_t{sizeof(Neighbor)};
    return (form == GraphForm::symmetric ? 3 : 2) * directed +
           n * (list_bytes + std::int64_t{sizeof(std::uint32_t) + sizeof(ComparedNeighbor)});
}

GraphRows undirected(const Neighbors& directed, GraphForm form, const NeighborOrder& is_before,
                     const ProgressToken& token) {
    GraphRows rows(at(directed.n_query));
    // Rows that grow would take up to twice as much.
    std::vector<std::uint32_t> most(rows.size(), static_cast<std::uint32_t>(directed.k));
    if (form == GraphForm::symmetric)
        for (const Neighbor& j : directed.rows)
            ++most[j.index];
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].reserve(most[i]);
    std::vector<ComparedNeighbor> last;
    last.reserve(rows.size());
    for (std::int64_t i = 0; i < directed.n_query; ++i)
        last.emplace_back(directed.row(i).back());
    for (std::int64_t i = 0; i < directed.n_query; ++i) {
        token.throw_if_stopped();
        for (const Neighbor& j : directed.row(i)) {
            const bool both = is_mutual(is_before, i, j, last[j.index]);
            if (both || form == GraphForm::symmetric) rows[at(i)].push_back(j);
            if (!both && form == GraphForm::symmetric)
                rows[j.index].push_back({j.distance, static_cast<std::uint32_t>(i)});
        }
    }
    std::vector<ComparedNeighbor> sorted;
    for (std::int64_t i = 0; i < directed.n_query; ++i) {
        token.throw_if_stopped();
        std::vector<Neighbor>& row = rows[at(i)];
        sorted.assign(row.begin(), row.end());
        std::sort(sorted.begin(), sorted.end(),
                  [&](const auto& a, const auto& b) { return is_before(i, a, b); });
        std::copy(sorted.begin(), sorted.end(), row.begin());
    }
    return rows;
}

void MutualCounter::row(std::int64_t point, std::span<const Neighbor> neighbors,
                        const NeighborOrder& is_before) {
    last_[at(point)] = neighbors.back();
    for (const Neighbor& neighbor : neighbors)
        pairs_ +=
            neighbor.index < point && is_mutual(is_before, point, neighbor, last_[neighbor.index]) ? 1 : 0;
}

GraphCounter::GraphCounter(std::int64_t n, GraphForm form, std::span<const std::uint8_t> labels)
    : form_(form), labels_(labels), in_degree_(at(n)), parent_(at(n)), has_out_edges_(at(n)) {
    std::iota(parent_.begin(), parent_.end(), 0U);
}

/// Halves the path on the way.
std::uint32_t GraphCounter::root(std::uint32_t point) const {
    while (parent_[point] != point)
        point = parent_[point] = parent_[parent_[point]];
    return point;
}

void GraphCounter::row(std::int64_t point, std::span<const Neighbor> neighbors) {
    const auto i = static_cast<std::uint32_t>(point);
    for (const Neighbor& neighbor : neighbors) {
        ++in_degree_[neighbor.index];
        const std::uint32_t a = root(i), b = root(neighbor.index);
        parent_[std::max(a, b)] = std::min(a, b);
        if (!labels_.empty() && labels_[i] == labels_[neighbor.index]) ++within_class_;
    }
    edges_ += std::ssize(neighbors);
    has_out_edges_[i] = !neighbors.empty();
}

GraphCounts GraphCounter::counts() const {
    GraphCounts counts;
    counts.points = std::ssize(in_degree_);
    counts.edges = form_ == GraphForm::directed ? edges_ : edges_ / 2;
    counts.in_degree = in_degree_;
    std::vector<std::int64_t> size(in_degree_.size());
    for (std::uint32_t i = 0; i < in_degree_.size(); ++i) {
        ++size[root(i)];
        counts.isolated += in_degree_[i] == 0 && !has_out_edges_[i] ? 1 : 0;
    }
    counts.components = std::ssize(size) - std::count(size.begin(), size.end(), 0);
    counts.largest_component = *std::max_element(size.begin(), size.end());
    if (!labels_.empty() && edges_ > 0)
        counts.same_class = static_cast<double>(within_class_) / static_cast<double>(edges_);
    return counts;
}

double GraphCounts::mean_in_degree() const {
    const double sum = std::accumulate(in_degree.begin(), in_degree.end(), 0.0);
    return sum / static_cast<double>(points);
}

double GraphCounts::skewness() const {
    const double mean = mean_in_degree();
    double squares = 0, cubes = 0;
    for (const std::uint32_t degree : in_degree) {
        const double off = degree - mean;
        squares += off * off;
        cubes += off * off * off;
    }
    const auto n = static_cast<double>(points);
    return squares > 0 ? cubes / n / std::pow(squares / n, 1.5) : 0;
}

std::int64_t GraphCounts::without_in_edges() const {
    return std::count(in_degree.begin(), in_degree.end(), 0U);
}

std::vector<std::int64_t> GraphCounts::hubs(std::size_t n) const {
    std::vector<std::int64_t> all(in_degree.size());
    std::iota(all.begin(), all.end(), 0);
    n = std::min(n, all.size());
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(n), {},
                              [&](std::int64_t i) { return std::pair(-std::int64_t{in_degree[at(i)]}, i); });
    all.resize(n);
    return all;
}

}  // namespace knn
