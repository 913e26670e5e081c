#pragma once
/// A training set where it is searched, and what a search takes and gives. Every engine's `open` makes one.

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

/// Leave-one-out: query i is training image first + ⌊i · n / m⌋, and not a neighbor of itself. By default no
/// query is a training image.
struct Exclude {
    std::int64_t first = -1;     ///< -1: nothing is excluded
    std::int64_t n = 1, m = 1;   ///< 1, 1: consecutive images

    bool any() const { return first >= 0; }
    /// The index of query i in the training set; -1: none.
    constexpr std::int64_t index_of(std::int64_t i) const { return first < 0 ? -1 : first + i * n / m; }
};

/// Above every score: what an engine may give an excluded image in its place.
inline constexpr std::uint32_t excluded_distance = 0xffffffff;

/// What every search begins with. Throws std::invalid_argument where there are fewer than k images to find.
void require_k(int k, std::int64_t n_train, Exclude exclude);

/// The training images as an engine gets them.
struct Training {
    Rows rows;
    std::span<const std::uint8_t> labels;  ///< rows.count, or empty where nobody votes
};

/// Neighbors and what they voted for.
struct Answers {
    Neighbors neighbors;      ///< n_query × k
    std::vector<Vote> votes;  ///< n_query; empty where nobody voted
};

/// Keeps the training set on its device, in the form that is searched. Not for several threads at once. The
/// training images and labels, in host memory, outlive it.
class Searcher {
  public:
    virtual ~Searcher() = default;

    /// The k nearest of each query, n_query × k, without the one that `exclude` says. 1 <= k <= max_k and at
    /// most the number of training images, less one with `exclude`. Adds its stages to `timeline`. Throws
    /// DeviceError, DataError (not enough memory), Interrupted.
    virtual Neighbors search(const Rows& queries, int k, Exclude exclude, Timeline& timeline,
                             const Watch& watch) = 0;

    /// Whether `search_and_vote` can: the device has the labels and computes this rule.
    virtual bool votes(const VotingRule& /*rule*/) const { return false; }
    /// The same search with the vote on the device; only where `votes(rule)`.
    virtual Answers search_and_vote(const Rows& queries, const VotingRule& rule, Exclude exclude,
                                    Timeline& timeline, const Watch& watch);

    /// What ran: the plan with the batch of the last search.
    virtual Plan plan() const = 0;
};

}  // namespace knn
