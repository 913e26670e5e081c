#pragma once
/// Sketches on the device (data/sketch/sketch.h): exact neighbors with an eighth of the products.
///
/// A pair whose sketches lie farther apart than the query's threshold allows is no neighbor; only the others get an exact
/// distance. With a and b the sketches of a query and of a training image, as signed numbers, e their errors, and R the
/// reach of the query's threshold, such a pair may be a neighbor only if
///
///   ‖a − b‖² <= (R + e(a) + e(b))² / 2²⁰          which follows from
///   a·b − V(b) >= (‖a‖² − (R + e(a) + e₀)² / 2²⁰) / 2,   V(b) = (‖b‖² − Δ(b)) / 2
///
/// e₀ is the error that all but one of 100 training images stay below; Δ makes up for what an error has above it, whatever
/// the reach up to `most_reach`. Queries of a larger reach are left to the fallback. V is stored in the four spare columns
/// of a training sketch and multiplied by constants in those of a query, so one product of 128 columns is compared with one
/// limit for each query. All roundings make the left side larger or the right side smaller.

#include "data/sketch/sketch.h"
#include "gpu/fused/fused.h"

namespace knn::gpu {

/// Columns of a sketch here, and queries that a block searches with.
inline constexpr int sketch_columns = 128, sketch_queries = 256;
/// Queries that share lists: half of the rows of a warp.
inline constexpr int queries_per_list = 8;
/// Of such lists, one for each piece.
inline constexpr int most_slots = 512;
/// Of positions of training images in a list.
inline constexpr int position_bits = 29;
inline constexpr std::int64_t most_sketched = std::int64_t{1} << position_bits;
/// Of a query with the errors, in steps of 2⁻¹⁰ as everywhere: no distance of sketches is much larger, see `value_columns`.
inline constexpr std::uint32_t most_reach = 440 << 10;

/// How V is stored: units · 1 + (sum of three columns) · 128.
inline constexpr int value_columns = 4, value_base = 128;
inline constexpr std::int32_t most_value = value_base - 1 + (value_columns - 1) * 255 * value_base;

/// A Sketch as kernels read it.
struct SketchWeights {
    const uint4* d_weights = nullptr;         ///< see sketches.cu
    const std::int32_t* d_centers = nullptr;  ///< 128, zero beyond the axes
    std::int64_t scale = 0;
};

/// Of a row's sketch: its numbers have the sum Σ b and the square ‖b‖².
struct SketchTerms {
    std::int32_t sum, square;
    std::uint32_t error;
};

/// What limits depend on besides the query.
struct SketchBound {
    double stretch = 0;       ///< of the Sketch
    std::uint32_t error = 0;  ///< e₀
};

/// The weights of `sketch` in the order in which enqueue_sketches reads them, for rows of the pixels `used` (null: all).
std::vector<std::uint32_t> arranged_weights(const Sketch& sketch, const std::vector<std::int32_t>* used);

/// Makes the sketches of rows whose pitch is a multiple of 32 bytes and which are zero beyond their columns.
/// d_sketches: n × 128 bytes. Those of queries are signed, with the constants of V in the spare columns; those of training
/// images are as data/sketch defines them until enqueue_values.
void enqueue_sketches(const SketchWeights& weights, const ByteRows& rows, bool are_queries,
                      std::uint8_t* d_sketches, SketchTerms* d_terms, cudaStream_t stream);

/// Stores V of n training sketches, the largest where a row has no image. *d_unfit is set if there is one whose error is too large
/// for a V; otherwise it is left.
void enqueue_values(std::int64_t n, const SketchTerms* d_terms, const TrainImage* d_images,
                    std::uint32_t error, std::uint8_t* d_sketches, std::int32_t* d_unfit,
                    cudaStream_t stream);

/// Training images that a query's limit does not exclude: for each bit 31 − t of the mask the one in tile order at the position
/// 8 · ⌊t / 2⌋ + t mod 2 further.
struct alignas(8) Survivors {
    std::uint32_t first;  ///< query of the list << position_bits | position
    std::uint32_t mask;
};

/// Survivors of a pass: a list for each 8 queries and slot.
struct SketchLists {
    Survivors* d_survivors = nullptr;
    std::int32_t* d_counts = nullptr;  ///< per list; above capacity: overflow
    int capacity = 0, slots = 0;
};

/// One pass of a search by sketches.
struct SketchPass {
    Schedule schedule;  ///< of tiles of sketch_queries × tile_train
    std::int64_t n_query = 0;
    SketchBound bound;
    const std::uint8_t *d_train = nullptr,
                       *d_query = nullptr;  ///< in tile order; n_query, rounded up to sketch_queries
    const SketchTerms* d_query_terms = nullptr;
    const std::uint32_t* d_query_norms = nullptr;  ///< of the pixels
    const std::int32_t* d_thresholds = nullptr;    ///< of TensorPass
    SketchLists lists;
    std::int32_t* d_maxima = nullptr;  ///< of the sample: n_query, rounded up × slots × sketch_maxima
};

/// The sample keeps for each query and piece the largest products of 32 groups of four columns, each product times 512 plus where it is:
/// 4 · (the stage of 128 training sketches in the window) + the column of the group.
inline constexpr int sketch_maxima = 32, sketch_stage = 128, most_sample_window = 64;

/// Search: lists the training images whose sketches do not exclude that they reach their query's threshold. Sample: keeps maxima; at most
/// 64 tiles in a window. Compute capability 9.0.
void enqueue_sketch_search(const SketchPass& pass, std::int64_t train_rows, PassKind kind,
                           cudaStream_t stream);

/// The k-th exact distance among the k + 8 or more nearest sketches of the sample becomes each query's threshold, or that of its k-th known
/// neighbor if that is nearer. sample: the pass that found them. train, query: used pixels.
void enqueue_sketch_thresholds(const SketchPass& sample, const ByteRows& train, const ByteRows& query,
                               const TensorPass& pass, const Batch& batch, cudaStream_t stream);

/// Like enqueue_fold, for k <= 32: refines the survivors, that is, computes their distances. The lists of `pass` are not used.
/// train, query: used pixels. d_best: workspace, lists × 8 × k.
void enqueue_refine(const SketchPass& sketches, const ByteRows& train, const ByteRows& query,
                    const TensorPass& pass, const FoldStep& step, const Batch& batch, NeighborKey* d_best,
                    cudaStream_t stream);
inline constexpr int most_refined_k = 32;

/// Load the kernels of a search by sketches (load_kernels).
void load_sketch_search();
void load_sketch_thresholds();
void load_refine();

#ifdef __CUDACC__
/// R + e(a) + e₀ of a query for images within a squared distance.
__device__ inline std::uint32_t sketch_reach_of(const SketchBound& bound, const SketchTerms& query,
                                                std::uint32_t squared_distance) {
    return sketch_reach(bound.stretch, squared_distance) + query.error + bound.error;
}
/// The limit of such a query: products below it belong to images that are farther. reach: at most most_reach.
__device__ inline std::int32_t sketch_limit_of(const SketchTerms& query, std::uint32_t reach) {
    // A shift rounds down. 128: bytes of training sketches are larger by it.
    return ((query.square - static_cast<std::int32_t>(sketch_limit(reach))) >> 1) + 128 * query.sum;
}

/// What sketches say of a query's threshold of scores (survivors.cuh).
struct SketchThreshold {
    bool decides = true;                    ///< false: an image without a survivor's product may reach it
    std::int32_t limit = closed_threshold;  ///< products of survivors are at least this

    __device__ SketchThreshold(const SketchBound& bound, const SketchTerms& query, std::uint32_t query_norm,
                               std::int32_t threshold) {
        // d² = ‖q‖² − 2 score + (‖r‖² is odd)
        const std::int64_t farthest = std::int64_t{query_norm} - 2 * std::int64_t{threshold} + 1;
        if (threshold == closed_threshold || farthest < 0) return;  // no image reaches it
        const std::uint32_t reach = sketch_reach_of(
            bound, query, static_cast<std::uint32_t>(min(farthest, std::int64_t{0xffffffff})));
        decides = reach <= most_reach;
        if (decides) limit = sketch_limit_of(query, reach);
    }
};
#endif

}  // namespace knn::gpu
