#pragma once
/// The one signature of a search: gpu/engines/pipeline.h and cpu/search.h both export it,
/// classifier/engines.h puts them in a table.

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/core/device.h"
#include "data/core/errors.h"
#include "data/core/neighbors.h"
#include "data/core/problem.h"
#include "data/core/timeline.h"

namespace knn {

/// 8-bit images as rows: count × dim bytes without gaps. Does not own them.
struct ImageRows {
    const std::uint8_t* pixels = nullptr;
    std::int64_t count = 0;
    std::int64_t dim = 0;

    const std::uint8_t* row(std::int64_t i) const { return pixels + i * dim; }
    ImageRows first(std::int64_t n) const { return {pixels, n < count ? n : count, dim}; }
};

/// What to look for, and how. Everything it points to outlives the search.
struct SearchRequest {
    ImageRows train, query;
    std::span<const std::uint8_t> train_labels;  ///< train.count labels
    int k = 5;
    Metric metric = Metric::l2;
    double p = 2;  ///< the exponent of `lp`
    Weights weights = Weights::uniform;
    Tie tie = Tie::smallest;
    std::int64_t batch = 0;        ///< queries a batch; 0: chosen by the engine
    int threads = 0;               ///< CPU threads; 0: all that the process may use
    int device = 0;                ///< the GPU's number
    std::string distance, select;  ///< names of strategies; empty: the engine's own

    Problem problem() const { return {train.count, query.count, train.dim, k, metric, p, weights}; }
};

/// What the vote said of one query.
struct Vote {
    std::uint8_t label = 0;
    double confidence = 0;  ///< the winner's share of all votes, 0 < confidence <= 1

    friend bool operator==(const Vote& a, const Vote& b) {
        return a.label == b.label && a.confidence == b.confidence;
    }
};

struct SearchResult {
    Neighbors neighbors;      ///< n_query × k
    std::vector<Vote> votes;  ///< n_query
    Timeline timeline;
    double search_ms = 0;  ///< from the upload to the votes, wall clock
    Device device;
    std::string distance, select;  ///< what ran
    std::int64_t batch = 0;        ///< what ran
    int threads = 0;               ///< what ran; 1 on a GPU
};

/// How a search tells how far it is, and learns that it shall stop.
struct Watch {
    std::function<void(std::int64_t done, std::int64_t total)>
        progress;                             ///< may be empty; called from one thread
    const std::atomic<bool>* stop = nullptr;  ///< may be null

    bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
    /// Between batches: reports, and throws Interrupted where a stop was asked for.
    void step(std::int64_t done, std::int64_t total) const {
        if (stopped()) throw Interrupted();
        if (progress) progress(done, total);
    }
};

}  // namespace knn
