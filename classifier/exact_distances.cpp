#include "classifier/exact_distances.h"

#include <algorithm>
#include <limits>

#include "cpu/host/threads.h"
#include "data/core/round_up.h"

namespace knn {

double exact_distance_to(const Rows& train, const Neighbor& one, const Rows& query, const Measure& measure) {
    if (one == no_neighbor) return std::numeric_limits<double>::infinity();
    if (!measure.real) return distance_of(measure, one.distance);
    return exact_distance(measure, query.pixels, train.row(one.index), train.dim, train.type);
}

Uninitialized<double> exact_distances(const Rows& train, const Rows& queries, const Neighbors& neighbors,
                                      const Measure& measure, int threads, const ProgressToken& token,
                                      bool shown) {
    constexpr std::int64_t elements = 1 << 18;  // between two looks at the token
    Uninitialized<double> distances(neighbors.rows.size());
    const std::int64_t piece = std::max<std::int64_t>(elements / std::max<std::int64_t>(train.dim, 64), 1);
    const auto distance = [&](std::int64_t i) {
        const double exact =
            exact_distance_to(train, neighbors.rows[at(i)], queries.slice(i / neighbors.k, 1), measure);
        return shown && measure.real ? shown_distance(measure, exact) : exact;
    };
    cpu::for_rows(std::ssize(distances), piece, threads, token.stop,
                  [&](std::int64_t first, std::int64_t last) {
                      for (std::int64_t i = first; i < last; ++i)
                          distances[at(i)] = distance(i);
                  });
    return distances;
}

}  // namespace knn
