#include "classifier/rejection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "classifier/mean_distance.h"
#include "classifier/vote.h"
#include "data/core/format.h"

namespace knn {

namespace {

// docs/rejection.md shows what these quantiles reject.
constexpr double not_strange = 0.991;  ///< of the sample
constexpr double too_divided = 0.002;  ///< of the sample, at most
constexpr double weight_of_doubt = 0.3;

/// The value that `share` of `values` do not exceed.
double quantile(std::vector<double> values, double share) {
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

}  // namespace

double strangeness(std::span<const Neighbor> neighbors, const Vote& vote, const Measure& measure) {
    return mean_distance(neighbors, measure) * (1 + weight_of_doubt * (1 - vote.confidence));
}

Rejection::Rejection(const LeaveOneOut& sample, std::span<const std::uint8_t> labels, const VotingRule& rule,
                     const Measure& measure)
    : measure_(measure), strange_(std::numeric_limits<double>::infinity()) {
    if (sample.count < min_sampled_images) return;
    const auto judged = static_cast<std::size_t>(std::min(rule.k, sample.k));
    std::vector<double> strange, shares;
    for (std::int64_t i = 0; i < sample.count; ++i) {
        const auto neighbors = sample.row(i).first(judged);
        const Vote vote = knn::vote(neighbors, labels, rule, measure);
        strange.push_back(strangeness(neighbors, vote, measure));
        shares.push_back(vote.confidence);
    }
    strange_ = quantile(strange, not_strange);
    divided_ = quantile(shares, too_divided);
}

std::string Rejection::reason(std::span<const Neighbor> neighbors, const Vote& vote) const {
    const auto text = [&](double d) { return is_integral(measure_.metric) ? fixed(d, 0) : short_number(d); };
    const double mean = mean_distance(neighbors, measure_);
    const std::string distance = text(mean), limit = text(strange_);
    const std::string share = percent(vote.confidence, 0);
    if (mean > strange_)
        return "unlike the training images: the nearest are " + distance + " away on average, limit " + limit;
    if (strangeness(neighbors, vote, measure_) > strange_)
        return "unlike the training images: the nearest are " + distance +
               " away on average and disagree, the most frequent label has " + share + " of the votes";
    if (vote.confidence < divided_)
        return "the neighbors disagree: the most frequent label has " + share + " of the votes";
    return "";
}

}  // namespace knn
