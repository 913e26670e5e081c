#include "tests/support/oracle.h"

#include <algorithm>
#include <random>

namespace knn::test {

std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> nearest(const Rows& train, const Rows& query,
                                                                        int k) {
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> result;
    for (std::int64_t q = 0; q < query.n; ++q) {
        std::vector<std::pair<std::int64_t, std::int64_t>> all;
        for (std::int64_t t = 0; t < train.n; ++t) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < train.dim; ++i) {
                const std::int64_t a = query.pixels[static_cast<std::size_t>(q * query.dim + i)];
                const std::int64_t b = train.pixels[static_cast<std::size_t>(t * train.dim + i)];
                sum += (a - b) * (a - b);
            }
            all.emplace_back(sum, t);
        }
        std::sort(all.begin(), all.end());
        all.resize(static_cast<std::size_t>(k));
        result.push_back(std::move(all));
    }
    return result;
}

Rows random_rows(std::int64_t n, std::int64_t dim, std::uint64_t seed, int levels) {
    std::mt19937_64 random(seed);
    Rows rows{std::vector<std::uint8_t>(static_cast<std::size_t>(n * dim)), n, dim};
    const int step = levels > 1 ? 255 / (levels - 1) : 0;
    for (std::uint8_t& pixel : rows.pixels)
        pixel = static_cast<std::uint8_t>(
            levels > 1 ? static_cast<int>(random() % static_cast<unsigned>(levels)) * step : 77);
    return rows;
}

}  // namespace knn::test
