#include "cpu/rerank/order.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu/threads.h"
#include "data/core/errors.h"

namespace knn::cpu {

Neighbors ordered_again(const Neighbors& candidates, int k, int threads, const Watch& watch,
                        const Rescore& rescore) {
    if (k < 1 || k > candidates.k)
        throw std::invalid_argument("k = " + std::to_string(k) + " of " + std::to_string(candidates.k) +
                                    " candidates");
    const std::int64_t n = candidates.n_query;
    try {
        Neighbors nearest(n, k);
        Team team(team_size(threads, n, queries_at_once), watch, n, 1);
        team.run_pieces(n, queries_at_once, [&](int thread, std::int64_t first, std::int64_t last) {
            std::vector<Neighbor> row;
            for (std::int64_t q = first; q < last; ++q) {
                row.assign(candidates.row(q).begin(), candidates.row(q).end());
                rescore(thread, q, row);
                std::partial_sort_copy(row.begin(), row.end(), nearest.row(q).begin(), nearest.row(q).end());
            }
            team.advance(thread, last - first);
        });
        return nearest;
    } catch (const std::bad_alloc&) {
        throw_out_of_memory(n);
    }
}

void throw_out_of_memory(std::int64_t images) {
    throw DataError("memory: re-ranking of " + std::to_string(images) +
                    " images ran out of it; expected more, or fewer images");
}

}  // namespace knn::cpu
