#include "data/transform/projection.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace knn {

namespace {

/// Rows that are summed at once: their columns, 2 bytes a value, stay in the cache for 784 pixels, and as many products
/// of 255 · 255 fit 32 bits.
constexpr std::int64_t chunk = 256;

struct Sums {
    std::vector<std::int64_t> values;    ///< dim
    std::vector<std::int64_t> products;  ///< dim × dim, the lower triangle
};

Sums sums_of(const Rows& rows) {
    const auto dim = static_cast<std::size_t>(rows.dim);
    Sums sums{std::vector<std::int64_t>(dim), std::vector<std::int64_t>(dim * dim)};
    std::vector<std::int16_t> columns(dim *
                                      chunk);  // of the chunk: contiguous, so that products are dot products
    for (std::int64_t begin = 0; begin < rows.count; begin += chunk) {
        const std::int64_t n = std::min(chunk, rows.count - begin);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < dim; ++j)
                columns[j * chunk + static_cast<std::size_t>(i)] = rows.row(begin + i)[j];
        for (std::size_t a = 0; a < dim; ++a) {
            const std::int16_t* left = &columns[a * chunk];
            for (std::int64_t i = 0; i < n; ++i)
                sums.values[a] += left[i];
            for (std::size_t b = 0; b <= a; ++b) {
                const std::int16_t* right = &columns[b * chunk];
                std::int32_t product = 0;
                for (std::int64_t i = 0; i < n; ++i)
                    product += left[i] * right[i];
                sums.products[a * dim + b] += product;
            }
        }
    }
    return sums;
}

Eigen::MatrixXd covariance_of(const Sums& sums, double n) {
    const auto dim = static_cast<Eigen::Index>(sums.values.size());
    Eigen::MatrixXd covariance(dim, dim);
    const auto value = [&](Eigen::Index i) {
        return static_cast<double>(sums.values[static_cast<std::size_t>(i)]);
    };
    for (Eigen::Index a = 0; a < dim; ++a)
        for (Eigen::Index b = 0; b <= a; ++b) {
            const auto product = static_cast<double>(sums.products[static_cast<std::size_t>(a * dim + b)]);
            covariance(a, b) = product / n - value(a) / n * (value(b) / n);
        }
    return covariance;
}

}  // namespace

Projection fit_projection(const Rows& rows, std::int64_t n_out) {
    const Sums sums = sums_of(rows);
    const auto n = static_cast<double>(rows.count);
    // Reads the lower triangle; eigenvalues ascend.
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance_of(sums, n));
    Projection fitted{.n_out = n_out, .dim = rows.dim, .weights = {}, .centers = {}, .scale = 0};
    for (std::int64_t i = 0; i < n_out; ++i) {
        const Eigen::VectorXd vector = solver.eigenvectors().col(rows.dim - 1 - i);
        Eigen::Index largest = 0;
        vector.cwiseAbs().maxCoeff(&largest);
        const double one = vector(largest) < 0 ? -16384 : 16384;
        double center = 0;
        for (Eigen::Index j = 0; j < rows.dim; ++j) {
            const double weight = std::nearbyint(vector(j) * one);
            fitted.weights.push_back(static_cast<std::int16_t>(weight));
            center += weight * static_cast<double>(sums.values[static_cast<std::size_t>(j)]) / n;
        }
        fitted.centers.push_back(static_cast<std::int32_t>(std::nearbyint(center)));
    }
    const double deviation = std::sqrt(std::max(solver.eigenvalues()(rows.dim - 1), 1.0));
    fitted.scale = std::llrint(127 / (4 * deviation) * 262144);  // 2³² / 2¹⁴
    return fitted;
}

}  // namespace knn
