#pragma once
/// Interface between the blocked search and the code for one instruction set.
///
/// Files that are compiled for more than the baseline (kernel_*.cpp) include only this header and
/// kernel_scan.h: the linker could merge an inline function of another header with a copy that uses
/// instructions the processor does not have.
///
/// The arithmetic `squares`, all of it modulo 2³²: with the sum a = Σ t·q' over the pixels of training image
/// t and query q (q' = q - 128 or q' = q, see QueryForm), the squared distance is
///     |q - t|² = |q|² + |t|² - 2 t·q = query term + image term - 2 a,
/// where the query term is |q|² and the image term is |t|², less 2 · 128 · Σt where q' = q - 128, because
/// t·q = a + 128 Σt. Sums may wrap around on the way (t·q reaches 66,051 · 255² = 4.29e9, and a is below
/// -2³¹ for a bright t and a dark q at that size): additions, subtractions and the doubling commute with
/// taking the remainder, and the true distance is in 0 .. 2³² - 1, so the last remainder is the distance.
///
/// `differences` has the same form: with a = Σ min(t, q), Σ|q - t| = Σq + Σt - 2 a. `products` has the
/// product itself, t·q = a + image term, where the image term is 128 · Σt or nothing.

#include <cstddef>
#include <cstdint>

namespace knn::cpu {

/// How the pixels of queries are stored for a kernel.
enum class QueryForm {
    bytes,          ///< 4 bytes per group: the pixels unchanged
    shifted_bytes,  ///< 4 bytes per group: the pixels minus 128, signed, for products of u8 and s8
    pairs,          ///< 8 bytes per group: pixels 0, 2, 1, 3 in 16 bits each
    rows,           ///< 4 bytes per group: the pixels; 16 groups of a query are contiguous
};

/// The sum over the pixels of a pair.
enum class Arithmetic {
    squares,      ///< (a - b)², for l2
    differences,  ///< |a - b|, for l1
    products,     ///< a · b, for cosine and pearson
};

inline constexpr std::int64_t group_pixels = 4;  ///< contiguous pixels in packed rows
inline constexpr std::int64_t row_groups = 16;   ///< of a row of QueryForm::rows
inline constexpr std::uint32_t max_lanes = 16;

/// A product is a hit if (scale · product - sum of the image · sum of the query) · weight of the image is at
/// least the query's floor. The difference is exact: all three are integers below 2⁵³. `scan_both` also tests
/// the difference times the query's weight against the image's floor.
struct Floors {
    double scale;                           ///< dim for pearson, else 1
    const double* image_sums;               ///< images; 0 for cosine
    const double* weights;                  ///< images; 1 / the image's norm
    const double* query_sums;               ///< strips × queries
    const double* floors;                   ///< strips × queries; infinity: no hits
    const double* query_weights = nullptr;  ///< strips × queries; only for `scan_both`
    const double* image_floors = nullptr;   ///< images; only for `scan_both`
};

/// A limit that every distance is below: 66,051 · 255² = 4,294,966,275.
inline constexpr std::uint32_t no_limit = 0xffffffff;

/// Training images among first .. first + 15 of a panel that are nearer to a query than its limit.
struct Hit {
    std::uint32_t query;                ///< in the block
    std::uint32_t first;                ///< in the panel
    std::uint32_t lanes;                ///< bit i: image first + i is near
    std::uint32_t distance[max_lanes];  ///< of image first + i, or the product; one per lane of the kernel
};

/// One panel of training images against a block of queries. All arrays are aligned to 64 bytes.
struct Pass {
    const std::uint8_t* panel;         ///< groups × images × 4: four pixels of each image are contiguous
    const std::uint32_t* image_terms;  ///< images
    const std::uint8_t* block;         ///< strips × groups × queries × 4 or 8 bytes; QueryForm::rows:
                                       ///< strips × (groups / 16) × queries × 64 bytes
    const std::uint32_t* query_terms;  ///< strips × queries
    const std::uint32_t* limits;       ///< strips × queries: distances below are hits; 0: no hits;
                                       ///< not read by `products`, which have floors
    std::int64_t groups;               ///< ceil(dim / 4); QueryForm::rows: the next multiple of 16
    std::int64_t strips;               ///< queries of the block / queries of a strip
    std::int64_t first_strip;          ///< those before it are not compared
    std::uint32_t* partial;            ///< scratch, strips × queries × images
    Hit* hits;                         ///< capacity strips × queries × images / lanes
    Floors floors = {};                ///< only for `products`
    const std::uint32_t* image_limits = nullptr;  ///< images, as `limits`; only for `scan_both`
};

/// The code for one arithmetic on one instruction set.
struct Kernel {
    const char* name;
    bool (*available)();  ///< whether the processor and the operating system support it
    int images;           ///< per panel
    int queries;          ///< per strip
    int lanes;            ///< images per hit
    QueryForm form;
    /// Writes the hits of the pass, each (query, image) at most once; returns their number.
    std::size_t (*scan)(const Pass& pass);
    /// The same, where a pair is also a hit if it is below the limit of the image: a pass for both sides.
    std::size_t (*scan_both)(const Pass& pass);
    /// Squared distances (or differences, products) of one query and n rows of dim pixels, both unpacked.
    void (*direct)(const std::uint8_t* query, const std::uint8_t* rows, std::int64_t n, std::int64_t dim,
                   std::uint32_t* distances);
    /// Weighted sums of n unpacked rows of dim pixels, n × axes, each exact in 32 bits. weights: axes × dim.
    void (*weigh)(const std::int16_t* weights, std::int64_t axes, const std::uint8_t* rows, std::int64_t n,
                  std::int64_t dim, std::int32_t* sums);
    Arithmetic arithmetic = Arithmetic::squares;
    /// Pairs that `scan` compares while one candidate of a sketch is refined, some 300 ns; measured on images of 784 pixels.
    double refinement_cost = 1;
    /// Part of the L2 cache for the pixels of a block of queries.
    std::int64_t block_bytes = 400 * 1024;
};

extern const Kernel kernel_amx, kernel_avx512vnni, kernel_avxvnni, kernel_avx2, kernel_plain;
extern const Kernel differences_avx512vnni, differences_avxvnni, differences_avx2, differences_plain;
extern const Kernel products_avx512vnni, products_avxvnni, products_avx2, products_plain;

}  // namespace knn::cpu
