#pragma once
/// A training set on one device, and the one search in it. Every engine's `open` makes one.

#include <cstdint>
#include <functional>
#include <span>

#include "data/core/byte_bounds.h"
#include "data/core/neighbors.h"
#include "data/core/plan.h"
#include "data/core/problem.h"
#include "data/core/progress_token.h"
#include "data/core/rows.h"
#include "data/core/timeline.h"
#include "data/core/voting.h"

namespace knn {

struct FittedTransform;  // data/transform/fitted.h
struct FittedReranking;  // data/rerank/descriptor.h

/// The training set that an engine opens. Does not own what it refers to.
struct Training {
    Rows rows;
    std::span<const std::uint8_t> labels;        ///< rows.count, or empty if there is no vote
    ImageShape shape = {};                       ///< of the images; transforms and re-rankers need it
    const FittedTransform* transform = nullptr;  ///< of all images before they are compared; null: none
    Rows features = {};                          ///< of `rows`, if they are already there
    const FittedReranking* reranking = nullptr;  ///< what orders neighbors again on the device; null: nothing
};

/// Neighbors found in other images: n_query × k. A row may end with entries of the largest distance and index, which are
/// no neighbors.
struct Known {
    std::span<const Neighbor> neighbors = {};  ///< empty: none are known
    std::uint32_t first = 0;  ///< where the indices of this training set begin: above those of the known
};

/// Queries whose answers are final for the index that calls back: each query once, in any order of the batches.
struct ResultBatch {
    std::int64_t first = 0;  ///< query
    std::span<const Neighbor> neighbors;
    std::span<const Vote> votes = {};                              ///< empty if there was no vote
    std::span<const ConfidenceFeatures> confidence_features = {};  ///< of the votes; none comes from a device
};
/// Called from any thread, but not from two at once. Must not search the same index.
using BatchCallback = std::function<void(const ResultBatch& batch)>;

/// What a device is asked for.
struct TopKRequest {
    Queries queries;  ///< images, or features where the engine does not transform
    int k = 0;        ///< 1 to max_k, at most the training images, less one if a query among them is left out
    /// Of queries that are real rows (DeviceIndex::keep): neighbors by bytes, k to max_device_k, and their norms, empty unless the
    /// measure is cosine or pearson.
    int candidates = 0;
    std::span<const RealNorm> norms = {};
    Known known = {};                  ///< only where the engine's capabilities say so
    const VotingRule* vote = nullptr;  ///< only where the capabilities include votes; null: none
    BatchCallback on_batch = {};       ///< may be empty
    /// What the host can do while a device works on all queries at once; may be empty, and need not be called.
    std::function<void()> meanwhile = {};
};

/// Memory for the results. The search does not touch it before there are results, and holds those of all batches so far if a search
/// fails.
struct TopKResult {
    std::span<Neighbor> neighbors;  ///< n_query × k; may be where the known are
    std::span<Vote> votes = {};     ///< n_query, or empty
};

/// A search whose queries and answers are memory of the index's device, all of it the caller's.
struct DeviceSearch {
    const std::uint8_t* queries = nullptr;       ///< count × dim, of the images that the engine searches
    std::int64_t count = 0, dim = 0, pitch = 0;  ///< pitch: bytes from one query to the next
    int k = 0;
    std::uint32_t* indices = nullptr;  ///< count × k; null: not wanted
    double* distances = nullptr;       ///< the same, as distance_of has them
    /// Each a cudaStream_t: on which the queries are ready, and on which the answers will be.
    void *queries_stream = nullptr, *answers_stream = nullptr;
};

class DeviceIndex {
  public:
    virtual ~DeviceIndex() = default;

    /// The k nearest neighbors of each query by (distance, index), in the order of the re-ranking if the training set has
    /// one; a query's own image (Queries::images) is left out, and an index behind the training images leaves out none.
    /// Adds its stages to `timeline`. Returns how many queries were searched at once. Thread-safe. Throws DeviceError,
    /// DataError (not enough memory), Interrupted, std::invalid_argument (k).
    virtual std::int64_t top_k(const TopKRequest& wanted, const TopKResult& result, Timeline& timeline,
                               const ProgressToken& token) = 0;

    /// What its searches use, if the engine was to decide and has done so for all of them; else automatic.
    virtual SketchColumns decided_sketch() const { return SketchColumns::automatic; }

    /// Makes at once what pays for so many queries with k neighbors each, which will come in small searches. Other searches run
    /// meanwhile. Thread-safe. Throws Interrupted, std::bad_alloc.
    virtual void expect(std::int64_t /*queries*/, int /*k*/, const ProgressToken& /*token*/) {}

    /// For an index of bytes: takes the real rows that these were made of, and returns true; false if it does not. From then on top_k
    /// also finds, of the candidates of real queries, the k nearest by the exact distance. Where bytes do not prove that no other
    /// row is nearer, it finds no_neighbor alone. Only while nothing is searched. Throws DeviceError.
    virtual bool keep(const QuantizedRows& /*rows*/) { return false; }

    /// Queues the search without waiting for it, and returns true; false if it cannot: the host takes part, or the memory is not
    /// that of the index's device. Thread-safe. Throws DeviceError.
    virtual bool enqueue(const DeviceSearch& /*wanted*/) { return false; }
};

/// Every search calls this first. Throws std::invalid_argument if there are fewer than k images to find, or the memory
/// is not that of `n_result` queries, by default all.
void require_top_k(const TopKRequest& wanted, const TopKResult& result, std::int64_t n_train,
                   std::int64_t n_result = -1);

}  // namespace knn
