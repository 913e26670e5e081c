#pragma once
/// The distance of a query and a candidate from their descriptors, an unsigned 32-bit score.
///
///   distortion   Σ over the points g of the grid min over displacements d Σ over contexts c
///                |p_q(g + 2 c) - p_c(g + 2 c + d)|²
///                g: every second pixel of each row and column; d: -2..2 in x and y; c: -1..1 in x and y; p is 0
///                outside of the image. (Keysers et al. 2007, "Deformation models for image recognition": the image
///                distortion model.) The parameters were chosen by leave-one-out (docs/rerank.md).
///   cells        Σ over the cells g min over the 3 × 3 cells around g Σ over directions (h_q(g) - h_c(g'))²; h is 0
///                outside of the image.
///   both         distortion + cells: on MNIST the two medians are about equal
///
/// Limits: |p_q - p_c|² <= 1,600, so a sum over 3 × 3 contexts is at most 14,400 and fits 16 bits; one cell is at most
/// 8 · 63² = 31,752. For 66,051 pixels (max_dim), there are at most 33,026 points and cells, so distortion is below
/// 4.8e8, cells below 1.05e9, both below 2³².

#include <cstdint>
#include <vector>

#include "data/rerank/descriptor.h"

namespace knn {

inline constexpr int distortion_window = 2, distortion_context = 1;

/// As it is defined, in plain loops.
std::uint32_t rerank_distance(const DescriptorLayout& layout, const std::uint8_t* query,
                              const std::uint8_t* candidate);

/// A pixel of the query, with its slant out, and how far from there the candidate has what it looks like.
struct Move {
    int x, y, dx, dy;
    friend bool operator==(const Move&, const Move&) = default;
};

/// The displacements that the distance chooses: of `distortion` if it has a part, at each point of the grid, else of
/// `cells`, at the first pixel of each cell. Only where the query's descriptor is not 0. Of equally near displacements
/// the shortest, and of these the first row by row. For explanations.
std::vector<Move> moves(const DescriptorLayout& layout, const std::uint8_t* query,
                        const std::uint8_t* candidate);

}  // namespace knn
