#pragma once
/// Candidates to be ordered again, and what re-ranking has to make of them.

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "data/core/neighbors.h"
#include "tests/support/rerank_oracle.h"

namespace knn::test {

/// `count` images of 0..n-1 for each query, in any order, with the distances of another search; different ones if there
/// are enough.
inline Neighbors random_candidates(std::int64_t n_query, int count, std::uint32_t n, std::mt19937& random) {
    Neighbors candidates(n_query, count);
    std::vector<std::uint32_t> order(n);
    for (std::uint32_t i = 0; i < n; ++i)
        order[i] = i;
    for (std::int64_t q = 0; q < n_query; ++q) {
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
            candidates.row(q)[i] = {static_cast<std::uint32_t>(random() % 9), order[i % n]};
    }
    return candidates;
}

inline std::vector<RerankMaps> maps_of(const std::vector<std::uint8_t>& images, ImageShape shape) {
    std::vector<RerankMaps> maps;
    for (auto image = images.begin(); image != images.end(); image += shape.dim())
        maps.push_back(rerank_maps(&*image, shape));
    return maps;
}

/// The descriptors of all, one after another.
inline std::vector<std::uint8_t> descriptor_bytes(const std::vector<RerankMaps>& maps, Reranker kind) {
    std::vector<std::uint8_t> all;
    for (const RerankMaps& one : maps) {
        const auto bytes = descriptor_bytes(one, kind);
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

/// What re-ranking has to give.
struct Reranked {
    std::vector<std::uint32_t> scores;  ///< n_query × candidates, not divided
    Neighbors nearest;
};
/// `distance`: of a query and an image.
template <class Distance>
Reranked reranked(const Neighbors& candidates, const std::vector<std::uint32_t>& density, int k,
                  const Distance& distance) {
    Reranked all{{}, Neighbors(candidates.n_query, k)};
    for (std::int64_t q = 0; q < candidates.n_query; ++q) {
        std::vector<std::pair<std::int64_t, std::uint32_t>> row;
        for (const Neighbor& candidate : candidates.row(q)) {
            std::int64_t score = distance(static_cast<std::size_t>(q), candidate.index);
            all.scores.push_back(static_cast<std::uint32_t>(score));
            if (!density.empty()) score = score * density[candidate.index] / 32768;
            row.emplace_back(score, candidate.index);
        }
        std::sort(row.begin(), row.end());
        for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i)
            all.nearest.row(q)[i] = {static_cast<std::uint32_t>(row[i].first), row[i].second};
    }
    return all;
}

}  // namespace knn::test
