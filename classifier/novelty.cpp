#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "classifier/cholesky.h"
#include "classifier/leave_one_out.h"
#include "data/rerank/density.h"

namespace knn {

namespace {

constexpr std::size_t max_mixed = 32, scaling_neighbors = 4;
constexpr double stiffness = 0.02, part_of_all = 0.4;
constexpr double least_energy = 1e-3;  ///< of a copy, so that the logarithm is finite

/// Rows of differences from the query.
using Differences = std::vector<std::vector<std::int16_t>>;
using Matrix = std::array<std::array<double, max_mixed>, max_mixed>;

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

/// G of step 2, the lower half.
Matrix products(const Differences& differences) {
    Matrix g{};
    for (std::size_t i = 0; i < differences.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j)
            g[i][j] = static_cast<double>(product(differences[i], differences[j]));
    return g;
}

/// x of step 2 for the neighbors `used`, ascending, whatever its signs.
std::vector<double> mixture(const Matrix& products, const std::vector<std::size_t>& used) {
    const std::size_t m = used.size();
    Matrix a{};
    double trace = 0;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            a[i][j] = products[used[i]][used[j]];
    for (std::size_t i = 0; i < m; ++i)
        trace += a[i][i];
    if (trace == 0) return std::vector<double>(m, 1 / static_cast<double>(m));
    for (std::size_t i = 0; i < m; ++i)
        a[i][i] += stiffness * trace / static_cast<double>(m);
    std::vector<double> x(m, 1.0);
    solve_by_cholesky(a, x);
    const double sum = std::accumulate(x.rbegin(), x.rend(), 0.0);
    for (double& one : x)
        one /= sum;
    return x;
}

/// r of step 3.
std::vector<double> unexplained(const Differences& differences) {
    const Matrix g = products(differences);
    std::vector<std::size_t> used(differences.size());
    std::iota(used.begin(), used.end(), std::size_t{0});
    std::vector<double> x = mixture(g, used);
    while (*std::min_element(x.begin(), x.end()) <= 0) {  // one is above 0: their sum is 1
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (x[i] > 0) left.push_back(used[i]);
        used = std::move(left);
        x = mixture(g, used);
    }
    std::vector<double> rest(differences.front().size());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t p = 0; p < rest.size(); ++p)
            rest[p] += x[i] * differences[used[i]][p];
    return rest;
}

/// e of step 3, by sums of all places above and to the left of each.
double energy(const std::vector<double>& rest, const FeatureGrid& grid) {
    const auto side = [](int length) { return std::max(1, (3 * length + 3) / 7); };  // rounded
    const int high = side(grid.rows), wide = side(grid.cols);
    const std::size_t width = static_cast<std::size_t>(grid.cols) + 1;
    std::vector<double> sums(width * (static_cast<std::size_t>(grid.rows) + 1));
    const auto sum = [&](int row, int col) -> double& {
        return sums[static_cast<std::size_t>(row) * width + static_cast<std::size_t>(col)];
    };
    double most = 0;
    const double* value = rest.data();
    for (int row = 1; row <= grid.rows; ++row)
        for (int col = 1; col <= grid.cols; ++col) {
            double here = 0;
            for (int i = 0; i < grid.depth; ++i, ++value)
                here += *value * *value;
            sum(row, col) = here + sum(row - 1, col) + sum(row, col - 1) - sum(row - 1, col - 1);
            if (row < high || col < wide) continue;
            most = std::max(most, sum(row, col) - sum(row - high, col) - sum(row, col - wide) +
                                      sum(row - high, col - wide));
        }
    return std::max(most, part_of_all * sum(grid.rows, grid.cols));
}

}  // namespace

double novelty_score(const std::uint8_t* query, const ComparedRows& train,
                     std::span<const Neighbor> neighbors, std::uint8_t winner) {
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
    return std::log(std::max(energy(unexplained(differences), train.grid), least_energy)) + scale;
}

}  // namespace knn
