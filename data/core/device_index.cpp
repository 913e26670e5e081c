#include "data/core/device_index.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace knn {

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
