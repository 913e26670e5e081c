#include "data/rerank/density.h"
#include "tests/support/test.h"

namespace knn {
namespace {

Neighbors nearest(int k, const std::vector<std::uint32_t>& distances) {
    Neighbors rows(static_cast<std::int64_t>(distances.size()) / k, k);
    for (std::size_t i = 0; i < distances.size(); ++i)
        rows.rows[i] = {distances[i], static_cast<std::uint32_t>(i)};
    return rows;
}

TEST_CASE("density: the factor is 2^15 times the fourth root of median / distance") {
    // Sums 320, 5120, 20: the median is 320.
    const auto factors = density_factors(nearest(3, {100, 100, 120, 1700, 1700, 1720, 6, 7, 7}));
    CHECK(factors == std::vector<std::uint32_t>{1 << 15, 1 << 14, 1 << 16});
    CHECK(scaled_by_density(1000, factors[0]) == 1000);
    CHECK(scaled_by_density(1001, factors[1]) == 500);
    CHECK(scaled_by_density(1'727'000'000, factors[2]) == 3'454'000'000);

    // Of an even number of images, the lower of the two in the middle.
    CHECK(density_factors(nearest(1, {160, 10, 1600, 2}))[1] == 1 << 15);

    std::vector<std::uint32_t> distances;
    for (std::uint32_t i = 0; i < 2001; ++i)
        distances.push_back(20'000 + 17 * i);
    const auto many = density_factors(nearest(1, distances));
    for (std::size_t i = 0; i < many.size(); ++i)
        CHECK(many[i] == doctest::Approx(32768 * std::pow(37'000.0 / distances[i], 0.25)).epsilon(1e-4));
}

TEST_CASE("density: only the nearest three count, and factors stay within 1/2 and 2") {
    CHECK(density_factors(nearest(4, {1, 2, 3, 900, 1, 2, 3, 4, 5, 6, 7, 8})) ==
          density_factors(nearest(3, {1, 2, 3, 1, 2, 3, 5, 6, 7})));
    CHECK(density_factors(nearest(1, {0, 160, 4'000'000'000U})) ==
          std::vector<std::uint32_t>{1 << 16, 1 << 15, 1 << 14});
    CHECK(density_factors(nearest(2, {0, 0, 0, 0, 0, 0})) ==
          std::vector<std::uint32_t>{1 << 15, 1 << 15, 1 << 15});
    CHECK(density_factors(nearest(3, {2'000'000'000, 2'000'000'000, 2'000'000'000})) ==
          std::vector<std::uint32_t>{1 << 15});
    CHECK(density_factors({}).empty());
}

}  // namespace
}  // namespace knn
