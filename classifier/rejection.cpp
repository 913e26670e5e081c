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
        unlike_.push_back(one.novelty);
        nearness_.push_back(-one.confidence_features.margin);
    }
    std::sort(unlike_.begin(), unlike_.end());
    std::sort(nearness_.begin(), nearness_.end());
    for (const SampledAnswer& one : sample)
        unusual_.push_back(unusual(one.confidence_features, one.novelty));
    std::sort(unusual_.begin(), unusual_.end());
}

double Rejection::unusual(const ConfidenceFeatures& confidence_features, double novelty) const {
    return square(std::log(share_from(unlike_, novelty))) +
           square(std::log(share_from(nearness_, -confidence_features.margin)));
}

double Rejection::p_value(const ConfidenceFeatures& confidence_features, double novelty) const {
    if (unusual_.empty()) return 1;
    return count_from(unusual_, unusual(confidence_features, novelty)) / static_cast<double>(unusual_.size());
}

std::string Rejection::reason(const ConfidenceFeatures& confidence_features, double novelty,
                              double loss) const {
    if (unusual_.empty() || p_value(confidence_features, novelty) >= loss) return "";
    const double unlike = share_from(unlike_, novelty),
                 near = share_from(nearness_, -confidence_features.margin);
    const auto text = [](double share) { return share < 0.001 ? "under 0.1 %" : percent(share, 1); };
    if (unlike <= near)
        return "unlike the training images: " + text(unlike) +
               " of them differ as much from the rest of their class";
    return "near more than one class: " + text(near) +
           " of the training images are as close to another class";
}

}  // namespace knn
