#pragma once
/// Oracle of re-ranking: maps over all pixels in 64-bit integers, and every displacement of every point.

#include <cstdint>
#include <vector>

#include "data/rerank/rerank.h"
#include "tests/support/plane.h"

namespace knn::test {

struct RerankMaps {
    ImageShape shape;
    Plane x, y;                      ///< rows × cols: sums of normalized gradients over 2 × 2 pixels
    std::vector<std::int64_t> bins;  ///< ⌈rows / 2⌉ × ⌈cols / 2⌉ × 8
};
RerankMaps rerank_maps(const std::uint8_t* image, ImageShape shape);

/// The bytes of the descriptor of these maps.
std::vector<std::uint8_t> descriptor_bytes(const RerankMaps& maps, RerankKind kind);

/// How far the points around (x, y) of the query lie from where they are nearest in the candidate: the shortest of the
/// displacements with the least sum.
struct Displacement {
    int dx, dy;
    std::int64_t sum;
};
Displacement displacement(const RerankMaps& query, const RerankMaps& candidate, int x, int y);

std::int64_t rerank_distance(const RerankMaps& query, const RerankMaps& candidate, RerankKind kind);

}  // namespace knn::test
