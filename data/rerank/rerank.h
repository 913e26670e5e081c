#pragma once
/// Re-ranking: the candidates that a search found are ordered again by a distance that lets pixels move. This file
/// has the names and parameters; descriptor.h says what is computed once for each image, distance.h what for a pair.
/// `spread` scales the distances of the search instead (spread.h) and needs no descriptors.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "data/core/names.h"
#include "data/core/problem.h"
#include "data/core/rows.h"
#include "data/rerank/spread.h"

namespace knn {

enum class Reranker { none, distortion, cells, both, spread };
template <>
struct Names<Reranker> {
    static constexpr std::array list{"none", "distortion", "cells", "both", "spread"};
};

/// Defaults were chosen by leave-one-out on MNIST's training set (docs/rerank.md).
struct Rerank {
    Reranker kind = Reranker::none;
    int candidates = 96;  ///< how many the search finds, min_candidates..max_k
    int step = 2;    ///< of `distortion`: gradients are summed over step × step pixels and compared in steps
    int window = 2;  ///< of `distortion`: the largest displacement, in pixels
    int context = 1;          ///< of `distortion`: (2 · context + 1)² points of the grid move together
    bool density = true;      ///< distances are divided by the fourth root of the candidate's own (density.h)
    ClassSpread spread = {};  ///< of `spread`

    bool has_gradients() const { return kind == Reranker::distortion || kind == Reranker::both; }
    bool has_cells() const { return kind == Reranker::cells || kind == Reranker::both; }
    bool has_descriptors() const { return has_gradients() || has_cells(); }
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

/// "both", "spread:10:mean:times:-0.5": what users write, and reports repeat.
std::string reranker_text(const Rerank& rerank);
/// Reads it into `rerank`, whose other parameters stay. Throws UsageError, which begins with `option` and `text`.
void read_reranker(std::string_view option, std::string_view text, Rerank& rerank);
/// "none, distortion, ..., spread[:N:mean|deviation:times|plus:W]".
std::string reranker_names();

/// Why the parameters are out of range.
Refusal refuse_rerank(const Rerank& rerank);

}  // namespace knn
