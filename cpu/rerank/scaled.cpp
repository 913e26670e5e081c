#include "cpu/rerank/scaled.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "cpu/search.h"
#include "cpu/threads.h"
#include "data/core/errors.h"
#include "data/core/round_up.h"

namespace knn::cpu {

namespace {

constexpr std::int64_t queries_at_once = 64;

}  // namespace

Neighbors scaled(const Rerank& rerank, const Neighbors& candidates, std::span<const std::int64_t> terms,
                 int k, int threads) {
    if (k < 1 || k > candidates.k)
        throw std::invalid_argument("k = " + std::to_string(k) + " of " + std::to_string(candidates.k) +
                                    " candidates");
    const std::int64_t n = candidates.n_query;
    const int wanted = threads > 0 ? threads : available_threads();
    try {
        Neighbors nearest(n, k);
        const Watch watch;  // the team keeps a reference
        Team team(static_cast<int>(std::clamp<std::int64_t>(divide_up(n, queries_at_once), 1, wanted)), watch,
                  n, 1);
        team.run_pieces(n, queries_at_once, [&](int, std::int64_t first, std::int64_t last) {
            std::vector<Neighbor> row;
            for (std::int64_t q = first; q < last; ++q) {
                row.assign(candidates.row(q).begin(), candidates.row(q).end());
                for (Neighbor& one : row)
                    one.distance = scaled_by_spread(rerank.spread.by, one.distance, terms[one.index]);
                const auto end = row.begin() + k;
                std::partial_sort(row.begin(), end, row.end());
                std::copy(row.begin(), end, nearest.row(q).begin());
            }
        });
        return nearest;
    } catch (const std::bad_alloc&) {
        throw DataError("memory: re-ranking of " + std::to_string(n) +
                        " images ran out of it; expected more, or fewer images");
    }
}

}  // namespace knn::cpu
