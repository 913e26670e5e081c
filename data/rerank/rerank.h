#pragma once
/// Re-ranking: the candidates that a search found are ordered again by a distance that allows pixels to shift. This file has
/// the names and parameters; descriptor.h says what is computed once for each image, distance.h what for a pair.
/// `spread` scales the distances of the search instead (spread.h) and needs no descriptors.

#include <array>
#include <string>
#include <string_view>

#include "data/core/names.h"
#include "data/core/neighbors.h"
#include "data/core/rows.h"
#include "data/rerank/spread.h"

namespace knn {

enum class RerankKind { none, distortion, cells, both, spread };
template <>
inline constexpr std::array name_list<RerankKind>{"none", "distortion", "cells", "both", "spread"};

/// Defaults were chosen by leave-one-out on MNIST's training set (docs/rerank.md).
struct RerankSpec {
    RerankKind kind = RerankKind::none;
    int candidates = 96;  ///< how many the search finds, min_candidates..max_candidates
    bool density = true;  ///< distances are divided by the fourth root of the candidate's own (density.h)
    LocalScaling spread = {};  ///< of `spread`

    bool has_gradients() const { return kind == RerankKind::distortion || kind == RerankKind::both; }
    bool has_cells() const { return kind == RerankKind::cells || kind == RerankKind::both; }
    bool has_descriptors() const { return has_gradients() || has_cells(); }
    friend bool operator==(const RerankSpec&, const RerankSpec&) = default;
};

inline constexpr int min_candidates = 10, max_candidates = 1024;

/// "both", "spread:10:mean:times:-0.5": what users write, and reports repeat.
std::string reranker_text(const RerankSpec& rerank);
/// Reads it into `rerank`, whose other parameters stay. Throws UsageError, which begins with `option` and `text`.
void read_reranker(std::string_view option, std::string_view text, RerankSpec& rerank);
/// "none, distortion, ..., spread[:N:mean|deviation:times|plus:W]".
std::string reranker_names();

}  // namespace knn
