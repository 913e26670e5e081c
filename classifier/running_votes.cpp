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

RunningMean::RunningMean(int most, const ClassSizes& sizes)
    : sizes_(sizes), best_(static_cast<std::size_t>(most)) {
    for (std::size_t label = 0; label < sizes.size(); ++label)
        if (sizes[label] > 0 && needed_neighbors(sizes[label], most) < most)
            few_.push_back(static_cast<std::uint8_t>(label));
    few_at_.fill(few_.size());
    for (std::size_t i = 0; i < few_.size(); ++i)
        few_at_[few_[i]] = i;
    few_sums_.resize(few_.size() * best_.size());
}

void RunningMean::clear() {
    sums_ = {};
    counts_ = {};
    filled_ = 0;
}

void RunningMean::compare(std::uint8_t label, std::uint64_t sum, int count, const FirstRanks& first,
                          Best& best) {
    const std::uint64_t here = sum * static_cast<std::uint64_t>(best.count),
                        there = best.sum * static_cast<std::uint64_t>(count);
    if (best.count == 0 || here < there)
        best = {sum, count, label, label};
    else if (here == there)
        join(label, first, best.smallest, best.nearest);
}

void RunningMean::add(std::uint8_t label, std::uint32_t distance, const FirstRanks& first) {
    const std::uint64_t sum = sums_[label] += distance;
    const int count = ++counts_[label];
    const auto last = static_cast<std::size_t>(count - 1);
    last_ = distance;
    if (count > filled_) best_[last] = {};
    filled_ = std::max(filled_, count);
    const std::size_t i = few_at_[label];
    if (i < few_.size())
        few_sums_[i * best_.size() + last] = sum;
    else
        compare(label, sum, count, first, best_[last]);
}

std::uint8_t RunningMean::winner(int j, Tie tie, const FirstRanks& first) const {
    const int each = std::min(j, filled_);
    Best best = best_[static_cast<std::size_t>(each - 1)];
    for (std::size_t i = 0; i < few_.size(); ++i) {
        const std::uint8_t label = few_[i];
        const int count = std::min(counts_[label], each),
                  missing = std::max(0, needed_neighbors(sizes_[label], each) - count);
        if (count == 0 || (missing > 0 && !is_small(sizes_[label], j))) continue;
        const std::uint64_t sum = few_sums_[i * best_.size() + static_cast<std::size_t>(count - 1)];
        compare(label, sum + static_cast<std::uint64_t>(missing) * last_, count + missing, first, best);
    }
    return tie == Tie::smallest ? best.smallest : best.nearest;
}

}  // namespace knn
