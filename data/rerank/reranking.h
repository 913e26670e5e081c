#pragma once
/// A re-ranker and what it knows of the training set.

#include <cstdint>
#include <vector>

#include "data/core/neighbors.h"
#include "data/rerank/descriptor.h"

namespace knn {

struct Reranking {
    Rerank rerank;
    Descriptors train = {};  ///< of the training images; empty: made where they are needed
    std::span<const std::uint32_t> density =
        {};                                     ///< density_factors of the training images, if it has density
    std::span<const std::int64_t> spread = {};  ///< spread_terms of the training images, if it is `spread`

    /// How many neighbors have to be searched for k, among `n_train` images of which one may be excluded.
    int candidates(int k, std::int64_t n_train, bool exclude) const {
        const std::int64_t wanted = k > rerank.candidates ? k : rerank.candidates;
        const std::int64_t limit = n_train - (exclude ? 1 : 0);
        return static_cast<int>(wanted < limit ? wanted : limit);
    }
};

/// Candidates of each query, to order again; what they refer to must outlive this.
struct RerankWork {
    Rerank rerank;
    ImageShape shape;
    Rows train, queries;  ///< pixels
    const Neighbors& candidates;
};

}  // namespace knn
