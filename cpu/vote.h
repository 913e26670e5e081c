#pragma once
/// The majority vote on the host. gpu/vote.cu does the same on the device, bit for bit.

#include <cstdint>
#include <span>

#include "data/neighbors.h"
#include "data/problem.h"
#include "data/search.h"

namespace knn::cpu {

/// The vote of one query. `neighbors`: k >= 1, in order; `labels`: of the training set.
/// Weights::distance gives each neighbor 1/d² in double precision, added in order of rank; where some
/// neighbors are at distance 0 they alone vote, with weight 1 each (as scikit-learn does). Equal sums go by
/// `tie`. confidence = the winner's sum / the sum of all classes' sums, added in ascending label order.
Vote vote(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, Weights weights,
          Tie tie);

}  // namespace knn::cpu
