#include "data/rerank/density.h"

#include <algorithm>

namespace knn {

std::vector<std::uint32_t> density_factors(const Neighbors& nearest) {
    const int n = std::min(nearest.k, density_neighbors);
    std::vector<std::uint64_t> sums;
    for (std::int64_t i = 0; i < nearest.n_query; ++i) {
        std::uint64_t sum = 0;
        for (const Neighbor& neighbor : nearest.row(i).first(static_cast<std::size_t>(n)))
            sum += neighbor.distance;
        sums.push_back(sum);
    }
    if (sums.empty()) return {};
    std::vector<std::uint64_t> sorted = sums;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    const std::uint64_t median = std::max<std::uint64_t>(*middle, 1);
    std::vector<std::uint32_t> factors;
    for (const std::uint64_t sum : sums) {
        const std::uint64_t ratio = (median << 28) / std::clamp(sum, (median + 15) / 16, 16 * median);
        factors.push_back(static_cast<std::uint32_t>(whole_root(4 * whole_root(ratio << 28))));
    }
    return factors;
}

}  // namespace knn
