#include "tests/support/images.h"

#include <algorithm>
#include <random>

namespace knn::test {

Rows filled(std::int64_t n, std::int64_t dim, std::uint8_t value) {
    return {std::vector<std::uint8_t>(static_cast<std::size_t>(n * dim), value), n, dim};
}

Rows thermometer(std::int64_t n, std::int64_t dim) {
    Rows rows = filled(n, dim, 0);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < dim; ++p)
            rows.pixels[static_cast<std::size_t>(i * dim + p)] =
                static_cast<std::uint8_t>(std::clamp<std::int64_t>(i - p * 255, 0, 255));
    return rows;
}

Rows repeated(const Rows& of, std::int64_t times) {
    Rows rows{{}, of.n * times, of.dim};
    for (std::int64_t t = 0; t < times; ++t)
        rows.pixels.insert(rows.pixels.end(), of.pixels.begin(), of.pixels.end());
    return rows;
}

Rows every(std::int64_t step, const Rows& of) {
    Rows rows{{}, 0, of.dim};
    for (std::int64_t i = 0; i < of.n; i += step, ++rows.n)
        rows.pixels.insert(rows.pixels.end(), of.pixels.begin() + i * of.dim,
                           of.pixels.begin() + (i + 1) * of.dim);
    return rows;
}

Rows reversed(const Rows& of) {
    Rows rows{{}, of.n, of.dim};
    for (std::int64_t i = of.n - 1; i >= 0; --i)
        rows.pixels.insert(rows.pixels.end(), of.pixels.begin() + i * of.dim,
                           of.pixels.begin() + (i + 1) * of.dim);
    return rows;
}

Rows extremes(std::int64_t n, std::int64_t dim) {
    Rows rows = filled(n, dim, 0);
    for (std::int64_t i = 0; i < n; i += 2)
        std::fill_n(rows.pixels.begin() + i * dim, dim, std::uint8_t{255});
    return rows;
}

Rows multiples(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < dim; ++p) {
            const int first = rows.pixels[static_cast<std::size_t>(i % 3 == 0 ? i * dim + p : p)] / 9;
            rows.pixels[static_cast<std::size_t>(i * dim + p)] =
                static_cast<std::uint8_t>(i % 3 == 0 ? first : first * (i % 3 + 1));
        }
    return rows;
}

Rows negatives(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed);
    for (std::int64_t i = 1; i < n; i += 2)
        for (std::int64_t p = 0; p < dim; ++p)
            rows.pixels[static_cast<std::size_t>(i * dim + p)] =
                static_cast<std::uint8_t>(255 - rows.pixels[static_cast<std::size_t>((i - 1) * dim + p)]);
    return rows;
}

Rows grays(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed);
    for (std::int64_t i = 0; i < n; ++i)
        if (i % 3 != 0)
            std::fill_n(rows.pixels.begin() + i * dim, dim,
                        static_cast<std::uint8_t>(i % 3 == 1 ? 0 : i * 37 % 256));
    return rows;
}

Rows nearly_white(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    Rows rows = random_rows(n, dim, seed, 2);
    for (std::uint8_t& pixel : rows.pixels)
        pixel = pixel == 0 ? 254 : 255;
    return rows;
}

Rows sparse(std::int64_t n, std::int64_t dim, std::uint64_t seed, std::int64_t one_in) {
    Rows rows = random_rows(n, dim, seed);
    std::mt19937_64 random(seed + 1);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < dim; ++p)
            if (random() % static_cast<std::uint64_t>(one_in + i * 8 / n) != 0)
                rows.pixels[static_cast<std::size_t>(i * dim + p)] = 0;
    return rows;
}

}  // namespace knn::test
