#pragma once
/// The vote `class-mean`: the class whose nearest j neighbors are nearest on average.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/core/neighbors.h"
#include "data/core/voting.h"

namespace knn {

/// The default j, chosen by leave-one-out on MNIST's training set (docs/rerank.md).
inline constexpr int class_mean_neighbors = 4;

/// Training images by label.
using ClassSizes = std::array<std::int64_t, 256>;
ClassSizes class_sizes(std::span<const std::uint8_t> labels);

/// Whether a class may have fewer than j neighbors because it has at most j images.
bool is_small(std::int64_t class_size, int j);

/// The neighbors that a class needs for a mean of j' <= j: j', a small one its images but one, at least one. (In
/// leave-one-out the query is that one.)
int needed_neighbors(std::int64_t class_size, int each);

/// The vote of one query. `neighbors`: at least one, in order, with integer distances; `labels`: of the training set;
/// `sizes`: its class_sizes.
///
/// 1. j' = min(j, the largest number of neighbors that one class has).
/// 2. Class c has the mean of m[c] distances: its nearest j' neighbors, or as many as it has, if these are at least
///    needed_neighbors(sizes[c], j'). If a small class has fewer, but one, the missing ones are as far as the last of all
///    neighbors. Any other class with fewer is out. S[c], the sum, is an exact integer.
/// 3. The smallest mean S[c] / m[c] wins. Among equal ones: Tie::smallest takes the smallest label, Tie::nearest the class
///    that has the first neighbor.
/// 4. confidence = 1 / Σ w[c] over the classes that are not out, in order of labels, in double precision without fused
///    multiply-add, where w[c] is 1 if the mean of c is the winner's, else S[winner] · m[c] / (S[c] · m[winner]), one
///    division of exact integers.
Vote class_mean(std::span<const Neighbor> neighbors, std::span<const std::uint8_t> labels,
                const ClassSizes& sizes, int j, Tie tie);

}  // namespace knn
