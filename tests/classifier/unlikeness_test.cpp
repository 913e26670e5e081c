#include "classifier/unlikeness.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace knn;

namespace {

struct Rest {
    double all, most;
};

/// What no mixture explains, from the conditions of the least squares under Σ x = 1, by Gauss-Jordan elimination.
Rest rest_of(const std::vector<std::vector<double>>& differences) {
    const std::size_t m = differences.size(), dim = differences[0].size();
    const auto dot = [&](std::size_t i, std::size_t j) {
        long double sum = 0;
        for (std::size_t p = 0; p < dim; ++p)
            sum += static_cast<long double>(differences[i][p]) * differences[j][p];
        return sum;
    };
    long double trace = 0;
    for (std::size_t i = 0; i < m; ++i)
        trace += dot(i, i);
    // Unknowns x[0..m), then the multiplier; each row is the left side and the right one.
    std::vector<std::vector<long double>> rows(m + 1, std::vector<long double>(m + 2));
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j)
            rows[i][j] = 2 * (dot(i, j) + (i == j ? 0.1L * trace / m : 0.0L));
        rows[i][m] = rows[m][i] = 1;
    }
    rows[m][m + 1] = 1;
    for (std::size_t c = 0; c <= m; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c; r <= m; ++r)
            if (std::abs(rows[r][c]) > std::abs(rows[pivot][c])) pivot = r;
        std::swap(rows[c], rows[pivot]);
        for (std::size_t r = 0; r <= m; ++r) {
            const long double factor = r == c ? 0 : rows[r][c] / rows[c][c];
            for (std::size_t k = 0; k <= m + 1; ++k)
                rows[r][k] -= factor * rows[c][k];
        }
    }
    std::vector<double> parts((dim + 15) / 16);
    for (std::size_t p = 0; p < dim; ++p) {
        long double rest = 0;
        for (std::size_t i = 0; i < m; ++i)
            rest += rows[i][m + 1] / rows[i][i] * differences[i][p];
        parts[p / 16] += static_cast<double>(rest * rest);
    }
    std::sort(parts.begin(), parts.end(), std::greater<>());
    Rest result{0, 0};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        result.all += parts[i];
        if (i < 5) result.most += parts[i];
    }
    return result;
}

}  // namespace

TEST_CASE("unlikeness against the conditions of the least squares") {
    std::mt19937 random(5);
    for (const int dim : {1, 15, 49, 160, 784, 3000})
        for (const int others : {0, 3}) {
            const int n = 24;
            const auto size = static_cast<std::size_t>(dim);
            std::vector<std::uint8_t> pixels(n * size), labels, query(size);
            for (auto* bytes : {&pixels, &query})
                for (std::uint8_t& one : *bytes)
                    one = static_cast<std::uint8_t>(random() % 256);
            std::vector<Neighbor> neighbors;
            std::vector<std::vector<double>> differences;
            for (int i = 0; i < n; ++i) {
                labels.push_back(others > 0 && i % others == 0 ? 1 : 7);
                neighbors.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)});
                if (labels.back() != 7 || differences.size() == 16) continue;
                auto& difference = differences.emplace_back();
                for (int p = 0; p < dim; ++p)
                    difference.push_back(double(pixels[std::size_t(i * dim + p)]) - query[std::size_t(p)]);
            }
            const Rest rest = rest_of(differences);
            const ComparedRows train{{pixels.data(), n, dim}, labels, {}};
            CAPTURE(dim);
            CHECK(unlikeness(query.data(), train, neighbors, 7) ==
                  doctest::Approx(std::log(rest.all) + std::log(rest.most)).epsilon(1e-9));
        }
}

TEST_CASE("unlikeness of a copy is finite, and density is divided out") {
    const std::vector<std::uint8_t> pixels = {10, 20, 30, 40}, labels = {2, 2};
    const std::vector<Neighbor> neighbors = {{0, 0}, {800, 1}};
    const std::vector<std::uint32_t> density = {1u << 15, 1u << 16};
    const std::uint8_t copy[] = {10, 20};
    const ComparedRows twice{{pixels.data(), 1, 2}, std::span(labels).first(1), {}};
    CHECK(unlikeness(copy, twice, std::span(neighbors).first(1), 2) == doctest::Approx(2 * std::log(1e-3)));
    const ComparedRows plain{{pixels.data(), 2, 2}, labels, {}},
        dense{{pixels.data(), 2, 2}, labels, density};
    const std::uint8_t other[] = {0, 25};
    CHECK(unlikeness(other, dense, neighbors, 2) - unlikeness(other, plain, neighbors, 2) ==
          doctest::Approx(2 * (0 + std::log(2.0)) / 2));
}
