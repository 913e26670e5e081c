#include "data/sketch/sketch.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "data/core/splitmix64.h"

namespace knn {

namespace {

constexpr std::int64_t most_sampled = 1024, least_sampled = 256, sampled_bytes = 4 << 20;
constexpr int iteration_steps = 2;
constexpr double unit = 16384;  ///< of the weights

/// count × length, row by row.
template <class T>
struct Matrix {
    std::int64_t count, length;
    std::vector<T> values = std::vector<T>(static_cast<std::size_t>(count * length));

    T* row(std::int64_t i) { return values.data() + i * length; }
    const T* row(std::int64_t i) const { return values.data() + i * length; }
};

/// a.count × b.count products of rows, exact below 2³¹.
Matrix<std::int32_t> products(const Matrix<std::int16_t>& a, const Matrix<std::int16_t>& b,
                              const ProgressToken& token) {
    constexpr std::int64_t rows_at_once = 64;  // of b: they stay in the cache
    Matrix<std::int32_t> sums{a.count, b.count};
    for (std::int64_t first = 0; first < b.count; first += rows_at_once)
        for (std::int64_t i = 0; i < a.count; ++i) {
            token.step(0, 0);
            for (std::int64_t j = first; j < std::min(first + rows_at_once, b.count); ++j) {
                const std::int16_t *x = a.row(i), *y = b.row(j);
                std::int32_t sum = 0;
                for (std::int64_t p = 0; p < a.length; ++p)
                    sum += x[p] * y[p];
                sums.row(i)[j] = sum;
            }
        }
    return sums;
}

/// Each row by its own factor, as large as products with as many bytes as it has values allow.
template <class T>
Matrix<std::int16_t> shortened(const Matrix<T>& rows) {
    double most = 1;
    while (most < 16384 && static_cast<double>(rows.length) * 255 * most * 2 < 2147483648.0)
        most *= 2;
    Matrix<std::int16_t> made{rows.count, rows.length};
    for (std::int64_t i = 0; i < rows.count; ++i) {
        double largest = 0;
        for (std::int64_t j = 0; j < rows.length; ++j)
            largest = std::max(largest, std::abs(static_cast<double>(rows.row(i)[j])));
        const double factor = largest > 0 ? most / largest : 0;
        for (std::int64_t j = 0; j < rows.length; ++j)
            made.row(i)[j] = static_cast<std::int16_t>(std::nearbyint(rows.row(i)[j] * factor));
    }
    return made;
}

/// 1 or −1, the same on every machine.
class Signs {
  public:
    std::int16_t next() {
        return splitmix64(state_ += splitmix64_step) >> 63 != 0 ? std::int16_t{1} : std::int16_t{-1};
    }

  private:
    std::uint64_t state_ = 0;
};

/// An orthonormal base of the rows' space, by Gram and Schmidt in a fixed order. A row that depends on those before it is left out.
Matrix<double> orthonormal(const Matrix<double>& rows, const ProgressToken& token) {
    constexpr double dependent = 1e-12;  // of the square of its length
    const std::int64_t n = rows.count, dim = rows.length;
    Matrix<double> columns{dim, n};  // the rows side by side, which lets a loop over them be vectorized
    std::vector<double> lengths(static_cast<std::size_t>(n)), dots(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < dim; ++j)
        for (std::int64_t i = 0; i < n; ++i) {
            columns.row(j)[i] = rows.row(i)[j];
            lengths[static_cast<std::size_t>(i)] += rows.row(i)[j] * rows.row(i)[j];
        }
    Matrix<double> base{0, dim, {}};
    for (std::int64_t i = 0; i < n; ++i) {
        token.step(0, 0);
        std::fill(dots.begin() + i, dots.end(), 0.0);
        for (std::int64_t j = 0; j < dim; ++j) {
            const double* column = columns.row(j);
            for (std::int64_t other = i; other < n; ++other)
                dots[static_cast<std::size_t>(other)] += column[i] * column[other];
        }
        const double square = dots[static_cast<std::size_t>(i)];
        if (square <= lengths[static_cast<std::size_t>(i)] * dependent) continue;
        const double length = std::sqrt(square);
        for (double& dot : dots)
            dot /= square;
        for (std::int64_t j = 0; j < dim; ++j) {
            double* column = columns.row(j);
            base.values.push_back(column[i] / length);
            for (std::int64_t other = i + 1; other < n; ++other)
                column[other] -= dots[static_cast<std::size_t>(other)] * column[i];
        }
        ++base.count;
    }
    return base;
}

Matrix<double> as_doubles(const Matrix<std::int32_t>& rows) {
    return {rows.count, rows.length, {rows.values.begin(), rows.values.end()}};
}

/// Random signs of all rows of a base.
Matrix<double> turned(const Matrix<double>& base, Signs& signs, const ProgressToken& token) {
    Matrix<double> sums{base.count, base.length};
    for (std::int64_t i = 0; i < base.count; ++i) {
        token.step(0, 0);
        for (std::int64_t other = 0; other < base.count; ++other) {
            const double sign = signs.next();
            const double* row = base.row(other);
            for (std::int64_t j = 0; j < base.length; ++j)
                sums.row(i)[j] += sign * row[j];
        }
    }
    return sums;
}

/// Up to `n` axes of the rows of `centered`.
Matrix<double> axes_of(const Matrix<std::int16_t>& centered, std::int64_t n, const ProgressToken& token) {
    Matrix<std::int16_t> transposed{centered.length, centered.count};
    for (std::int64_t i = 0; i < centered.count; ++i) {
        token.step(0, 0);
        for (std::int64_t j = 0; j < centered.length; ++j)
            transposed.row(j)[i] = centered.row(i)[j];
    }
    Signs signs;
    Matrix<std::int16_t> start{n, centered.count};
    for (std::int16_t& one : start.values)
        one = signs.next();
    const auto times = [&](const Matrix<std::int16_t>& a, const Matrix<std::int16_t>& b) {
        return products(a, b, token);
    };
    Matrix<double> base = orthonormal(as_doubles(times(start, transposed)), token);
    for (int step = 0; step < iteration_steps; ++step)
        base = orthonormal(as_doubles(times(shortened(times(shortened(base), centered)), transposed)), token);
    return orthonormal(turned(base, signs, token), token);
}

/// At least the norm of the weights as a matrix W: the largest eigenvalue of W Wᵀ = 2²⁸ I + E is at most 2²⁸ + ‖E‖, and the root of the
/// sum of squares is at least ‖E‖. E is exact: rows of W are about 2¹⁴ long, so their products fit 32 bits.
double norm_of(const Matrix<std::int16_t>& weights, const ProgressToken& token) {
    const Matrix<std::int32_t> gram = products(weights, weights, token);
    double squares = 0;
    for (std::int64_t a = 0; a < gram.count; ++a)
        for (std::int64_t b = 0; b < gram.length; ++b) {
            const double off = gram.row(a)[b] - (a == b ? unit * unit : 0);
            squares += off * off;
        }
    return std::sqrt(unit * unit + std::sqrt(squares));
}

std::int32_t sum_along(const Sketch& sketch, std::int64_t axis, const std::uint8_t* row) {
    const std::int16_t* weights = sketch.weights.data() + axis * sketch.dim;
    std::int32_t sum = 0;
    for (std::int64_t j = 0; j < sketch.dim; ++j)
        sum += weights[j] * row[j];
    return sum;
}

}  // namespace

std::int64_t rows_to_fit(std::int64_t n, std::int64_t dim) {
    return std::min(n, std::clamp(sampled_bytes / dim, least_sampled, most_sampled));
}

Sketch fit_sketch(const Rows& rows, std::int64_t columns, const ProgressToken& token) {
    const std::int64_t dim = rows.dim;
    const std::int64_t n = rows_to_fit(rows.count, dim);
    const auto sampled = [&](std::int64_t i) { return rows.row(i * rows.count / n); };
    std::vector<std::int64_t> sums(static_cast<std::size_t>(dim));
    for (std::int64_t i = 0; i < n; ++i) {
        token.step(0, 0);
        for (std::int64_t j = 0; j < dim; ++j)
            sums[static_cast<std::size_t>(j)] += sampled(i)[j];
    }
    Matrix<std::int16_t> centered{n, dim};
    for (std::int64_t i = 0; i < n; ++i) {
        token.step(0, 0);
        for (std::int64_t j = 0; j < dim; ++j)
            centered.row(i)[j] =
                static_cast<std::int16_t>(sampled(i)[j] - sums[static_cast<std::size_t>(j)] / n);
    }

    const Matrix<double> axes = axes_of(centered, std::min(columns - spare_columns, dim), token);
    Matrix<std::int16_t> weights{axes.count, dim};
    std::ranges::transform(axes.values, weights.values.begin(), [](double value) {
        return static_cast<std::int16_t>(std::nearbyint(unit * value));
    });
    Sketch sketch{.columns = columns, .dim = dim, .axes = axes.count, .weights = {}, .centers = {}};
    for (std::int64_t i = 0; i < axes.count; ++i) {
        std::int64_t center = 0;
        for (std::int64_t j = 0; j < dim; ++j)
            center += weights.row(i)[j] * sums[static_cast<std::size_t>(j)];
        sketch.centers.push_back(static_cast<std::int32_t>(center / n));
    }
    std::int64_t largest = 1;
    for (const std::int32_t value : products(weights, centered, token).values)
        largest = std::max<std::int64_t>(largest, std::abs(value));
    sketch.scale = std::min((std::int64_t{127} << 32) / largest, std::int64_t{1} << 24);
    // Rounded up: all roundings here and in sketch_reach together are below 2⁻³⁰ of it.
    sketch.stretch = norm_of(weights, token) * static_cast<double>(sketch.scale) / 4194304 * (1 + 0x1p-30);
    sketch.weights = std::move(weights.values);
    return sketch;
}

std::uint32_t sketch_sums(const Sketch& sketch, const std::int32_t* sums, std::uint8_t* columns) {
    std::fill_n(columns, sketch.columns, std::uint8_t{128});
    std::uint64_t squares = 0;
    for (std::int64_t axis = 0; axis < sketch.axes; ++axis) {
        const std::int32_t v = sums[axis] - sketch.centers[static_cast<std::size_t>(axis)];
        const SketchColumn column = sketch_column(v, sketch.scale);
        columns[axis] = column.byte;
        squares += static_cast<std::uint64_t>(std::int64_t{column.rest} * column.rest);
    }
    return sketch_error(squares);
}

std::uint32_t sketch_row(const Sketch& sketch, const std::uint8_t* row, std::uint8_t* columns) {
    std::int32_t sums[most_columns];
    for (std::int64_t axis = 0; axis < sketch.axes; ++axis)
        sums[axis] = sum_along(sketch, axis, row);
    return sketch_sums(sketch, sums, columns);
}

}  // namespace knn
