#pragma once

#include <cmath>
#include <cstddef>

namespace knn {

/// Solves a · x = b by the Cholesky factor of a symmetric, positive definite `a`, whose lower half is read and replaced.
/// `x`: b, then the solution. In a fixed order of operations.
template <class Matrix, class Vector>
void solve_by_cholesky(Matrix& a, Vector& x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            for (std::size_t k = 0; k < j; ++k)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] = i == j ? std::sqrt(a[i][i]) : a[i][j] / a[j][j];
        }
        for (std::size_t k = 0; k < i; ++k)
            x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
    for (std::size_t i = x.size(); i-- > 0;) {
        for (std::size_t k = i + 1; k < x.size(); ++k)
            x[i] -= a[k][i] * x[k];
        x[i] /= a[i][i];
    }
}

}  // namespace knn
