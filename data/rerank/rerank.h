#pragma once
/// Re-ranking: the candidates that a search found are ordered again by a distance that lets pixels move. This file
/// has the names and parameters; descriptor.h says what is computed once for each image, distance.h what for a pair.

#include <array>
#include <cstdint>
#include <span>

#include "data/core/names.h"
#include "data/core/problem.h"
#include "data/core/rows.h"

namespace knn {

enum class Reranker { none, distortion, cells, both };
template <>
struct Names<Reranker> {
    static constexpr std::array list{"none", "distortion", "cells", "both"};
};

/// Defaults were chosen by leave-one-out on MNIST's training set (docs/rerank.md).
struct Rerank {
    Reranker kind = Reranker::none;
    int candidates = 96;  ///< how many the search finds, min_candidates..max_k
    int step = 2;    ///< of `distortion`: gradients are summed over step × step pixels and compared in steps
    int window = 2;  ///< of `distortion`: the largest displacement, in pixels
    int context = 1;      ///< of `distortion`: (2 · context + 1)² points of the grid move together
    bool density = true;  ///< distances are divided by the fourth root of the candidate's own (density.h)

    bool has_gradients() const { return kind == Reranker::distortion || kind == Reranker::both; }
    bool has_cells() const { return kind == Reranker::cells || kind == Reranker::both; }
    friend bool operator==(const Rerank&, const Rerank&) = default;
};

/// Whether both give a pair the same distance.
constexpr bool same_distance(const Rerank& a, const Rerank& b) {
    return a.kind == b.kind && a.step == b.step && a.window == b.window && a.context == b.context;
}

inline constexpr int min_candidates = 10;
inline constexpr int max_step = 2, max_window = 4, max_context = 2;

struct RerankInfo {
    Reranker kind;
    const char* summary;
};
std::span<const RerankInfo> rerankers();

/// Why the parameters are out of range.
Refusal refuse_rerank(const Rerank& rerank);

}  // namespace knn
