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

/// The neighbors of one query after another, by class, and their vote for any j. A class is small if it has at most j
/// images; it needs its images but one (in leave-one-out the query is that one), at least one and at most j.
///
/// 1. j' = min(j, the largest number of neighbors that one class has).
/// 2. Class c has the mean of m[c] distances: its nearest j' neighbors, or as many as it has, if these are at least j', or
///    those that a small class needs. If a small class has fewer, but one, the missing ones are as far as the last of all
///    neighbors. Any other class with fewer is out. S[c], the sum, is an exact integer.
/// 3. The smallest mean S[c] / m[c] wins. Among equal ones: Tie::smallest takes the smallest label, Tie::nearest the class
///    that has the first neighbor.
/// 4. confidence = 1 / Σ w[c] over the classes that are not out, in order of labels, in double precision without fused
///    multiply-add, where w[c] is 1 if the mean of c is the winner's, else S[winner] · m[c] / (S[c] · m[winner]), one
///    division of exact integers.
class ClassMeans {
  public:
    /// `sizes`: of the training set.
    explicit ClassMeans(const ClassSizes& sizes) : sizes_(sizes) {}

    /// For the next query.
    void clear();
    /// The next neighbor; integer distances.
    void add(std::uint8_t label, std::uint32_t distance);
    /// After at least one neighbor.
    Vote vote(int j, Tie tie) const;
    /// Of the vote.
    std::uint8_t label(int j, Tie tie) const;

  private:
    /// Sums of 1,024 distances, times 1,024, are exact as doubles.
    struct Mean {
        std::uint8_t label = 0;
        std::uint64_t sum = 0;
        int count = 0;  ///< 0: none

        bool is_less(const Mean& other) const;
    };
    /// 0: the class is out.
    Mean mean(std::uint8_t label, int j) const;
    Mean least(int j, Tie tie) const;

    ClassSizes sizes_;
    std::array<std::vector<std::uint64_t>, 256> sums_;  ///< by label: of the nearest 1, 2, 3 ... distances
    std::vector<std::uint8_t> labels_;                  ///< that neighbors have, ascending
    std::array<std::size_t, 256> first_;                ///< how many of these were there before
    int most_ = 0;                                      ///< neighbors of one class
    std::uint32_t last_ = 0;                            ///< distance
};

}  // namespace knn
