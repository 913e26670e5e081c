#pragma once
/// Candidates to be ordered again, and what re-ranking has to make of them.

#include <algorithm>
#include <random>
#include <string>
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
inline std::vector<std::uint8_t> descriptor_bytes(const std::vector<RerankMaps>& maps, RerankKind kind) {
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

/// Queries and candidates at random, and what re-ranking has to make of them.
struct RerankProblem {
    RerankSpec rerank;
    ImageShape shape;
    std::vector<std::uint8_t> train, queries;
    int k;
    std::vector<RerankMaps> train_maps, query_maps;
    Neighbors candidates;
    std::vector<std::uint32_t> density;  ///< of the training images, or empty
    Reranked expected;

    /// `count`: candidates of each query.
    RerankProblem(RerankKind kind, ImageShape shape_, std::vector<std::uint8_t> train_,
                  std::vector<std::uint8_t> queries_, int count, int k_, bool has_density,
                  std::mt19937& random)
        : rerank{.kind = kind},
          shape(shape_),
          train(std::move(train_)),
          queries(std::move(queries_)),
          k(k_),
          train_maps(maps_of(train, shape)),
          query_maps(maps_of(queries, shape)),
          candidates(random_candidates(std::ssize(query_maps), count,
                                       static_cast<std::uint32_t>(train_maps.size()), random)) {
        for (std::size_t i = 0; has_density && i < train_maps.size(); ++i)
            density.push_back(16384 + static_cast<std::uint32_t>(random() % 49153));
        expected = reranked(candidates, density, k, [&](std::size_t q, std::uint32_t index) {
            return rerank_distance(query_maps[q], train_maps[index], kind);
        });
    }
    knn::Rows train_rows() const { return {train.data(), std::ssize(train_maps), shape.dim()}; }
    knn::Rows query_rows() const { return {queries.data(), std::ssize(query_maps), shape.dim()}; }
    std::string text() const {
        return std::string(name(rerank.kind)) + " on " + std::to_string(shape.rows) + "x" +
               std::to_string(shape.cols) + ", " + std::to_string(candidates.k) + " candidates, k " +
               std::to_string(k) + (density.empty() ? "" : ", density");
    }
};

}  // namespace knn::test
