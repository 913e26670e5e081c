#pragma once
/// How one search is cut into tasks.

#include <cstdint>
#include <mutex>
#include <optional>

namespace knn::cpu {

/// Queries first .. first + count - 1 against the units of one slice of the training set. A unit is what a
/// scanner does at once: a panel, or some rows.
struct Task {
    std::int64_t first_query = 0, n_query = 0;
    std::int64_t first_unit = 0, last_unit = 0;
    std::int64_t slice = 0;
};

/// Deals out tasks to threads. Many queries: large blocks first, small ones at the end, so that no thread
/// works long after the others; each block sees the whole training set. Few queries: small blocks, and the
/// training set in slices, enough for every thread to have some; the slices' answers are merged afterwards.
class Work {
  public:
    /// Blocks hold a multiple of `strip` queries and at most `largest` of them, itself a multiple. Where
    /// `most_slices` are too few for all threads, blocks are smaller than they should be.
    Work(std::int64_t n_query, std::int64_t units, int threads, std::int64_t strip, std::int64_t largest,
         std::int64_t most_slices);

    std::int64_t slices() const { return slices_; }
    std::int64_t largest() const { return largest_; }  ///< queries in a task, at most

    /// Nothing when all is dealt out. Safe to call from any thread.
    std::optional<Task> next();

  private:
    std::int64_t share() const;  ///< half of what is left for a thread

    const std::int64_t n_query_, units_, threads_, strip_;
    std::int64_t last_;  ///< queries in the last blocks
    std::int64_t largest_, slices_ = 1;
    std::mutex mutex_;
    std::int64_t query_ = 0, slice_ = 0;
};

}  // namespace knn::cpu
