#include "classifier/running_votes.h"

#include <algorithm>

namespace knn {

namespace {

/// Lets `label` join the classes that are tied for the first place.
void join(std::uint8_t label, const FirstRanks& first, std::uint8_t& smallest, std::uint8_t& nearest) {
    smallest = std::min(smallest, label);
    if (first[label] < first[nearest]) nearest = label;
}

}  // namespace

void RunningMajority::add(std::uint8_t label, double weight, const FirstRanks& first) {
    const double sum = sums_[label] += weight;
    if (sum > largest_) {
        largest_ = sum;
        smallest_ = nearest_ = label;
    } else if (sum == largest_) {
        join(label, first, smallest_, nearest_);
    }
}

void RunningMean::clear() {
    sums_ = {};
    counts_ = {};
    filled_ = 0;
}

void RunningMean::add(std::uint8_t label, std::uint32_t distance, const FirstRanks& first) {
    const std::uint64_t sum = sums_[label] += distance;
    const int count = ++counts_[label];
    Best& best = best_[static_cast<std::size_t>(count - 1)];
    if (count > filled_) {
        filled_ = count;
        best = {sum, label, label};
    } else if (sum < best.sum) {
        best = {sum, label, label};
    } else if (sum == best.sum) {
        join(label, first, best.smallest, best.nearest);
    }
}

std::uint8_t RunningMean::winner(int j, Tie tie) const {
    const Best& best = best_[static_cast<std::size_t>(std::min(j, filled_) - 1)];
    return tie == Tie::smallest ? best.smallest : best.nearest;
}

}  // namespace knn
