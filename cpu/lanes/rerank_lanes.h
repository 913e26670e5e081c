#pragma once
/// The body of the re-ranking kernels: included by one file per instruction set, which gives `Set`:
///   lanes                      candidates
///   Lanes                      a vector of `lanes` unsigned 16-bit numbers
///   Words                      the same bits as half as many 32-bit numbers
///   squares(a, b)              (a.x - b.x)² + (a.y - b.y)² of pairs of signed bytes
///   dot(h, g)                  h.x · g.x + h.y · g.y of pairs, h unsigned, g signed bytes
///   min(a, b), signed_min(a, b)
///   load_eight(rows, offset)   8 units at `offset` bytes of rows[0], rows[8], ..., each in 128 bits
///   interleave_low(a, b)       of each 128 bits: a0 b0 a1 b1 a2 b2 a3 b3; interleave_high: a4 b4 ... b7
/// The other operations are those of the compiler's vectors, which it has on every processor.

#include <cstring>

#include "cpu/lanes/kernel.h"

namespace knn::cpu {
namespace {

// --- the descriptor of one image, in loops over rows that compilers turn into vectors (data/rerank/descriptor.h) ---

/// body(i) for i = 0 .. count - 1, in blocks of row_block.
template <class Body>
[[gnu::always_inline]] inline void for_blocks(std::int64_t count, const Body& body) {
    for (std::int64_t first = 0; first < count; first += row_block)
        for (std::int64_t i = first; i < first + row_block; ++i)
            body(i);
}

/// Sobel gradients of row y.
void gradients_of_row(const RerankShape& shape, const DescribeWork& work, int y) {
    const std::int16_t* above = work.padded + y * work.stride;
    const std::int16_t *here = above + work.stride, *below = here + work.stride;
    std::int16_t* __restrict gx = work.gx, * __restrict gy = work.gy;
    for_blocks(work.stride, [=](std::int64_t x) {
        gx[x] = static_cast<std::int16_t>(above[x + 2] + 2 * here[x + 2] + below[x + 2] - above[x] -
                                          2 * here[x] - below[x]);
        gy[x] = static_cast<std::int16_t>(below[x] + 2 * below[x + 1] + below[x + 2] - above[x] -
                                          2 * above[x + 1] - above[x + 2]);
    });
    for (std::int64_t x = shape.cols; x < work.stride; ++x)
        gx[x] = gy[x] = 0;
}

/// Quotients and roots in float are exact after truncation: numerators are below 2¹⁴, so a quotient below an integer
/// is at least 1/3,294 below it; for the roots see integer_root.
void levels_of_row(const DescribeWork& work, int y) {
    const std::int16_t *from_x = work.gx, *from_y = work.gy;
    std::int8_t* __restrict to = work.levels + 2 * y * work.stride;
    for_blocks(work.stride, [=](std::int64_t x) {
        const int gx = from_x[x], gy = from_y[x];
        const int divisor = static_cast<int>(__builtin_sqrtf(static_cast<float>(gx * gx + gy * gy))) + 204;
        const auto level = [&](int g) {
            const int size = static_cast<int>(static_cast<float>(10 * (g < 0 ? -g : g) + divisor) /
                                              static_cast<float>(2 * divisor));
            return static_cast<std::int8_t>(g < 0 ? -size : size);
        };
        to[2 * x] = level(gx);
        to[2 * x + 1] = level(gy);
    });
}

/// What each direction gets of the gradients of row y.
void shares_of_row(const DescribeWork& work, int y) {
    const std::int64_t stride = work.stride;
    const std::int16_t *from_x = work.gx, *from_y = work.gy;
    std::uint16_t* __restrict to = work.shares + y * 8 * stride;
    const auto positive = [](int value) { return static_cast<std::uint16_t>(value > 0 ? value : 0); };
    const auto diagonal = [](int a, int b) {
        const int both = a < b ? a : b;
        return static_cast<std::uint16_t>(both > 0 ? 181 * both >> 7 : 0);
    };
    for_blocks(stride, [=](std::int64_t x) {
        const int gx = from_x[x], gy = from_y[x], ax = gx < 0 ? -gx : gx, ay = gy < 0 ? -gy : gy;
        to[x] = positive(gx - ay);
        to[stride + x] = diagonal(gx, gy);
        to[2 * stride + x] = positive(gy - ax);
        to[3 * stride + x] = diagonal(-gx, gy);
        to[4 * stride + x] = positive(-gx - ay);
        to[5 * stride + x] = diagonal(-gx, -gy);
        to[6 * stride + x] = positive(-gy - ax);
        to[7 * stride + x] = diagonal(gx, -gy);
    });
}

/// Sums over 2 × 2 pixels, in four planes.
void write_planes(const RerankShape& shape, const DescribeWork& work, std::uint8_t* to) {
    const std::int64_t stride = 2 * work.stride;
    const int even = shape.grid_cols, odd = shape.cols / 2;
    std::int8_t* __restrict boxes = work.boxes;
    for (int y = 0; y < shape.rows; ++y) {
        const std::int8_t* row = work.levels + y * stride;
        for_blocks(stride, [=](std::int64_t x) {
            boxes[x] = static_cast<std::int8_t>(row[x] + row[x + 2] + row[stride + x] + row[stride + x + 2]);
        });
        const int a = y % 2, rows = (shape.rows - a + 1) / 2;
        std::uint8_t* plane = to + 2 * a * std::int64_t{shape.grid_rows} * shape.cols;
        std::uint8_t* even_to = plane + std::int64_t{y / 2} * 2 * even;
        std::uint8_t* odd_to = plane + 2 * (std::int64_t{rows} * even + std::int64_t{y / 2} * odd);
        for (int x = 0; x < even; ++x)
            std::memcpy(even_to + 2 * x, boxes + 4 * x, 2);
        for (int x = 0; x < odd; ++x)
            std::memcpy(odd_to + 2 * x, boxes + 4 * x + 2, 2);
    }
}

/// A row of cells, all directions at once: the weights 1 5 10 10 5 1 down the columns (below 2¹⁶), then along the row.
void write_cells(const RerankShape& shape, const DescribeWork& work, int row, std::uint8_t* to) {
    constexpr int weights[6] = {1, 5, 10, 10, 5, 1};
    const std::int64_t size = 8 * work.stride;
    std::uint16_t* __restrict column = work.column + 2;
    std::memset(column, 0, static_cast<std::size_t>(size) * sizeof *column);
    for (int i = 0; i < 6; ++i) {
        const int y = 2 * row - 2 + i, weight = weights[i];
        if (y < 0 || y >= shape.rows) continue;
        const std::uint16_t* from = work.shares + y * size;
        for_blocks(size, [=](std::int64_t x) {
            column[x] = static_cast<std::uint16_t>(column[x] + weight * from[x]);
        });
    }
    const std::uint16_t* at = work.column;
    std::uint8_t* __restrict values = work.values;
    for_blocks(size, [=](std::int64_t x) {  // every second is needed, but a stride of 2 is slower
        const int ends = at[x] + at[x + 5], inner = at[x + 1] + at[x + 4], middle = at[x + 2] + at[x + 3];
        const int scaled = (ends + 5 * inner + 10 * middle) >> 8;
        values[x] = static_cast<std::uint8_t>(
            static_cast<int>(__builtin_sqrtf(static_cast<float>(scaled < 63 * 63 ? scaled : 63 * 63))));
    });
    for (int c = 0; c < shape.grid_cols; ++c)
        for (int bin = 0; bin < 8; ++bin)
            to[8 * c + bin] = values[bin * work.stride + 2 * c];
}

void pad(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work) {
    for (int y = 0; y < shape.rows; ++y) {
        std::int16_t* row = work.padded + (y + 1) * work.stride + 1;
        for (int x = 0; x < shape.cols; ++x)
            row[x] = image[std::int64_t{y} * shape.cols + x];
    }
}

void gradients_of_image(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                        std::uint8_t* to) {
    pad(shape, image, work);
    for (int y = 0; y < shape.rows; ++y) {
        gradients_of_row(shape, work, y);
        levels_of_row(work, y);
    }
    write_planes(shape, work, to);
}

void cells_of_image(const RerankShape& shape, const std::uint8_t* image, const DescribeWork& work,
                    std::uint8_t* to) {
    pad(shape, image, work);
    for (int y = 0; y < shape.rows; ++y) {
        gradients_of_row(shape, work, y);
        shares_of_row(work, y);
    }
    for (int row = 0; row < shape.grid_rows; ++row)
        write_cells(shape, work, row, to + std::int64_t{row} * shape.grid_cols * 8);
}

// --- distances of descriptors ---

template <class Set>
struct RerankBody {
    using Lanes = typename Set::Lanes;
    using Words = typename Set::Words;
    static constexpr int lanes = Set::lanes;

    static Lanes load(const std::uint16_t* from) { return *reinterpret_cast<const Lanes*>(from); }
    static void store(std::uint16_t* to, Lanes value) { *reinterpret_cast<Lanes*>(to) = value; }
    static Lanes broadcast(const std::uint32_t* from) { return reinterpret_cast<Lanes>(Words{} + *from); }

    // --- candidates side by side ---

    /// Units first .. first + 7 of all candidates: three rounds of interleaving in each 128 bits, which hold eight
    /// candidates.
    static void transpose_eight(const std::uint8_t* const* rows, std::int64_t first, std::uint16_t* to) {
        Lanes a[8], b[8];
        for (int i = 0; i < 8; ++i)
            a[i] = Set::load_eight(rows + i, 2 * first);
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 4; ++i) {
                b[2 * i] = Set::interleave_low(a[i], a[i + 4]);
                b[2 * i + 1] = Set::interleave_high(a[i], a[i + 4]);
            }
            for (int i = 0; i < 8; ++i)
                a[i] = b[i];
        }
        for (int i = 0; i < 8; ++i)
            store(to + i * lanes, a[i]);
    }
    /// `count` units of each candidate from unit `first` on. A rest of less than 8 overlaps what was written before.
    static void transpose(const std::uint8_t* const* rows, std::int64_t first, int count, std::uint16_t* to) {
        if (count < 8) {
            for (int i = 0; i < count; ++i)
                for (int lane = 0; lane < lanes; ++lane)
                    std::memcpy(to + i * lanes + lane, rows[lane] + 2 * (first + i), 2);
            return;
        }
        for (int i = 0; i < count; i += 8) {
            const int at = i < count - 8 ? i : count - 8;
            transpose_eight(rows, first + at, to + at * lanes);
        }
    }
    static void pack_planes(const RerankShape& shape, const std::uint8_t* const* rows, std::uint16_t* to) {
        const std::int64_t stride = std::int64_t{shape.grid_cols + 2 * shape.border} * lanes;
        std::int64_t first = 0;
        for (int a = 0; a < shape.step; ++a)
            for (int b = 0; b < shape.step; ++b) {
                const int cols = (shape.cols - b + shape.step - 1) / shape.step;
                std::uint16_t* row = to + shape.border * (stride + lanes);
                for (int y = a; y < shape.rows; y += shape.step) {
                    transpose(rows, first, cols, row);
                    first += cols;
                    row += stride;
                }
                to += (shape.grid_rows + 2 * shape.border) * stride;
            }
    }
    static void pack_cells(const RerankShape& shape, const std::uint8_t* const* rows, std::uint16_t* to,
                           std::uint16_t* terms) {
        for (int r = 0; r < shape.grid_rows; ++r) {
            const std::int64_t at = std::int64_t{r + 1} * (shape.grid_cols + 2) + 1;
            transpose(rows, std::int64_t{r} * shape.grid_cols * 4, shape.grid_cols * 4, to + at * 4 * lanes);
            for (int c = 0; c < shape.grid_cols; ++c) {
                const std::uint16_t* cell = to + (at + c) * 4 * lanes;
                Lanes sum{};
                for (int i = 0; i < 4; ++i) {
                    const Lanes pair = load(cell + i * lanes);
                    sum += Set::dot(pair, pair);
                }
                store(terms + (at + c) * lanes, sum);
            }
        }
    }
    static void pack(const RerankShape& shape, const DescriptorParts* candidates, const RerankArrays& to) {
        const std::uint8_t* rows[lanes];
        if (candidates[0].gradients != nullptr) {
            for (int i = 0; i < lanes; ++i)
                rows[i] = candidates[i].gradients;
            pack_planes(shape, rows, to.planes);
        }
        if (candidates[0].cells != nullptr) {
            for (int i = 0; i < lanes; ++i)
                rows[i] = candidates[i].cells;
            pack_cells(shape, rows, to.cells, to.cell_terms);
        }
    }

    // --- distances ---

    /// Sums of 16-bit lanes in 32 bits.
    struct Totals {
        Words even{}, odd{};
        void add(Lanes value) {
            const Words pairs = reinterpret_cast<Words>(value);
            even += pairs & 0xffff;
            odd += pairs >> 16;
        }
        void add_to(std::uint32_t* scores) const {
            for (int i = 0; i < lanes / 2; ++i) {
                scores[2 * i] += even[i];
                scores[2 * i + 1] += odd[i];
            }
        }
    };

    /// One displacement: `candidate` is the vector of the plane that meets the context's first point. The sums over
    /// 3 × 3 contexts, first down the columns, then along the rows.
    static void displace(const RerankShape& shape, const std::uint32_t* query, const std::uint16_t* candidate,
                         const RerankArrays& work) {
        const int width = shape.grid_cols + 2 * shape.context;
        const std::int64_t stride = std::int64_t{shape.grid_cols + 2 * shape.border} * lanes;
        std::uint16_t *oldest = work.squares, *middle = oldest + std::int64_t{width} * lanes,
                      *newest = middle + std::int64_t{width} * lanes;
        for (int y = 0; y < shape.grid_rows + 2 * shape.context; ++y) {
            const std::uint32_t* a = query + std::int64_t{y} * width;
            const std::uint16_t* b = candidate + y * stride;
            Lanes left{}, here{};
            for (int x = 0; x < width; ++x) {
                const Lanes square = Set::squares(broadcast(a + x), load(b + x * lanes));
                store(newest + x * lanes, square);
                if (y < 2) continue;
                const Lanes right = square + load(oldest + x * lanes) + load(middle + x * lanes);
                if (x >= 2) {
                    std::uint16_t* to = work.least + (std::int64_t{y - 2} * shape.grid_cols + x - 2) * lanes;
                    store(to, Set::min(load(to), left + here + right));
                }
                left = here;
                here = right;
            }
            std::uint16_t* const free = oldest;
            oldest = middle;
            middle = newest;
            newest = free;
        }
    }

    static void distortion(const RerankShape& shape, const RerankArrays& work, std::uint32_t* scores) {
        const std::int64_t points = std::int64_t{shape.grid_rows} * shape.grid_cols;
        std::memset(work.least, 0xff, static_cast<std::size_t>(points) * sizeof(Lanes));
        const std::int64_t width = shape.grid_cols + 2 * shape.border;
        const std::int64_t plane = (shape.grid_rows + 2 * shape.border) * width;
        constexpr int s = RerankShape::step, w = RerankShape::window;
        constexpr int far = RerankShape::border - RerankShape::context;
        // Plane by plane, each of which fits in the cache: the displacements (dx, dy) whose remainders by s are (b, a).
        for (int a = 0; a < s; ++a)
            for (int b = 0; b < s; ++b)
                for (int dy = a - w; dy <= w; dy += s)
                    for (int dx = b - w; dx <= w; dx += s) {
                        const std::int64_t row = far + (dy - a) / s, col = far + (dx - b) / s;
                        displace(shape, work.query_gradients,
                                 work.planes + ((a * s + b) * plane + row * width + col) * lanes, work);
                    }
        Totals totals;
        for (std::int64_t i = 0; i < points; ++i)
            totals.add(load(work.least + i * lanes));
        totals.add_to(scores);
    }

    /// The least Σ (h_q - h_c)² - Σ h_q² of the cells around one; `candidate`, `terms`: of the first of the nine.
    static Lanes best_cell(const std::uint32_t* query, const std::uint16_t* candidate,
                           const std::uint16_t* terms, std::int64_t width) {
        const Lanes q0 = broadcast(query), q1 = broadcast(query + 1), q2 = broadcast(query + 2),
                    q3 = broadcast(query + 3);
        Lanes least{};
        for (int i = 0; i < 9; ++i) {
            const std::int64_t at = i / 3 * width + i % 3;
            const std::uint16_t* cell = candidate + at * 4 * lanes;
            const Lanes dot = (Set::dot(load(cell), q0) + Set::dot(load(cell + lanes), q1)) +
                              (Set::dot(load(cell + 2 * lanes), q2) + Set::dot(load(cell + 3 * lanes), q3));
            const Lanes rest = load(terms + at * lanes) - dot;
            least = i == 0 ? rest : Set::signed_min(least, rest);
        }
        return least;
    }

    static void cells(const RerankShape& shape, const RerankArrays& work, std::uint32_t* scores) {
        const std::int64_t width = shape.grid_cols + 2;
        Totals totals;
        for (std::int64_t r = 0; r < shape.grid_rows; ++r)
            for (std::int64_t c = 0; c < shape.grid_cols; ++c) {
                const std::int64_t at = r * shape.grid_cols + c, first = r * width + c;
                const Lanes least = best_cell(work.query_cells + at * 4, work.cells + first * 4 * lanes,
                                              work.cell_terms + first * lanes, width);
                totals.add(least + work.query_cell_terms[at]);
            }
        totals.add_to(scores);
    }
};

template <class Set>
constexpr RerankKernel rerank_kernel() {
    using Body = RerankBody<Set>;
    return {Set::lanes, Body::pack, Body::distortion, Body::cells, gradients_of_image, cells_of_image};
}

}  // namespace
}  // namespace knn::cpu
