#pragma once
/// Loops shared by all instruction sets. Included only by kernel_*.cpp; everything is in an unnamed
/// namespace, so that each file has its own copy.
///
/// `Set` provides: lanes (images per vector), vectors (per panel), queries (per strip), query_bytes (per
/// group of a query), the types Sum, Images, Query, and the functions used below. A set for products also has
/// `reaches`.

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernel.h"

namespace knn::cpu {
namespace {

/// The hits among one vector of images from `image` on, of which `terms` are the terms.
template <class Set, bool both>
[[gnu::always_inline]] inline Hit* report_lanes(const Pass& pass, std::uint32_t query, int image,
                                                typename Set::Sum sum, typename Set::Sum terms, Hit* hits) {
    const auto distance = Set::distance(sum, terms, pass.query_terms[query]);
    std::uint32_t lanes = 0;
    if constexpr (Set::has_floors) {
        lanes = Set::template reaches<both>(distance, pass.floors, image, query);
    } else {
        lanes = Set::below(distance, Set::every(pass.limits[query]));
        if constexpr (both) lanes |= Set::below(distance, Set::load_sums(pass.image_limits + image));
    }
    if (lanes == 0) [[likely]]
        return hits;
    hits->query = query;
    hits->first = static_cast<std::uint32_t>(image);
    hits->lanes = lanes;
    Set::store_sums(hits->distance, distance);
    return hits + 1;
}

template <class Set>
struct Tile {
    using Sum = typename Set::Sum;
    static constexpr int images = Set::lanes * Set::vectors, n_sums = images * Set::queries;
    static constexpr std::int64_t step_groups = 1, panel_bytes = images * group_pixels,
                                  strip_bytes = Set::queries * Set::query_bytes;

    /// Sums of all images of the panel with all queries of the strip, in registers.
    Sum sums[Set::vectors][Set::queries];

    [[gnu::always_inline]] void clear() {
#pragma GCC unroll 8
        for (int v = 0; v < Set::vectors; ++v)
#pragma GCC unroll 16
            for (int q = 0; q < Set::queries; ++q)
                sums[v][q] = Set::zero();
    }
    [[gnu::always_inline]] void load(const std::uint32_t* from) {
#pragma GCC unroll 8
        for (int v = 0; v < Set::vectors; ++v)
#pragma GCC unroll 16
            for (int q = 0; q < Set::queries; ++q)
                sums[v][q] = Set::load_sums(from + (v * Set::queries + q) * Set::lanes);
    }
    [[gnu::always_inline]] void store(std::uint32_t* to) const {
#pragma GCC unroll 8
        for (int v = 0; v < Set::vectors; ++v)
#pragma GCC unroll 16
            for (int q = 0; q < Set::queries; ++q)
                Set::store_sums(to + (v * Set::queries + q) * Set::lanes, sums[v][q]);
    }
    [[gnu::always_inline]] void add_products(const std::uint8_t* panel, const std::uint8_t* strip,
                                             std::int64_t groups) {
        for (std::int64_t g = 0; g < groups; ++g) {
            typename Set::Images pixels[Set::vectors];
#pragma GCC unroll 8
            for (int v = 0; v < Set::vectors; ++v)
                pixels[v] = Set::load_images(panel + v * Set::lanes * group_pixels);
#pragma GCC unroll 16
            for (int q = 0; q < Set::queries; ++q) {
                const typename Set::Query query = Set::load_query(strip + q * Set::query_bytes);
#pragma GCC unroll 8
                for (int v = 0; v < Set::vectors; ++v)
                    sums[v][q] = Set::multiply_add(sums[v][q], pixels[v], query);
            }
            panel += panel_bytes;
            strip += strip_bytes;
        }
    }
    /// Tests the distances in registers; stores only those of hits.
    template <bool both>
    [[gnu::always_inline]] Hit* report(const Pass& pass, std::int64_t strip, Hit* hits) const {
#pragma GCC unroll 16
        for (int q = 0; q < Set::queries; ++q) {
            const auto query = static_cast<std::uint32_t>(strip * Set::queries + q);
#pragma GCC unroll 8
            for (int v = 0; v < Set::vectors; ++v)
                hits = report_lanes<Set, both>(pass, query, v * Set::lanes, sums[v][q],
                                               Set::load_sums(pass.image_terms + v * Set::lanes), hits);
        }
        return hits;
    }
};

/// The hits of one pass. A tile takes `step_groups` groups of pixels in a step, `panel_bytes` of the panel and `strip_bytes`
/// of the strip.
template <class AnyTile, bool both>
std::size_t scan(const Pass& pass) {
    // Maximum steps for which a panel and a strip fit in an L1 cache of 48 KB; longer images are processed in chunks of about
    // equal length, with the sums stored in between.
    constexpr std::int64_t longest = 46 * 1024 / (AnyTile::panel_bytes + AnyTile::strip_bytes);
    const std::int64_t steps = pass.groups / AnyTile::step_groups;
    const std::int64_t chunks = (steps + longest - 1) / longest, chunk = (steps + chunks - 1) / chunks;
    Hit* hits = pass.hits;
    for (std::int64_t first = 0; first < steps; first += chunk) {
        const std::int64_t n = first + chunk < steps ? chunk : steps - first;
        const std::uint8_t* panel = pass.panel + first * AnyTile::panel_bytes;
        for (std::int64_t s = pass.first_strip; s < pass.strips; ++s) {
            AnyTile tile;
            if (first == 0)
                tile.clear();
            else
                tile.load(pass.partial + s * AnyTile::n_sums);
            tile.add_products(panel, pass.block + (s * steps + first) * AnyTile::strip_bytes, n);
            if (first + n < steps)
                tile.store(pass.partial + s * AnyTile::n_sums);
            else
                hits = tile.template report<both>(pass, s, hits);
        }
    }
    return static_cast<std::size_t>(hits - pass.hits);
}

/// The term of two pixels.
[[gnu::always_inline]] inline std::uint32_t of_pixels(Arithmetic arithmetic, int a, int b) {
    const int difference = a - b;
    if (arithmetic == Arithmetic::products) return static_cast<std::uint32_t>(a * b);
    if (arithmetic == Arithmetic::differences)
        return static_cast<std::uint32_t>(difference < 0 ? -difference : difference);
    return static_cast<std::uint32_t>(difference * difference);
}

/// Pixel by pixel; vectorized by the compiler.
template <Arithmetic arithmetic>
void direct(const std::uint8_t* query, const std::uint8_t* rows, std::int64_t n, std::int64_t dim,
            std::uint32_t* distances) {
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint8_t* row = rows + i * dim;
        std::uint32_t sum = 0;  // modulo 2³²; the distance itself is smaller
        for (std::int64_t p = 0; p < dim; ++p)
            sum += of_pixels(arithmetic, query[p], row[p]);
        distances[i] = sum;
    }
}

/// Adds the sums of `n_axes` axes over a chunk of pixels of two rows; vectorized by the compiler. sums_b: null for a row alone.
template <int n_axes>
void weigh_pair(const std::int16_t* weights, std::int64_t dim, const std::int16_t* a, const std::int16_t* b,
                std::int64_t n, std::int32_t* sums_a, std::int32_t* sums_b) {
    std::int32_t of_a[n_axes] = {}, of_b[n_axes] = {};
    for (std::int64_t p = 0; p < n; ++p)
#pragma GCC unroll 4
        for (int axis = 0; axis < n_axes; ++axis) {
            of_a[axis] += weights[axis * dim + p] * a[p];
            of_b[axis] += weights[axis * dim + p] * b[p];
        }
    for (int axis = 0; axis < n_axes; ++axis)
        sums_a[axis] += of_a[axis];
    for (int axis = 0; sums_b != nullptr && axis < n_axes; ++axis)
        sums_b[axis] += of_b[axis];
}

/// Two rows at a time, so that the weights are read half as often.
inline void weigh(const std::int16_t* weights, std::int64_t axes, const std::uint8_t* rows, std::int64_t n,
                  std::int64_t dim, std::int32_t* sums) {
    constexpr std::int64_t chunk = 1024;
    std::int16_t wide[2][chunk];
    for (std::int64_t i = 0; i < n * axes; ++i)
        sums[i] = 0;
    for (std::int64_t i = 0; i < n; i += 2) {
        const std::int64_t other = i + 1 < n ? i + 1 : i;
        for (std::int64_t first = 0; first < dim; first += chunk) {
            const std::int64_t length = first + chunk < dim ? chunk : dim - first;
            for (std::int64_t p = 0; p < length; ++p) {
                wide[0][p] = rows[i * dim + first + p];
                wide[1][p] = rows[other * dim + first + p];
            }
            for (std::int64_t axis = 0; axis < axes; axis += 4) {
                const std::int16_t* some = weights + axis * dim + first;
                std::int32_t* const to = other > i ? sums + other * axes + axis : nullptr;
                if (axis + 4 <= axes)
                    weigh_pair<4>(some, dim, wide[0], wide[1], length, sums + i * axes + axis, to);
                else
                    for (std::int64_t one = 0; axis + one < axes; ++one)
                        weigh_pair<1>(some + one * dim, dim, wide[0], wide[1], length,
                                      sums + i * axes + axis + one, to != nullptr ? to + one : nullptr);
            }
        }
    }
}

template <class Set, Arithmetic arithmetic = Arithmetic::squares>
constexpr Kernel kernel_of(const char* name, bool (*available)(), QueryForm form,
                           double refinement_cost = 1) {
    return {.name = name,
            .available = available,
            .images = Tile<Set>::images,
            .queries = Set::queries,
            .lanes = Set::lanes,
            .form = form,
            .scan = scan<Tile<Set>, false>,
            .scan_both = scan<Tile<Set>, true>,
            .direct = direct<arithmetic>,
            .weigh = weigh,
            .arithmetic = arithmetic,
            .refinement_cost = refinement_cost};
}

}  // namespace
}  // namespace knn::cpu
