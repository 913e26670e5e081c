#pragma once
/// A training set on the device that searches it, and the input and output of a search. Every engine's `open`
/// makes one.

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/core/errors.h"
#include "data/core/metric.h"
#include "data/core/neighbors.h"
#include "data/core/plan.h"
#include "data/core/problem.h"
#include "data/core/rows.h"
#include "data/core/timeline.h"
#include "data/core/voting.h"

namespace knn {

/// Progress and cancellation of a search.
struct Watch {
    std::function<void(std::int64_t done, std::int64_t total)>
        progress;                             ///< may be empty; called from one thread
    const std::atomic<bool>* stop = nullptr;  ///< may be null

    /// For a part of the work that does not report: the same stop alone.
    Watch quiet() const { return {.progress = nullptr, .stop = stop}; }
    /// For a part of the work: what it has done follows `before`, of `all`. This must outlive it.
    Watch part(std::int64_t before, std::int64_t all) const {
        Watch some = quiet();
        if (progress)
            some.progress = [this, before, all](std::int64_t done, std::int64_t) {
                progress(before + done, all);
            };
        return some;
    }

    bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
    /// Called between batches: reports progress, and throws Interrupted if a stop was requested.
    void step(std::int64_t done, std::int64_t total) const {
        if (stopped()) throw Interrupted();
        if (progress) progress(done, total);
    }
};

/// Leave-one-out: query i is training image first + ⌊(rest + i · n) / m⌋ and is not its own neighbor. By default no
/// query is a training image.
struct Exclude {
    std::int64_t first = -1;    ///< -1: nothing is excluded
    std::int64_t n = 1, m = 1;  ///< 1, 1: consecutive images
    std::int64_t rest = 0;      ///< 0 <= rest < m; not 0 only where `from` began between two multiples of m

    bool any() const { return first >= 0; }
    /// The index of query i in the training set; -1: none.
    constexpr std::int64_t index_of(std::int64_t i) const {
        return first < 0 ? -1 : first + (rest + i * n) / m;
    }
    /// The same for the queries from `query` on.
    constexpr Exclude from(std::int64_t query) const {
        if (first < 0) return *this;
        return {index_of(query), n, m, (rest + query * n) % m};
    }
};

/// Above every score; engines may assign it to an excluded image.
inline constexpr std::uint32_t excluded_distance = 0xffffffff;

/// Every search calls this first. Throws std::invalid_argument if there are fewer than k images to find.
void require_k(int k, std::int64_t n_train, Exclude exclude);

struct FittedTransform;  // data/transform/fitted.h
struct Reranking;        // data/rerank/reranking.h

/// The training set that an engine opens.
struct Training {
    Rows rows;
    std::span<const std::uint8_t> labels;        ///< rows.count, or empty if there is no vote
    ImageShape shape = {};                       ///< of the images; only transforms need it
    const FittedTransform* transform = nullptr;  ///< of all images before they are compared; null: none
    Rows features = {};                          ///< of `rows`, if they are already there
    const Reranking* reranking = nullptr;        ///< what orders neighbors again; null: nothing
};

/// Neighbors and their votes.
struct Answers {
    Neighbors neighbors;      ///< n_query × k
    std::vector<Vote> votes;  ///< n_query, or empty if there was no vote
};

/// Answers of consecutive queries that are final while others are still searched.
struct FoundRows {
    std::int64_t begin = 0;         ///< the first query
    std::span<Neighbor> neighbors;  ///< k of each query
    std::span<const Vote> votes;    ///< one of each query, or empty if there was no vote
};
/// Told of each query once, from any thread, but not from two at once.
using Tell = std::function<void(const FoundRows& found)>;

/// Keeps the training set on its device, in the format that the engine reads. Not thread-safe. The training
/// images and labels in host memory must outlive it.
class Searcher {
  public:
    virtual ~Searcher() = default;

    /// The k nearest neighbors of each query, n_query × k, in the order of the re-ranking if there is one, except those excluded by `exclude`. 1 <= k <= max_k,
    /// and k is at most the number of training images, minus one with `exclude`. Adds its stages to
    /// `timeline`. Throws DeviceError, DataError (not enough memory), Interrupted.
    virtual Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                             const Watch& watch) = 0;

    /// Neighbors are ordered again by `reranking` from now on, on the device, which makes its own descriptors; adds its
    /// stages to `timeline`. False: the searcher cannot, and nothing has changed. Throws DeviceError.
    virtual bool rerank_by(const Reranking& /*reranking*/, Timeline& /*timeline*/) { return false; }

    /// Allocates the memory of a search, or of `improve`, which then begins sooner.
    virtual void prepare(std::int64_t /*n_query*/, int /*k*/, bool /*improve*/) {}

    /// Whether `improve` is possible.
    virtual bool improves(int /*k*/, Exclude /*exclude*/) const { return false; }
    /// `best`, n_query × k, has the k nearest of each query in other images; a row may end with entries of the largest
    /// distance and index, which are no neighbors. Replaces them by the k nearest in these and the training images, whose
    /// indices begin at `first`, above those of the others. `tell` as for search_and_tell. Only if `improves`.
    virtual void improve(const Rows& queries, int k, std::uint32_t first, Exclude exclude, Timeline& timeline,
                         const Watch& watch, const Tell& tell, std::span<Neighbor> best);

    /// Whether `search_and_vote` is possible: the device has the labels and supports this rule.
    virtual bool votes(const VotingRule& /*rule*/) const { return false; }
    /// The same search with the vote on the device; only if `votes(rule)`.
    virtual Answers search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude,
                                    Timeline& timeline, const Watch& watch);

    /// `search_and_vote` by the rule, or without one (null) `search`, which tells (may be empty) of answers as early as it
    /// can, so that the caller works on them while others are searched. They lie in `answers` and stay there, also if
    /// an exception ends the search. By default tells of all at the end.
    virtual void search_and_tell(const Rows& queries, int k, const VotingRule* rule, Exclude exclude,
                                 Timeline& timeline, const Watch& watch, const Tell& tell, Answers& answers);

    /// The plan, with the batch size of the last search.
    virtual Plan plan() const = 0;
};

}  // namespace knn
