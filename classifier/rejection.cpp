#include "classifier/rejection.h"

#include <algorithm>
#include <cmath>

#include "data/core/format.h"

namespace knn {

namespace {

/// How many values are at least `value`.
double count_from(const std::vector<double>& ascending, double value) {
    return static_cast<double>(ascending.end() - std::lower_bound(ascending.begin(), ascending.end(), value));
}

/// Above 0, also of a value above all.
double share_from(const std::vector<double>& ascending, double value) {
    return (count_from(ascending, value) + 0.5) / (static_cast<double>(ascending.size()) + 1);
}

double square(double value) {
    return value * value;
}

}  // namespace

Rejection::Rejection(const LeaveOneOut& sample) {
    for (const SampledAnswer& one : sample) {
        unlike_.push_back(one.unlikeness);
        nearness_.push_back(-one.evidence.margin);
    }
    std::sort(unlike_.begin(), unlike_.end());
    std::sort(nearness_.begin(), nearness_.end());
    for (const SampledAnswer& one : sample)
        unusual_.push_back(unusual(one.evidence, one.unlikeness));
    std::sort(unusual_.begin(), unusual_.end());
}

double Rejection::unusual(const Evidence& evidence, double unlikeness) const {
    return square(std::log(share_from(unlike_, unlikeness))) +
           square(std::log(share_from(nearness_, -evidence.margin)));
}

double Rejection::usual(const Evidence& evidence, double unlikeness) const {
    if (unusual_.empty()) return 1;
    return count_from(unusual_, unusual(evidence, unlikeness)) / static_cast<double>(unusual_.size());
}

std::string Rejection::reason(const Evidence& evidence, double unlikeness, double loss) const {
    if (unusual_.empty() || usual(evidence, unlikeness) >= loss) return "";
    const double unlike = share_from(unlike_, unlikeness), near = share_from(nearness_, -evidence.margin);
    const auto text = [](double share) { return share < 0.001 ? "under 0.1 %" : percent(share, 1); };
    if (unlike <= near)
        return "unlike the training images: " + text(unlike) +
               " of them differ as much from the rest of their class";
    return "near more than one class: " + text(near) +
           " of the training images are as close to another class";
}

}  // namespace knn
