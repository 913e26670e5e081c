#pragma once
/// How neighbors become a label. classifier/vote.h computes it on the host, gpu/engines/vote.h on a GPU, bit
/// for bit the same.

#include <array>
#include <cstdint>

#include "data/core/metric.h"
#include "data/core/names.h"

namespace knn {

/// The weight of one neighbor's vote: 1, or 1/d² (the inverse squared distance).
enum class Weights { uniform, distance };
template <>
inline constexpr std::array name_list<Weights>{"uniform", "distance"};

/// Which of several classes with equal votes wins: the smallest label, or the class of the nearest neighbor.
enum class Tie { smallest, nearest };
template <>
inline constexpr std::array name_list<Tie>{"smallest", "nearest"};

/// The winner: the most frequent label among the k nearest, or the class whose k nearest neighbors are nearest on
/// average.
enum class VoteKind { majority, class_mean };
template <>
inline constexpr std::array name_list<VoteKind>{"majority", "class-mean"};

struct VotingRule {
    int k = 5;  ///< of `majority` neighbors; of `class_mean` neighbors of each class
    Weights weights = Weights::uniform;
    Tie tie = Tie::smallest;
    VoteKind votes = VoteKind::majority;

    friend bool operator==(const VotingRule&, const VotingRule&) = default;
};

/// Whether a GPU votes by the rule, bit by bit as the CPU: class-mean has no kernel, and powers of lp are rounded
/// differently.
constexpr bool device_can_vote(Metric metric, const VotingRule& rule) {
    return rule.votes == VoteKind::majority && (metric != Metric::lp || rule.weights == Weights::uniform);
}

/// The result of the vote for one query.
struct Vote {
    std::uint8_t label;
    double vote_share;  ///< the winner's share of all votes, 0 < vote_share <= 1

    // Written out: nvcc 13.0 loses defaulted comparisons on the host side of .cu files.
    friend bool operator==(const Vote& a, const Vote& b) {
        return a.label == b.label && a.vote_share == b.vote_share;
    }
};

/// Features of the neighbors that vote, from which classifier/confidence.h computes the probability that the answer is
/// right. Distances are those that users see (distance_of), at least 1 where they are integers and 1e-9 elsewhere, so that
/// logarithms are finite. j is 1 for `majority`, k for `class-mean`.
struct ConfidenceFeatures {
    double share = 0;     ///< of the winner, as the vote says it
    double distance = 0;  ///< log of the mean distance of the nearest k
    /// Log of the distance of the nearest other class over that of the winner, each the mean of its nearest j; a class that lacks
    /// neighbors lies as far as the last of all.
    double margin = 0;
    double alone = 0;  ///< 1 if all neighbors have the winner's label, else 0
};

}  // namespace knn
