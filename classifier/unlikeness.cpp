#include "classifier/unlikeness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "data/rerank/density.h"

namespace knn {

namespace {

constexpr std::size_t max_mixed = 16, values_per_part = 16, most_parts = 5, scaling_neighbors = 4;
constexpr double stiffness = 0.1;
constexpr double least_energy = 1e-3;  ///< of a copy, so that the logarithm is finite

/// Rows of differences from the query.
using Differences = std::vector<std::vector<std::int16_t>>;

std::int64_t product(const std::vector<std::int16_t>& a, const std::vector<std::int16_t>& b) {
    std::int64_t sum = 0;
    for (std::size_t first = 0; first < a.size(); first += 1024) {  // 1024 · 255² fits 32 bits
        const std::size_t last = std::min(a.size(), first + 1024);
        std::int32_t part = 0;
        for (std::size_t i = first; i < last; ++i)
            part += std::int32_t{a[i]} * b[i];
        sum += part;
    }
    return sum;
}

/// x of step 2.
std::vector<double> mixture(const Differences& differences) {
    const std::size_t m = differences.size();
    std::array<std::array<double, max_mixed>, max_mixed> a{};
    double trace = 0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            a[i][j] = static_cast<double>(product(differences[i], differences[j]));
    for (std::size_t i = 0; i < m; ++i)
        trace += a[i][i];
    if (trace == 0) return std::vector<double>(m, 1 / static_cast<double>(m));
    std::vector<double> x(m, 1.0);
    for (std::size_t i = 0; i < m; ++i) {  // Cholesky, forward
        a[i][i] += stiffness * trace / static_cast<double>(m);
        for (std::size_t j = 0; j <= i; ++j) {
            for (std::size_t k = 0; k < j; ++k)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] = i == j ? std::sqrt(a[i][i]) : a[i][j] / a[j][j];
        }
        for (std::size_t k = 0; k < i; ++k)
            x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
    double sum = 0;
    for (std::size_t i = m; i-- > 0;) {  // backward
        for (std::size_t k = i + 1; k < m; ++k)
            x[i] -= a[k][i] * x[k];
        x[i] /= a[i][i];
        sum += x[i];
    }
    for (double& one : x)
        one /= sum;
    return x;
}

/// e of step 3.
std::vector<double> energies(const Differences& differences, const std::vector<double>& x) {
    const std::size_t dim = differences.front().size();
    std::vector<double> rest(dim), parts((dim + values_per_part - 1) / values_per_part);
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t p = 0; p < dim; ++p)
            rest[p] += x[i] * differences[i][p];
    for (std::size_t p = 0; p < dim; ++p)
        parts[p / values_per_part] += rest[p] * rest[p];
    return parts;
}

}  // namespace

double unlikeness(const std::uint8_t* query, const ComparedRows& train, std::span<const Neighbor> neighbors,
                  std::uint8_t winner) {
    const auto dim = static_cast<std::size_t>(train.rows.dim);
    Differences differences;
    double scale = 0;
    for (const Neighbor& neighbor : neighbors) {
        if (train.labels[neighbor.index] != winner) continue;
        const std::uint8_t* row = train.rows.row(neighbor.index);
        if (!train.density.empty() && differences.size() < scaling_neighbors)
            scale += std::log(std::ldexp(double(train.density[neighbor.index]), -density_shift));
        std::vector<std::int16_t>& difference = differences.emplace_back(dim);
        for (std::size_t p = 0; p < dim; ++p)
            difference[p] = static_cast<std::int16_t>(row[p] - query[p]);
        if (differences.size() == max_mixed) break;
    }
    scale /= static_cast<double>(std::min(differences.size(), scaling_neighbors));
    std::vector<double> parts = energies(differences, mixture(differences));
    std::sort(parts.begin(), parts.end(), std::greater<>());
    double all = 0, most = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        all += parts[i];
        if (i < most_parts) most += parts[i];
    }
    return std::log(std::max(all, least_energy)) + std::log(std::max(most, least_energy)) + 2 * scale;
}

}  // namespace knn
