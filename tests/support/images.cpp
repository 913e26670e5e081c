#include "tests/support/images.h"

#include <random>

namespace knn::test {

Rows made(std::int64_t n, std::int64_t dim, const std::function<int(std::int64_t, std::int64_t)>& value) {
    Rows rows{{}, n, dim};
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = 0; p < dim; ++p)
            rows.pixels.push_back(static_cast<std::uint8_t>(value(i, p)));
    return rows;
}

Rows picked(const Rows& of, std::int64_t n, const std::function<std::int64_t(std::int64_t)>& image) {
    return made(n, of.dim, [&](std::int64_t i, std::int64_t p) {
        return of.pixels[static_cast<std::size_t>(image(i) * of.dim + p)];
    });
}

Rows filled(std::int64_t n, std::int64_t dim, std::uint8_t value) {
    return {std::vector<std::uint8_t>(static_cast<std::size_t>(n * dim), value), n, dim};
}

Rows repeated(const Rows& of, std::int64_t times) {
    return picked(of, of.n * times, [&](std::int64_t i) { return i % of.n; });
}

Rows reversed(const Rows& of) {
    return picked(of, of.n, [&](std::int64_t i) { return of.n - 1 - i; });
}

Rows sparse(std::int64_t n, std::int64_t dim, std::uint64_t seed, std::int64_t one_in) {
    const Rows all = random_rows(n, dim, seed);
    std::mt19937_64 random(seed + 1);
    return made(n, dim, [&](std::int64_t i, std::int64_t p) {
        const bool is_black = random() % static_cast<std::uint64_t>(one_in + i * 8 / n) != 0;
        return is_black ? 0 : all.pixels[static_cast<std::size_t>(i * dim + p)];
    });
}

}  // namespace knn::test
