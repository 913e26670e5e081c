#include "cpu/rerank/scaled.h"

#include "cpu/rerank/order.h"

namespace knn::cpu {

Neighbors scaled(const Rerank& rerank, const Neighbors& candidates, std::span<const std::int64_t> terms,
                 int k, int threads) {
    return ordered_again(candidates, k, threads, {}, [&](int, std::int64_t, std::span<Neighbor> row) {
        for (Neighbor& one : row)
            one.distance = scaled_by_spread(rerank.spread.by, one.distance, terms[one.index]);
    });
}

}  // namespace knn::cpu
