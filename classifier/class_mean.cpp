#include "classifier/class_mean.h"

#include <algorithm>

namespace knn {

ClassSizes class_sizes(std::span<const std::uint8_t> labels) {
    ClassSizes sizes{};
    for (const std::uint8_t label : labels)
        ++sizes[label];
    return sizes;
}

bool ClassMeans::Mean::is_less(const Mean& other) const {
    return sum * static_cast<std::uint64_t>(other.count) < other.sum * static_cast<std::uint64_t>(count);
}

void ClassMeans::clear() {
    for (const std::uint8_t label : labels_)
        sums_[label].clear();
    labels_.clear();
    most_ = 0;
}

void ClassMeans::add(std::uint8_t label, std::uint32_t distance) {
    std::vector<std::uint64_t>& sums = sums_[label];
    if (sums.empty()) {
        first_[label] = labels_.size();
        labels_.insert(std::lower_bound(labels_.begin(), labels_.end(), label), label);
    }
    sums.push_back((sums.empty() ? 0 : sums.back()) + distance);
    most_ = std::max(most_, static_cast<int>(sums.size()));
    last_ = distance;
}

ClassMeans::Mean ClassMeans::mean(std::uint8_t label, int j) const {
    const std::vector<std::uint64_t>& sums = sums_[label];
    const std::int64_t others = sizes_[label] - 1;
    const int each = std::min(j, most_), count = std::min(static_cast<int>(sums.size()), each);
    const int missing = static_cast<int>(std::clamp<std::int64_t>(others, 1, each)) - count;
    const std::uint64_t sum = sums[static_cast<std::size_t>(count - 1)];
    if (missing <= 0) return {label, sum, count};
    const bool is_small = others < j;
    return {label, sum + static_cast<std::uint64_t>(missing) * last_, is_small ? count + missing : 0};
}

ClassMeans::Mean ClassMeans::least(int j, Tie tie) const {
    Mean least;
    for (const std::uint8_t label : labels_) {
        const Mean one = mean(label, j);
        if (one.count == 0) continue;
        const bool ties = least.count > 0 && !least.is_less(one);
        if (least.count == 0 || one.is_less(least) ||
            (ties && tie == Tie::nearest && first_[label] < first_[least.label]))
            least = one;
    }
    return least;
}

std::uint8_t ClassMeans::label(int j, Tie tie) const {
    return least(j, tie).label;
}

Vote ClassMeans::vote(int j, Tie tie) const {
    const Mean winner = least(j, tie);
    const auto product = [](const Mean& a, const Mean& b) {
        return static_cast<double>(a.sum * static_cast<std::uint64_t>(b.count));
    };
    double total = 0;
    for (const std::uint8_t label : labels_)
        if (const Mean one = mean(label, j); one.count > 0)
            total += winner.is_less(one) ? product(winner, one) / product(one, winner) : 1.0;
    return {winner.label, 1.0 / total};
}

}  // namespace knn
