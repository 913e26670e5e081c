#include "classifier/compare.h"

#include <stdexcept>

#include "classifier/statistics.h"

namespace knn {

Comparison compare(std::span<const Vote> a, std::span<const Vote> b, std::span<const std::uint8_t> truth) {
    if (a.size() != truth.size() || b.size() != truth.size())
        throw std::invalid_argument("two votes for each true label were expected");
    Comparison result;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const bool a_right = a[i].label == truth[i], b_right = b[i].label == truth[i];
        ++(a_right ? (b_right ? result.both_right : result.only_a)
                   : (b_right ? result.only_b : result.both_wrong));
        if (a_right != b_right)
            result.disagreements.push_back({static_cast<std::int64_t>(i), truth[i], a[i].label, b[i].label});
    }
    result.p_value = mcnemar_p(result.only_a, result.only_b);
    return result;
}

}  // namespace knn
