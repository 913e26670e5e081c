#include "data/transform/projection.h"

#include "tests/support/images.h"
#include "tests/support/oracle.h"
#include "tests/support/test.h"

namespace knn {

namespace {

Projection fit(const test::Rows& rows, std::int64_t n_out) {
    return fit_projection({rows.pixels.data(), rows.n, rows.dim}, n_out);
}

double weight(const Projection& fitted, std::int64_t i, std::int64_t j) {
    return fitted.weights[static_cast<std::size_t>(i * fitted.dim + j)] / 16384.0;
}

/// The variance of the rows along a direction given by its weights.
double variance_along(const test::Rows& rows, const std::vector<double>& direction) {
    std::vector<double> sums;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < rows.dim; ++j)
            sum += direction[static_cast<std::size_t>(j)] *
                   rows.pixels[static_cast<std::size_t>(i * rows.dim + j)];
        sums.push_back(sum);
    }
    const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(rows.n);
    double variance = 0;
    for (const double sum : sums)
        variance += (sum - mean) * (sum - mean) / static_cast<double>(rows.n);
    return variance;
}

std::vector<double> component(const Projection& fitted, std::int64_t i) {
    std::vector<double> direction;
    for (std::int64_t j = 0; j < fitted.dim; ++j)
        direction.push_back(weight(fitted, i, j));
    return direction;
}

/// The largest eigenvalues of the covariance matrix, by the power method with deflation.
std::vector<double> eigenvalues(const test::Rows& rows, int n) {
    const auto dim = static_cast<std::size_t>(rows.dim);
    std::vector<double> mean(dim), matrix(dim * dim), values;
    const auto pixel = [&](std::int64_t i, std::size_t j) {
        return static_cast<double>(rows.pixels[static_cast<std::size_t>(i) * dim + j]);
    };
    for (std::int64_t i = 0; i < rows.n; ++i)
        for (std::size_t j = 0; j < dim; ++j)
            mean[j] += pixel(i, j) / static_cast<double>(rows.n);
    for (std::int64_t i = 0; i < rows.n; ++i)
        for (std::size_t a = 0; a < dim; ++a)
            for (std::size_t b = 0; b < dim; ++b)
                matrix[a * dim + b] +=
                    (pixel(i, a) - mean[a]) * (pixel(i, b) - mean[b]) / static_cast<double>(rows.n);
    for (int value = 0; value < n; ++value) {
        std::vector<double> vector(dim), next(dim);
        for (std::size_t j = 0; j < dim; ++j)
            vector[j] = std::cos(static_cast<double>(j * j + 1));
        double length = 0;
        for (int step = 0; step < 5000; ++step) {
            length = 0;
            for (std::size_t a = 0; a < dim; ++a) {
                next[a] = std::inner_product(vector.begin(), vector.end(),
                                             matrix.begin() + static_cast<std::ptrdiff_t>(a * dim), 0.0);
                length += next[a] * next[a];
            }
            length = std::sqrt(length);
            for (std::size_t a = 0; a < dim; ++a)
                vector[a] = length > 0 ? next[a] / length : 0;
        }
        values.push_back(length);
        for (std::size_t a = 0; a < dim; ++a)
            for (std::size_t b = 0; b < dim; ++b)
                matrix[a * dim + b] -= length * vector[a] * vector[b];
    }
    return values;
}

/// Rows whose pixels depend on each other: a few random rows mixed.
test::Rows mixed(std::int64_t n, std::int64_t dim, std::uint64_t seed) {
    const test::Rows base = test::random_rows(5, dim, seed), parts = test::random_rows(n, 5, seed + 1);
    test::Rows rows = test::random_rows(n, dim, seed + 2, 4);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < dim; ++j) {
            int sum = rows.pixels[static_cast<std::size_t>(i * dim + j)] / 8;
            for (std::int64_t b = 0; b < 5; ++b)
                sum += parts.pixels[static_cast<std::size_t>(i * 5 + b)] *
                       base.pixels[static_cast<std::size_t>(b * dim + j)] / (255 * (1 << (b + 1)));
            rows.pixels[static_cast<std::size_t>(i * dim + j)] =
                static_cast<std::uint8_t>(std::min(sum, 255));
        }
    return rows;
}

}  // namespace

TEST_CASE("pca: components are orthonormal, with their largest entry positive") {
    for (const std::int64_t dim : {1, 2, 7, 60}) {
        CAPTURE(dim);
        const test::Rows rows = mixed(300, dim, 5);
        const Projection fitted = fit(rows, dim);
        REQUIRE(std::ssize(fitted.weights) == dim * dim);
        for (std::int64_t a = 0; a < dim; ++a) {
            const std::vector<double> one = component(fitted, a);
            for (std::int64_t b = 0; b <= a; ++b) {
                const std::vector<double> other = component(fitted, b);
                CHECK(std::inner_product(one.begin(), one.end(), other.begin(), 0.0) ==
                      doctest::Approx(a == b ? 1 : 0).epsilon(2e-3));
            }
            const auto [low, high] = std::minmax_element(one.begin(), one.end());
            CHECK(*high >= -*low - 1e-4);
        }
    }
}

TEST_CASE("pca: the first components explain the variance that the power method finds") {
    for (const std::int64_t n : {40, 3000}) {  // fewer and more than are summed at once
        const test::Rows rows = mixed(n, 24, 15);
        const std::vector<double> expected = eigenvalues(rows, 4);
        const Projection fitted = fit(rows, 4);
        for (std::size_t i = 0; i < 4; ++i)
            CHECK(variance_along(rows, component(fitted, static_cast<std::int64_t>(i))) ==
                  doctest::Approx(expected[i]).epsilon(1e-3));
        // 127 / (4 σ) of the first component, in steps of 2⁻³² · 2¹⁴.
        CHECK(static_cast<double>(fitted.scale) ==
              doctest::Approx(127 / (4 * std::sqrt(expected[0])) * 262144).epsilon(1e-3));
        // A centered sum of the mean row is 0: each center is the weighted sum of the mean.
        for (std::int64_t i = 0; i < 4; ++i) {
            double center = 0;
            for (std::int64_t row = 0; row < n; ++row)
                for (std::int64_t j = 0; j < 24; ++j)
                    center += 16384 * weight(fitted, i, j) *
                              rows.pixels[static_cast<std::size_t>(row * 24 + j)] / static_cast<double>(n);
            CHECK(std::abs(fitted.centers[static_cast<std::size_t>(i)] - center) < 0.501);
        }
    }
}

TEST_CASE("pca: fewer components are the first ones, and the order of the rows does not matter") {
    const test::Rows rows = mixed(500, 30, 25);
    const Projection all = fit(rows, 30), few = fit(rows, 3), turned = fit(test::reversed(rows), 30);
    CHECK(turned.weights == all.weights);
    CHECK(turned.centers == all.centers);
    CHECK(turned.scale == all.scale);
    CHECK(std::equal(few.weights.begin(), few.weights.end(), all.weights.begin()));
    CHECK(few.scale == all.scale);
}

TEST_CASE("pca: rows that are all equal, or a single one, give features without a difference") {
    for (const std::int64_t n : {1, 50})
        for (const int gray : {0, 77, 255}) {
            const test::Rows rows = test::filled(n, 12, static_cast<std::uint8_t>(gray));
            const Projection fitted = fit(rows, std::min<std::int64_t>(n, 12));
            for (std::int64_t i = 0; i < fitted.n_out; ++i)
                CHECK(quantized(weighted_sum(&fitted.weights[static_cast<std::size_t>(i * 12)],
                                             rows.pixels.data(), 12) -
                                    fitted.centers[static_cast<std::size_t>(i)],
                                fitted.scale) == 128);
        }
}

TEST_CASE("pca: features are clamped to a byte") {
    CHECK(quantized(0, 1000) == 128);
    CHECK(quantized(1 << 30, std::int64_t{1} << 32) == 255);
    CHECK(quantized(-(1 << 30), std::int64_t{1} << 32) == 0);
    CHECK(quantized(1, std::int64_t{1} << 31) == 129);  // a half is rounded up
    CHECK(quantized(-1, std::int64_t{1} << 31) == 128);
    CHECK(quantized(127, std::int64_t{1} << 32) == 255);
    CHECK(quantized(-128, std::int64_t{1} << 32) == 0);
}

}  // namespace knn
