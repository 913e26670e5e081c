#include "data/core/problem.h"

#include <algorithm>
#include <limits>

namespace knn {

UnsupportedReason refuse_problem(const Problem& problem) {
    constexpr std::int64_t max_count = std::numeric_limits<std::uint32_t>::max();
    if (problem.n_train < 1) return "there are no training images";
    if (problem.n_train >= max_count)
        return "more than 4,294,967,294 training images do not fit 32-bit indices";
    if (problem.n_query < 1) return "there are no images to classify";
    if (problem.dim < 1) return "the images have no pixels";
    if (problem.dim > max_dim)
        return "images of " + std::to_string(problem.dim) + " pixels are too large; at most " +
               std::to_string(max_dim) + " pixels keep squared distances within 32 bits";
    if (problem.measure.metric == Metric::lp && !(problem.measure.p >= min_p && problem.measure.p <= max_p))
        return "p = " + std::to_string(problem.measure.p) + " is out of range; expected 0.1 to 15";
    const std::int64_t k_limit = std::min<std::int64_t>(max_k, problem.n_train);
    if (problem.k < 1 || problem.k > k_limit)
        return "k = " + std::to_string(problem.k) + " is out of range; expected 1 to " +
               std::to_string(k_limit) + " (at most 1024, and at most the number of training images)";
    return std::nullopt;
}

UnsupportedReason refuse_all_but_l2(const char* name, const Problem& problem) {
    if (problem.measure.metric == Metric::l2) return std::nullopt;
    return std::string(name) + " computes l2 distances only";
}

}  // namespace knn
