#include "data/core/problem.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "data/core/device_index.h"
#include "data/core/format.h"

namespace knn {

UnsupportedReason refuse_k(int k, std::int64_t n) {
    const std::int64_t most = std::min<std::int64_t>(max_k, n);
    if (k >= 1 && k <= most) return std::nullopt;
    const std::string what = "k = " + std::to_string(k) + " is out of range; expected ";
    if (k < 1) return what + "at least 1";
    return what + "at most " + std::to_string(most) + (most == n ? ", the rows that can be neighbors" : "");
}

UnsupportedReason refuse_measure(const Measure& measure) {
    if (measure.metric != Metric::lp || (measure.p >= min_p && measure.p <= max_p)) return std::nullopt;
    return "p = " + shortest(measure.p) + " is out of range; expected 0.1 to 15";
}

UnsupportedReason refuse_problem(const Problem& problem) {
    constexpr std::int64_t max_count = std::numeric_limits<std::uint32_t>::max();
    if (problem.n_train < 1) return "there are no training images";
    if (problem.n_train >= max_count)
        return "more than 4,294,967,294 training images do not fit 32-bit indices";
    if (problem.n_query < 1) return "there are no images to classify";
    if (problem.dim < 1) return "the images have no pixels";
    const bool bytes = problem.type == ElementType::uint8;
    if (!bytes && problem.dim > max_columns)
        return "rows of " + std::to_string(problem.dim) + " columns are too long; expected at most " +
               std::to_string(max_columns);
    if (bytes && problem.dim > max_dim)
        return "images of " + std::to_string(problem.dim) + " pixels are too large; at most " +
               std::to_string(max_dim) + " pixels keep squared distances within 32 bits";
    if (UnsupportedReason refusal = refuse_measure(problem.measure)) return refusal;
    return refuse_k(problem.k, problem.n_train);
}

UnsupportedReason refuse_all_but_l2(const char* name, const Problem& problem) {
    if (problem.measure.metric == Metric::l2) return std::nullopt;
    return std::string(name) + " computes l2 distances only";
}

void require_top_k(const TopKRequest& wanted, const TopKResult& result, std::int64_t n_train,
                   std::int64_t n_result) {
    const std::span<const std::uint32_t> images = wanted.queries.images;
    const bool leaves_out =
        std::any_of(images.begin(), images.end(), [&](std::uint32_t image) { return image < n_train; });
    const std::int64_t candidates = n_train - (leaves_out ? 1 : 0);
    if (wanted.k < 1 || wanted.k > max_k || wanted.k > candidates)
        throw std::invalid_argument("k = " + std::to_string(wanted.k) + " of " + std::to_string(candidates) +
                                    " images");
    const std::int64_t n = n_result < 0 ? wanted.queries.count() : n_result;
    if (std::ssize(result.neighbors) != n * wanted.k ||
        std::ssize(result.votes) != (wanted.vote != nullptr ? n : 0))
        throw std::invalid_argument("memory for other results");
}

}  // namespace knn
