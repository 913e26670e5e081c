#include "tests/support/transform_oracle.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "tests/support/plane.h"

namespace knn::test {

namespace {

using Wide = __int128;
using Bytes = Pixels;

std::int64_t floor_of(Wide dividend, Wide divisor) {
    const Wide quotient = dividend / divisor;
    return static_cast<std::int64_t>(quotient - (dividend % divisor != 0 && (dividend < 0) != (divisor < 0)));
}

/// The nearest integer, halves upward.
std::int64_t nearest_of(Wide dividend, Wide divisor) {
    return floor_of(2 * dividend + divisor, 2 * divisor);
}

/// The slant times 2¹⁶ times `part`, at most 4 pixels a row: the covariance of x and y over the variance of y.
std::int64_t slope_of(const Plane& image, double part) {
    Wide ink = 0, sum_x = 0, sum_y = 0, sum_xy = 0, sum_yy = 0;
    for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x) {
            const Wide p = image.at(y, x);
            ink += p, sum_x += p * x, sum_y += p * y, sum_xy += p * x * y, sum_yy += p * y * y;
        }
    const Wide covariance = ink * sum_xy - sum_x * sum_y, variance = ink * sum_yy - sum_y * sum_y;
    if (variance == 0) return 0;
    const long double slope = static_cast<long double>(covariance) / static_cast<long double>(variance) *
                              static_cast<long double>(part);
    return std::llrint(std::clamp(slope, -4.0L, 4.0L) * 65536);
}

/// 2¹⁶ times how far the center of mass lies behind the middle, along one axis.
std::int64_t shift_of(const Plane& image, bool down) {
    Wide ink = 0, sum = 0;
    for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x) {
            ink += image.at(y, x);
            sum += Wide{image.at(y, x)} * (down ? y : x);
        }
    const int length = down ? image.rows : image.cols;
    return ink == 0 ? 0 : floor_of(sum * 65536, ink) - (length - 1) * std::int64_t{32768};
}

Bytes normalize(const Bytes& pixels) {
    const auto [low, high] = std::minmax_element(pixels.begin(), pixels.end());
    const std::int64_t min = *low, range = *high - *low;
    if (range == 0) return Bytes(pixels.size(), 0);
    std::vector<std::int64_t> stretched;
    std::int64_t sum = 0;
    for (const std::uint8_t pixel : pixels) {
        stretched.push_back(floor_of(255 * (pixel - min) + range / 2, range));
        sum += stretched.back();
    }
    Bytes out;
    for (const std::int64_t s : stretched)
        out.push_back(static_cast<std::uint8_t>(std::min<std::int64_t>(
            255, floor_of(Wide{s} * 33 * static_cast<std::int64_t>(pixels.size()) + sum / 2, sum))));
    return out;
}

/// 2¹⁴ times the Gaussian at 0, 1, 2 ... pixels from its center.
std::vector<std::int64_t> gaussian_weights(double sigma) {
    const int radius = static_cast<int>(std::ceil(3 * sigma));
    const auto density = [&](int at) { return std::exp(-0.5L * at * at / sigma / sigma); };
    long double total = density(0);
    for (int at = 1; at <= radius; ++at)
        total += 2 * density(at);
    std::vector<std::int64_t> weights{16384};
    for (int at = 1; at <= radius; ++at) {
        weights.push_back(std::llround(16384 * density(at) / total));
        weights[0] -= 2 * weights.back();
    }
    return weights;
}

Bytes blur(ImageShape shape, const Bytes& pixels, double sigma) {
    const std::vector<std::int64_t> weights = gaussian_weights(sigma);
    const int reach = static_cast<int>(weights.size()) - 1;
    const Plane image(shape, pixels);
    Plane along(shape.rows, shape.cols);
    Bytes out;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x) {
            std::int64_t sum = 0;
            for (int away = -reach; away <= reach; ++away)
                sum += weights[static_cast<std::size_t>(std::abs(away))] * image.at(y, x + away);
            along.put(y, x) = floor_of(sum, 64);
        }
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x) {
            std::int64_t sum = 0;
            for (int away = -reach; away <= reach; ++away)
                sum += weights[static_cast<std::size_t>(std::abs(away))] * along.at(y + away, x);
            out.push_back(static_cast<std::uint8_t>(nearest_of(sum, 1 << 22)));
        }
    return out;
}

Bytes project(const Projection& projection, const Bytes& row) {
    Bytes out;
    for (std::int64_t i = 0; i < projection.n_out; ++i) {
        Wide sum = -projection.centers[static_cast<std::size_t>(i)];
        for (std::int64_t j = 0; j < projection.dim; ++j)
            sum += Wide{projection.weights[static_cast<std::size_t>(i * projection.dim + j)]} *
                   row[static_cast<std::size_t>(j)];
        const std::int64_t value = 128 + nearest_of(sum * projection.scale, Wide{1} << 32);
        out.push_back(static_cast<std::uint8_t>(std::clamp<std::int64_t>(value, 0, 255)));
    }
    return out;
}

Vector direction(int i, int n) {
    const long double step = 2 * std::numbers::pi_v<long double> / n, length = 64 / std::sin(step);
    return {std::llround(length * std::cos(i * step)), std::llround(length * std::sin(i * step))};
}

std::int64_t cross(Vector a, Vector b) {
    return a.x * b.y - a.y * b.x;
}

/// A cell of an axis: the pixels begin to end - 1.
struct Cell {
    int begin, end;
};

std::vector<Cell> cells_of(int length, int nominal) {
    const auto n = std::max(1, static_cast<int>(floor_of(length + nominal / 2, nominal)));
    std::vector<Cell> cells;
    for (int i = 0; i < n; ++i)
        cells.push_back({static_cast<int>(floor_of(Wide{i} * length, n)),
                         static_cast<int>(floor_of(Wide{i + 1} * length, n))});
    return cells;
}

/// cells × pixels.
Plane weights_of(const std::vector<Cell>& cells, int length, auto weight) {
    Plane weights(static_cast<int>(cells.size()), length);
    for (int cell = 0; cell < weights.rows; ++cell)
        for (int pixel = 0; pixel < length; ++pixel)
            weights.put(cell, pixel) = weight(cells[static_cast<std::size_t>(cell)], pixel);
    return weights;
}

/// 64 times the mean over a cell of a Gaussian of 1.5 pixels in 256ths.
std::int64_t mean_of_gaussian(Cell cell, int pixel) {
    std::int64_t sum = 0;
    for (int at = std::max(cell.begin, pixel - 4); at < std::min(cell.end, pixel + 5); ++at) {
        const int away = at - pixel;
        sum += std::llround(256 * std::exp(-away * away / 4.5L) / 3.76L);  // √(2π) · 1.5
    }
    return nearest_of(64 * sum, Wide{256} * (cell.end - cell.begin));
}

/// 16 at the center of the cell, falling to 0 over its width.
std::int64_t bilinear(Cell cell, int pixel) {
    const int width = cell.end - cell.begin, twice_away = std::abs(2 * pixel + 1 - cell.begin - cell.end);
    return std::max<std::int64_t>(0, nearest_of(Wide{16} * (2 * width - twice_away), 2 * width));
}

/// rows × planes × cols of one plane per bin, summed by the weights: rows of cells × columns of cells.
Plane summed(const Plane& bin, const Plane& row_weights, const Plane& col_weights) {
    Plane half(bin.rows, col_weights.rows), cells(row_weights.rows, col_weights.rows);
    for (int c = 0; c < half.cols; ++c)
        for (int x = 0; x < bin.cols; ++x)
            for (int y = 0; col_weights.at(c, x) != 0 && y < bin.rows; ++y)
                half.put(y, c) += bin.at(y, x) * col_weights.at(c, x);
    for (int r = 0; r < cells.rows; ++r)
        for (int y = 0; y < bin.rows; ++y)
            for (int c = 0; row_weights.at(r, y) != 0 && c < cells.cols; ++c)
                cells.put(r, c) += half.at(y, c) * row_weights.at(r, y);
    return cells;
}

Bytes gradient_features(ImageShape shape, const Bytes& original) {
    const std::vector<Vector> gradients = gradients_of({shape, straightened(shape, original, 0.75)}, sobel);
    const auto rows = weights_of(cells_of(shape.rows, 4), shape.rows, mean_of_gaussian);
    const auto cols = weights_of(cells_of(shape.cols, 4), shape.cols, mean_of_gaussian);
    constexpr int n = 16;
    const std::int64_t n_cells = std::int64_t{rows.rows} * cols.rows;
    Bytes out(static_cast<std::size_t>(n_cells * n));
    const volatile float one = 8 * 255;  // volatile: each operation is rounded by itself
    const volatile float offset = 0.3f * one;
    for (int i = 0; i < n; ++i) {
        Plane shares(shape.rows, shape.cols);
        const Vector before = direction(i - 1, n), after = direction(i + 1, n);
        for (std::size_t at = 0; at < gradients.size(); ++at) {
            const Vector g = gradients[at];
            const std::int64_t nearer = std::min(cross(before, g), cross(g, after));
            const volatile float length = std::sqrt(static_cast<float>(g.x * g.x + g.y * g.y));
            const volatile float divisor = length + offset;
            const volatile float gain = one / 32 / divisor;
            const volatile float share = static_cast<float>(nearer) * gain;
            shares.numbers[at] = nearer > 0 ? static_cast<std::int64_t>(share) : 0;
        }
        const Plane cells = summed(shares, rows, cols);
        for (std::int64_t cell = 0; cell < n_cells; ++cell) {
            const auto sum = static_cast<float>(cells.numbers[static_cast<std::size_t>(cell)]);
            const volatile float root = std::sqrt(sum);
            const volatile float feature = root * 0.1325f;
            out[static_cast<std::size_t>(cell * n + i)] =
                static_cast<std::uint8_t>(std::min(255L, std::lrint(feature)));
        }
    }
    return out;
}

/// Normalizes the values of a block: v / √(Σv² + 1) in steps of 2⁻¹⁶, at most 0.2, then normalized again to 255.
void append_block(const std::vector<std::int64_t>& block, Bytes& out) {
    std::int64_t before = 0, after = 0;
    for (const std::int64_t value : block)
        before += value * value;
    std::vector<std::int64_t> clipped;
    for (const std::int64_t value : block) {
        const volatile double root = std::sqrt(static_cast<double>(before + 1));
        const volatile double part = static_cast<double>(value) / root;
        clipped.push_back(std::min<std::int64_t>(static_cast<std::int64_t>(part * 65536), 13107));
        after += clipped.back() * clipped.back();
    }
    for (const std::int64_t value : clipped) {
        const volatile double feature =
            after == 0 ? 0 : static_cast<double>(value * 255) / std::sqrt(static_cast<double>(after));
        out.push_back(static_cast<std::uint8_t>(std::llrint(feature)));
    }
}

Bytes hog_features(ImageShape shape, const Bytes& pixels) {
    const std::vector<Vector> gradients = gradients_of({shape, pixels}, {{0, 0, 0}, {-1, 0, 1}, {0, 0, 0}});
    const auto rows = weights_of(cells_of(shape.rows, 4), shape.rows, bilinear);
    const auto cols = weights_of(cells_of(shape.cols, 4), shape.cols, bilinear);
    constexpr int n = 9;  // over 180 degrees
    std::vector<Plane> cells;
    for (int i = 0; i < n; ++i) {
        Plane shares(shape.rows, shape.cols);
        for (const int turned : {i, i + n}) {
            const Vector before = direction(turned - 1, 2 * n), after = direction(turned + 1, 2 * n);
            for (std::size_t at = 0; at < gradients.size(); ++at) {
                const Vector g = gradients[at];
                const std::int64_t nearer = std::min(cross(before, g), cross(g, after));
                shares.numbers[at] += std::max<std::int64_t>(nearer, 0) / 32;
            }
        }
        cells.push_back(summed(shares, rows, cols));
    }
    const int block_rows = std::min(rows.rows, 2), block_cols = std::min(cols.rows, 2);
    Bytes out;
    for (int r = 0; r + block_rows <= rows.rows; ++r)
        for (int c = 0; c + block_cols <= cols.rows; ++c) {
            std::vector<std::int64_t> block;
            for (int y = r; y < r + block_rows; ++y)
                for (int x = c; x < c + block_cols; ++x)
                    for (const auto& bin : cells)
                        block.push_back(bin.at(y, x));
            append_block(block, out);
        }
    return out;
}

std::vector<const Projection*> projections_of(const FittedTransform& fitted) {
    std::vector<const Projection*> all;
    for (const FittedStep& step : fitted.steps)
        if (const auto* projection = std::get_if<Projection>(&step.what)) all.push_back(projection);
    return all;
}

}  // namespace

Pixels straightened(ImageShape shape, const Pixels& pixels, double part) {
    const Plane image(shape, pixels);
    const std::int64_t slope = slope_of(image, part);
    const std::int64_t shift_x = shift_of(image, false), shift_y = shift_of(image, true);
    Pixels out;
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.cols; ++x) {
            // Where it is read, in steps of 1/256 pixel, to the nearest.
            const std::int64_t at_y = 256 * y + nearest_of(shift_y, 256);
            const std::int64_t sheared = floor_of(Wide{slope} * (2 * y - (shape.rows - 1)), 2);
            const std::int64_t at_x = 256 * x + nearest_of(shift_x + sheared, 256);
            const std::int64_t y0 = floor_of(at_y, 256), x0 = floor_of(at_x, 256);
            std::int64_t sum = 0;
            for (const int dy : {0, 1})
                for (const int dx : {0, 1}) {
                    const std::int64_t weight_y = 256 - std::abs(256 * (y0 + dy) - at_y);
                    const std::int64_t weight_x = 256 - std::abs(256 * (x0 + dx) - at_x);
                    sum += weight_y * weight_x * image.at(y0 + dy, x0 + dx);
                }
            out.push_back(static_cast<std::uint8_t>(nearest_of(sum, 65536)));
        }
    return out;
}

std::vector<Vector> gradients_of(const Plane& image, const int (&mask)[3][3]) {
    std::vector<Vector> all;
    for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x) {
            Vector g;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) {
                    g.x += mask[i][j] * image.at(y + i - 1, x + j - 1);
                    g.y += mask[j][i] * image.at(y + i - 1, x + j - 1);
                }
            all.push_back(g);
        }
    return all;
}

std::int64_t floor_root(__int128 n) {
    __int128 low = 0, high = std::int64_t{1} << 62;
    while (low < high) {
        const __int128 middle = (low + high + 1) / 2;
        if (middle * middle <= n)
            low = middle;
        else
            high = middle - 1;
    }
    return static_cast<std::int64_t>(low);
}

std::vector<std::uint8_t> features_of(const FittedTransform& fitted, const std::uint8_t* image) {
    Bytes row(image, image + fitted.image.dim());
    std::size_t projections = 0;
    for (const TransformStep& step : fitted.spec.steps) {
        const std::string what = name(step.kind);
        if (what == "deskew")
            row = straightened(fitted.image, row, step.parameter);
        else if (what == "normalize")
            row = normalize(row);
        else if (what == "blur")
            row = blur(fitted.image, row, step.parameter);
        else if (what == "pca")
            row = project(*projections_of(fitted).at(projections++), row);
        else if (what == "hog")
            row = hog_features(fitted.image, row);
        else if (what == "gradients")
            row = gradient_features(fitted.image, row);
        else
            throw std::logic_error("no oracle for " + what);
    }
    return row;
}

Rows features_of(const FittedTransform& fitted, const knn::Rows& images) {
    Rows all{{}, images.count, 0};
    for (std::int64_t i = 0; i < images.count; ++i) {
        const Bytes row = features_of(fitted, images.row(i));
        all.dim = std::ssize(row);
        all.pixels.insert(all.pixels.end(), row.begin(), row.end());
    }
    return all;
}

}  // namespace knn::test
