#pragma once
/// The votes of one query for k = 1, 2, 3 ... in one pass over its neighbors, so that a table of all k costs as much as
/// the largest. The labels are those of classifier/vote.h and classifier/class_mean.h, bit for bit.

#include <array>
#include <cstdint>
#include <vector>

#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/voting.h"

namespace knn {

/// The rank at which each label first occurs among a query's neighbors.
using FirstRanks = std::array<std::uint32_t, 256>;

/// A majority vote that neighbors join one after another. Sums only grow, so the classes with the largest sum change
/// with the class that was added alone.
class RunningMajority {
  public:
    /// `weight` >= 0; of the first neighbor > 0.
    void add(std::uint8_t label, double weight, const FirstRanks& first);
    std::uint8_t winner(Tie tie) const { return tie == Tie::smallest ? smallest_ : nearest_; }

  private:
    std::array<double, 256> sums_{};
    double largest_ = 0;
    std::uint8_t smallest_ = 0, nearest_ = 0;
};

/// `class-mean` for every j: the sum of a class's nearest j distances is final once its j-th neighbor has come, so the
/// best class for j changes with these neighbors alone.
class RunningMean {
  public:
    /// `most`: neighbors that will be added.
    explicit RunningMean(int most) : best_(static_cast<std::size_t>(most)) {}
    void clear();
    void add(std::uint8_t label, std::uint32_t distance, const FirstRanks& first);
    /// The winner by the mean of j, after at least one neighbor.
    std::uint8_t winner(int j, Tie tie) const;

  private:
    struct Best {
        std::uint64_t sum = 0;
        std::uint8_t smallest = 0, nearest = 0;
    };
    std::array<std::uint64_t, 256> sums_{};
    std::array<int, 256> counts_{};
    std::vector<Best> best_;  ///< by j - 1; filled up to the largest count
    int filled_ = 0;
};

}  // namespace knn
