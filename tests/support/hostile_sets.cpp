#include "tests/support/hostile_sets.h"

#include <utility>

namespace knn::test {

std::vector<NamedRows> hostile_sets(std::int64_t times) {
    std::vector<NamedRows> sets;
    const auto add = [&](std::string name, std::int64_t n, std::int64_t dim, const auto& value) {
        Rows rows{{}, n < 1'000 ? n * times : n, dim};
        for (std::int64_t i = 0; i < rows.n; ++i)
            for (std::int64_t j = 0; j < dim; ++j)
                rows.pixels.push_back(static_cast<std::uint8_t>(value(i, j)));
        sets.push_back({std::move(name), std::move(rows)});
    };
    const auto noise = [](std::int64_t i, std::int64_t j, std::int64_t below) {
        return (static_cast<std::uint64_t>(i * 66'051 + j + 1) * 0x9e3779b97f4a7c15 >> 33) %
               static_cast<std::uint64_t>(below);
    };
    const auto whole = [&](std::int64_t i, std::int64_t j) { return noise(i, j, 256); };
    add("one row", 1, 30, whole);
    add("all equal", 300, 50, [](auto, std::int64_t j) { return j * 5; });
    add("all but one equal", 300, 50, [](std::int64_t i, auto) { return i == 70 ? 255 : 0; });
    add("one far outlier", 400, 64,
        [&](std::int64_t i, std::int64_t j) { return i == 9 ? 255 : noise(i, j, 4); });
    add("an outlier that is not in the sample", 2'600, 64,
        [&](std::int64_t i, std::int64_t j) { return i == 2 ? 255 : noise(i, j, 3); });
    add("bytes of noise", 300, 784, whole);
    add("two clusters", 300, 200,
        [&](std::int64_t i, std::int64_t j) { return i % 2 * 250 + noise(i, j, 5); });
    add("duplicates", 300, 100, [&](std::int64_t i, std::int64_t j) { return noise(i % 7, j, 256); });
    add("one pixel each", 300, 784, [](std::int64_t i, std::int64_t j) { return i == j ? 255 : 0; });
    add("dim 1", 300, 1, whole);
    add("dim 1,024", 200, 1024, whole);
    add("fewer rows than columns", 40, 300, whole);
    add("black and white", 300, 300, [&](std::int64_t i, std::int64_t j) { return noise(i, j, 2) * 255; });
    return sets;
}

}  // namespace knn::test
