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

/// Maximum groups for which a panel and a strip fit in an L1 cache of 48 KB; longer images are processed in
/// chunks of about equal length, with the sums stored in between.
template <class Set>
constexpr std::int64_t chunk_groups = 46 * 1024 /
                                      (Set::lanes * Set::vectors * group_pixels +
                                       Set::queries * Set::query_bytes);

template <class Set>
struct Tile {
    using Sum = typename Set::Sum;
    static constexpr int images = Set::lanes * Set::vectors;

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
            panel += images * group_pixels;
            strip += Set::queries * Set::query_bytes;
        }
    }
    /// The lanes that are hits.
    template <bool both>
    [[gnu::always_inline]] static std::uint32_t near(const Pass& pass, int v, std::uint32_t query,
                                                     Sum distance) {
        if constexpr (Set::has_floors) {
            return Set::template reaches<both>(distance, pass.floors, v * Set::lanes, query);
        } else {
            const std::uint32_t rows = Set::below(distance, Set::every(pass.limits[query]));
            if constexpr (!both) return rows;
            return rows | Set::below(distance, Set::load_sums(pass.image_limits + v * Set::lanes));
        }
    }
    /// Tests the distances in registers; stores only those of hits.
    template <bool both>
    [[gnu::always_inline]] Hit* report(const Pass& pass, std::int64_t strip, Hit* hits) const {
#pragma GCC unroll 16
        for (int q = 0; q < Set::queries; ++q) {
            const auto query = static_cast<std::uint32_t>(strip * Set::queries + q);
#pragma GCC unroll 8
            for (int v = 0; v < Set::vectors; ++v) {
                const Sum distance = Set::distance(
                    sums[v][q], Set::load_sums(pass.image_terms + v * Set::lanes), pass.query_terms[query]);
                const std::uint32_t lanes = near<both>(pass, v, query, distance);
                if (lanes == 0) [[likely]]
                    continue;
                hits->query = query;
                hits->first = static_cast<std::uint32_t>(v * Set::lanes);
                hits->lanes = lanes;
                Set::store_sums(hits->distance, distance);
                ++hits;
            }
        }
        return hits;
    }
};

template <class Set, bool both>
std::size_t scan(const Pass& pass) {
    constexpr int tile_sums = Tile<Set>::images * Set::queries;
    const std::int64_t chunks = (pass.groups + chunk_groups<Set> - 1) / chunk_groups<Set>;
    const std::int64_t chunk = (pass.groups + chunks - 1) / chunks;
    Hit* hits = pass.hits;
    for (std::int64_t first = 0; first < pass.groups; first += chunk) {
        const std::int64_t groups = first + chunk < pass.groups ? chunk : pass.groups - first;
        const std::uint8_t* panel = pass.panel + first * Tile<Set>::images * group_pixels;
        for (std::int64_t s = pass.first_strip; s < pass.strips; ++s) {
            Tile<Set> tile;
            if (first == 0)
                tile.clear();
            else
                tile.load(pass.partial + s * tile_sums);
            tile.add_products(panel, pass.block + (s * pass.groups + first) * Set::queries * Set::query_bytes,
                              groups);
            if (first + groups < pass.groups)
                tile.store(pass.partial + s * tile_sums);
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

template <class Set, Arithmetic arithmetic = Arithmetic::squares>
constexpr Kernel kernel_of(const char* name, bool (*available)(), QueryForm form) {
    return {name, available,        Tile<Set>::images, Set::queries,       Set::lanes,
            form, scan<Set, false>, scan<Set, true>,   direct<arithmetic>, arithmetic};
}

}  // namespace
}  // namespace knn::cpu
