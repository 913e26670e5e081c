#include "tests/support/rerank_oracle.h"

#include <algorithm>
#include <limits>

namespace knn::test {

namespace {

/// 5 g / (length + 204) to the nearest integer, halves away from 0.
std::int64_t level(std::int64_t g, std::int64_t length) {
    const std::int64_t size = g < 0 ? -g : g, divisor = length + 204;
    std::int64_t steps = 0;
    while (10 * size >= (2 * steps + 1) * divisor)
        ++steps;
    return g < 0 ? -steps : steps;
}

constexpr std::int64_t axes[8][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};

/// g as a sum of an axis (even direction) and a diagonal next to it with nonnegative factors; diagonals are longer by √2.
std::int64_t share(Vector g, int direction) {
    for (int even = 0; even < 8; even += 2)
        for (const int odd : {(even + 1) % 8, (even + 7) % 8}) {
            // g = s · axes[even] + t · axes[odd], and the determinant of the two is 1 or -1.
            const auto &a = axes[even], &b = axes[odd];
            const std::int64_t det = a[0] * b[1] - a[1] * b[0];
            const std::int64_t s = (g.x * b[1] - g.y * b[0]) / det, t = (a[0] * g.y - a[1] * g.x) / det;
            if (s < 0 || t < 0) continue;
            return direction == even ? s : direction == odd ? t * 181 / 128 : 0;
        }
    return 0;
}

std::vector<std::int64_t> bins_of(ImageShape shape, const Pixels& pixels) {
    constexpr std::int64_t binomial[] = {1, 5, 10, 10, 5, 1};
    const std::vector<Vector> gradients = gradients_of({shape, pixels}, sobel);
    std::vector<std::int64_t> all;
    for (std::int64_t top = 0; top < shape.rows; top += 2)
        for (std::int64_t left = 0; left < shape.cols; left += 2)
            for (int direction = 0; direction < 8; ++direction) {
                std::int64_t sum = 0;
                for (std::int64_t y = std::max<std::int64_t>(top - 2, 0);
                     y < std::min<std::int64_t>(top + 4, shape.rows); ++y)
                    for (std::int64_t x = std::max<std::int64_t>(left - 2, 0);
                         x < std::min<std::int64_t>(left + 4, shape.cols); ++x)
                        sum += binomial[y - top + 2] * binomial[x - left + 2] *
                               share(gradients[static_cast<std::size_t>(y * shape.cols + x)], direction);
                all.push_back(std::min<std::int64_t>(63, floor_root(sum / 256)));
            }
    return all;
}

std::int64_t distortion(const RerankMaps& query, const RerankMaps& candidate) {
    std::int64_t total = 0;
    for (int y = 0; y < query.shape.rows; y += 2)
        for (int x = 0; x < query.shape.cols; x += 2)
            total += displacement(query, candidate, x, y).sum;
    return total;
}

std::int64_t cells(const RerankMaps& query, const RerankMaps& candidate) {
    const ImageShape grid{(query.shape.rows + 1) / 2, (query.shape.cols + 1) / 2};
    std::int64_t total = 0;
    for (int y = 0; y < grid.rows; ++y)
        for (int x = 0; x < grid.cols; ++x) {
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (int v = y - 1; v <= y + 1; ++v)
                for (int u = x - 1; u <= x + 1; ++u) {
                    const bool inside = u >= 0 && u < grid.cols && v >= 0 && v < grid.rows;
                    std::int64_t sum = 0;
                    for (int bin = 0; bin < 8; ++bin) {
                        const auto own = static_cast<std::size_t>((y * grid.cols + x) * 8 + bin);
                        const auto other = static_cast<std::size_t>((v * grid.cols + u) * 8 + bin);
                        const std::int64_t difference =
                            query.bins[own] - (inside ? candidate.bins[other] : 0);
                        sum += difference * difference;
                    }
                    least = std::min(least, sum);
                }
            total += least;
        }
    return total;
}

}  // namespace

RerankMaps rerank_maps(const std::uint8_t* image, ImageShape shape) {
    const Pixels pixels(image, image + shape.dim());
    const Plane blank(shape.rows, shape.cols);
    Plane x = blank, y = blank;
    std::size_t i = 0;
    for (const Vector g : gradients_of({shape, straightened(shape, pixels, 0.75)}, sobel)) {
        const std::int64_t length = floor_root(g.x * g.x + g.y * g.y);
        x.numbers[i] = level(g.x, length);
        y.numbers[i++] = level(g.y, length);
    }
    RerankMaps maps{shape, blank, blank, bins_of(shape, straightened(shape, pixels, 0.5))};
    for (int row = 0; row < shape.rows; ++row)
        for (int col = 0; col < shape.cols; ++col)
            for (int corner = 0; corner < 4; ++corner) {
                maps.x.put(row, col) += x.at(row + corner / 2, col + corner % 2);
                maps.y.put(row, col) += y.at(row + corner / 2, col + corner % 2);
            }
    return maps;
}

std::vector<std::uint8_t> descriptor_bytes(const RerankMaps& maps, RerankKind kind) {
    std::vector<std::uint8_t> bytes;
    const auto put = [&](std::int64_t value) { bytes.push_back(static_cast<std::uint8_t>(value)); };
    if (kind != RerankKind::cells)
        for (int phase = 0; phase < 4; ++phase)
            for (int y = phase / 2; y < maps.shape.rows; y += 2)
                for (int x = phase % 2; x < maps.shape.cols; x += 2) {
                    put(maps.x.at(y, x));
                    put(maps.y.at(y, x));
                }
    if (kind != RerankKind::distortion)
        for (const std::int64_t bin : maps.bins)
            put(bin);
    return bytes;
}

Displacement displacement(const RerankMaps& query, const RerankMaps& candidate, int x, int y) {
    Displacement least{0, 0, std::numeric_limits<std::int64_t>::max()};
    for (int square = 0; square <= 8; ++square)
        for (int move = 0; move < 25; ++move) {
            const int dx = move % 5 - 2, dy = move / 5 - 2;
            if (dx * dx + dy * dy != square) continue;
            std::int64_t sum = 0;
            for (int v = y - 2; v <= y + 2; v += 2)
                for (int u = x - 2; u <= x + 2; u += 2) {
                    const std::int64_t a = query.x.at(v, u) - candidate.x.at(v + dy, u + dx);
                    const std::int64_t b = query.y.at(v, u) - candidate.y.at(v + dy, u + dx);
                    sum += a * a + b * b;
                }
            if (sum < least.sum) least = {dx, dy, sum};
        }
    return least;
}

std::int64_t rerank_distance(const RerankMaps& query, const RerankMaps& candidate, RerankKind kind) {
    if (kind == RerankKind::cells) return cells(query, candidate);
    return distortion(query, candidate) + (kind == RerankKind::both ? cells(query, candidate) : 0);
}

}  // namespace knn::test
