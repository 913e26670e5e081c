#pragma once
/// The vote `class-mean`: the class whose nearest j neighbors are nearest on average.

#include <cstdint>
#include <span>
#include <vector>

#include "data/core/neighbors.h"
#include "data/core/voting.h"

namespace knn {

/// The usual j, by leave-one-out on MNIST's training set (docs/rerank.md).
inline constexpr int class_mean_neighbors = 4;

/// The vote of one query. `neighbors`: at least one, in order, with integer distances; `labels`: of the training set.
///
/// 1. j' = min(j, the largest number of neighbors that one class has). A class with fewer than j' is out. So where no
///    class has j, the classes with the most neighbors are left: a majority vote whose ties go by distance.
/// 2. S[c] = the sum of the nearest j' distances of class c, an exact integer: all means have the same divisor.
/// 3. The smallest S wins. Among equal ones: Tie::smallest takes the smallest label, Tie::nearest the class that has the
///    first neighbor.
/// 4. confidence = 1 / Σ w[c] over the classes that are left, in order of labels, in double precision without fused
///    multiply-add, where w[c] is 1 if S[c] = S[winner], else S[winner] / S[c].
Vote class_mean(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels, int j, Tie tie);

}  // namespace knn
