#pragma once
/// How neighbors become a label. classifier/vote.h computes it on the host, gpu/engines/vote.h on a GPU, bit
/// for bit the same.

#include <array>
#include <cstdint>

#include "data/core/names.h"

namespace knn {

/// The weight of one neighbor's vote: 1, or 1/d² (the inverse squared distance).
enum class Weights { uniform, distance };
template <>
struct Names<Weights> {
    static constexpr std::array list{"uniform", "distance"};
};

/// Which of several classes with equal votes wins: the smallest label, or the class of the nearest neighbor.
enum class Tie { smallest, nearest };
template <>
struct Names<Tie> {
    static constexpr std::array list{"smallest", "nearest"};
};

/// The winner: the most frequent label among the k nearest, or the class whose k nearest neighbors are nearest on
/// average.
enum class Votes { majority, class_mean };
template <>
struct Names<Votes> {
    static constexpr std::array list{"majority", "class-mean"};
};

struct VotingRule {
    int k = 5;  ///< of `majority` neighbors; of `class_mean` neighbors of each class
    Weights weights = Weights::uniform;
    Tie tie = Tie::smallest;
    Votes votes = Votes::majority;

    friend bool operator==(const VotingRule&, const VotingRule&) = default;
};

/// The result of the vote for one query.
struct Vote {
    std::uint8_t label = 0;
    double confidence = 0;  ///< the winner's share of all votes, 0 < confidence <= 1

    // Written out: nvcc 13.0 loses defaulted comparisons on the host side of .cu files.
    friend bool operator==(const Vote& a, const Vote& b) {
        return a.label == b.label && a.confidence == b.confidence;
    }
};

}  // namespace knn
