#include "data/rerank/distance.h"

#include <algorithm>
#include <tuple>

namespace knn {

namespace {

struct Pair {
    int x, y;
};

/// p(x, y) of a descriptor.
Pair pair_at(const DescriptorLayout& layout, const std::uint8_t* descriptor, int x, int y) {
    if (x < 0 || x >= layout.image.cols || y < 0 || y >= layout.image.rows) return {0, 0};
    const int b = x % gradient_step;
    const std::int64_t at = layout.plane(y % gradient_step, b) +
                            std::int64_t{y / gradient_step} * layout.plane_cols(b) + x / gradient_step;
    return {static_cast<std::int8_t>(descriptor[2 * at]), static_cast<std::int8_t>(descriptor[2 * at + 1])};
}

/// The sum over the context of the point (x, y) at displacement (dx, dy).
int displaced(const DescriptorLayout& layout, const std::uint8_t* query, const std::uint8_t* candidate, int x,
              int y, int dx, int dy) {
    int sum = 0;
    constexpr int reach = distortion_context * gradient_step;
    for (int v = y - reach; v <= y + reach; v += gradient_step)
        for (int u = x - reach; u <= x + reach; u += gradient_step) {
            const Pair p = pair_at(layout, query, u, v), q = pair_at(layout, candidate, u + dx, v + dy);
            sum += (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y);
        }
    return sum;
}

std::uint32_t distortion(const DescriptorLayout& layout, const std::uint8_t* query,
                         const std::uint8_t* candidate) {
    std::uint32_t total = 0;
    for (int y = 0; y < layout.image.rows; y += gradient_step)
        for (int x = 0; x < layout.image.cols; x += gradient_step) {
            int least = displaced(layout, query, candidate, x, y, 0, 0);
            for (int dy = -distortion_window; dy <= distortion_window; ++dy)
                for (int dx = -distortion_window; dx <= distortion_window; ++dx)
                    least = std::min(least, displaced(layout, query, candidate, x, y, dx, dy));
            total += static_cast<std::uint32_t>(least);
        }
    return total;
}

int between_cells(const DescriptorLayout& layout, const std::uint8_t* query, const std::uint8_t* candidate,
                  int row, int col) {
    const bool inside = row >= 0 && row < layout.cell_rows() && col >= 0 && col < layout.cell_cols();
    const std::uint8_t* other = candidate + (std::int64_t{row} * layout.cell_cols() + col) * cell_bins;
    int sum = 0;
    for (int bin = 0; bin < cell_bins; ++bin) {
        const int difference = query[bin] - (inside ? other[bin] : 0);
        sum += difference * difference;
    }
    return sum;
}

std::uint32_t cells(const DescriptorLayout& layout, const std::uint8_t* query,
                    const std::uint8_t* candidate) {
    std::uint32_t total = 0;
    for (int row = 0; row < layout.cell_rows(); ++row)
        for (int col = 0; col < layout.cell_cols(); ++col) {
            const std::uint8_t* cell = query + (std::int64_t{row} * layout.cell_cols() + col) * cell_bins;
            int least = between_cells(layout, cell, candidate, row, col);
            for (int v = row - 1; v <= row + 1; ++v)
                for (int u = col - 1; u <= col + 1; ++u)
                    least = std::min(least, between_cells(layout, cell, candidate, v, u));
            total += static_cast<std::uint32_t>(least);
        }
    return total;
}

/// The displacement of at most `window` with the least distance(dx, dy).
template <class Distance>
Pair nearest_displacement(int window, const Distance& distance) {
    std::tuple<int, int, int, int> best{distance(0, 0), 0, 0, 0};
    for (int dy = -window; dy <= window; ++dy)
        for (int dx = -window; dx <= window; ++dx)
            best = std::min(best, std::tuple(distance(dx, dy), dx * dx + dy * dy, dy, dx));
    return {std::get<3>(best), std::get<2>(best)};
}

}  // namespace

std::uint32_t rerank_distance(const DescriptorLayout& layout, const std::uint8_t* query,
                              const std::uint8_t* candidate) {
    const std::int64_t offset = layout.gradient_bytes();
    return (layout.has_gradients ? distortion(layout, query, candidate) : 0) +
           (layout.has_cells ? cells(layout, query + offset, candidate + offset) : 0);
}

std::vector<Move> moves(const DescriptorLayout& layout, const std::uint8_t* query,
                        const std::uint8_t* candidate) {
    std::vector<Move> all;
    constexpr int step = gradient_step;
    static_assert(step == cell_pixels);
    for (int y = 0; y < layout.image.rows; y += step)
        for (int x = 0; x < layout.image.cols; x += step) {
            if (layout.has_gradients) {
                const Pair here = pair_at(layout, query, x, y);
                if (here.x == 0 && here.y == 0) continue;
                const Pair d = nearest_displacement(distortion_window, [&](int dx, int dy) {
                    return displaced(layout, query, candidate, x, y, dx, dy);
                });
                all.push_back({x, y, d.x, d.y});
                continue;
            }
            const int row = y / step, col = x / step;
            const std::uint8_t* cell = query + (std::int64_t{row} * layout.cell_cols() + col) * cell_bins;
            if (std::all_of(cell, cell + cell_bins, [](std::uint8_t value) { return value == 0; })) continue;
            const Pair d = nearest_displacement(1, [&](int dx, int dy) {
                return between_cells(layout, cell, candidate, row + dy, col + dx);
            });
            all.push_back({x, y, step * d.x, step * d.y});
        }
    return all;
}

}  // namespace knn
