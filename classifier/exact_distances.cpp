#include "classifier/exact_distances.h"

#include <limits>

#include "cpu/host/threads.h"

namespace knn {

std::vector<double> exact_distances(const Rows& train, const Rows& queries, const Neighbors& neighbors,
                                    const Measure& measure, int threads, const ProgressToken& token) {
    constexpr std::int64_t piece = 64;
    std::vector<double> distances(neighbors.rows.size());
    cpu::for_rows(neighbors.n_query, piece, threads, token.stop, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t q = first; q < last; ++q) {
            double* to = distances.data() + q * neighbors.k;
            for (const Neighbor& one : neighbors.row(q)) {
                if (one == no_neighbor)
                    *to = std::numeric_limits<double>::infinity();
                else if (!measure.real)
                    *to = distance_of(measure, one.distance);
                else
                    *to = shown_distance(
                        measure,
                        exact_distance(measure, queries.row(q), train.row(one.index), train.dim, train.type));
                ++to;
            }
        }
    });
    return distances;
}

}  // namespace knn
