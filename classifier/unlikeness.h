#pragma once
/// How unlike the images of its class a query is. Distances to neighbors grow with the length of a stroke and with how much
/// a class varies; a letter that looks like a digit but for one stroke is as near to it as many digits are to each other.
/// Two things tell them apart better: what no mixture of the neighbors explains, and whether that is in few places.
///
/// 1. The winner's nearest neighbors among those that voted, 16 at most: differences D_i = n_i − q of the rows that were
///    compared, in integers.
/// 2. The mixture Σ x_i n_i, Σ x_i = 1, with the least ‖Σ x_i D_i‖² + λ Σ x_i², λ = 0.1 · mean ‖D_i‖²: x is proportional
///    to the solution of (G + λ I) x = 1, G_ij = D_i · D_j (local hyperplanes: Vincent and Bengio, 2001). r = Σ x_i D_i.
/// 3. e = Σ r² in each 16 consecutive values: a cell of `gradients`, pixels in a row of `raw`. all = Σ e, most = the sum of
///    the five largest.
/// 4. log all + log most, plus, where re-ranking has a density, twice the mean log of its factors of the nearest four:
///    √ of the distances that are usual around them is divided out.
///
/// In double precision in a fixed order.

#include <cstdint>
#include <span>

#include "data/core/neighbors.h"
#include "data/core/rows.h"

namespace knn {

/// Rows of bytes as they are compared, their labels, and factors of density (empty: none).
struct ComparedRows {
    Rows rows;
    std::span<const std::uint8_t> labels;
    std::span<const std::uint32_t> density;
};

/// `query`: train.rows.dim bytes. `neighbors`: those that voted, in order, at least one with the label `winner`.
double unlikeness(const std::uint8_t* query, const ComparedRows& train, std::span<const Neighbor> neighbors,
                  std::uint8_t winner);

}  // namespace knn
