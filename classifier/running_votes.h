#pragma once
/// The votes of one query for k = 1, 2, 3 ... in one pass over its neighbors, so that a table of all k costs as much as
/// the largest. The labels are those of classifier/vote.h and classifier/class_mean.h, bit for bit.

#include <array>
#include <cstdint>
#include <vector>

#include "classifier/class_mean.h"
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
/// best of the classes that need j neighbors changes with these alone. Classes of few images are compared with it for each
/// j.
class RunningMean {
  public:
    /// `most`: neighbors that will be added, and the largest j. `sizes`: of the training set's classes.
    RunningMean(int most, const ClassSizes& sizes);
    void clear();
    void add(std::uint8_t label, std::uint32_t distance, const FirstRanks& first);
    /// The winner by the mean of j, after at least one neighbor.
    std::uint8_t winner(int j, Tie tie, const FirstRanks& first) const;

  private:
    struct Best {
        std::uint64_t sum = 0;
        int count = 0;  ///< of the neighbors in the sum; 0: no class
        std::uint8_t smallest = 0, nearest = 0;
    };
    static void compare(std::uint8_t label, std::uint64_t sum, int count, const FirstRanks& first,
                        Best& best);

    std::array<std::uint64_t, 256> sums_{};
    std::array<int, 256> counts_{};
    ClassSizes sizes_;
    std::vector<Best> best_;               ///< by j - 1, of the large classes
    std::vector<std::uint8_t> few_;        ///< labels of classes that need fewer than `most` neighbors
    std::vector<std::uint64_t> few_sums_;  ///< few × most: of the nearest 1, 2, 3 ...
    std::array<std::size_t, 256> few_at_;  ///< the index in few_, or its size
    int filled_ = 0;                       ///< the largest count
    std::uint32_t last_ = 0;               ///< the distance of the neighbor that was added last
};

}  // namespace knn
