#pragma once
/// Divides a search into tasks.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace knn::cpu {

/// Queries first_query .. first_query + n_query - 1 against some units of the training set. A unit is one step
/// of a scanner: a panel, or some rows.
struct Task {
    std::int64_t first_query = 0, n_query = 0;
    std::int64_t first_unit = 0, last_unit = 0;
    std::int64_t slice = 0;
};

/// Distributes tasks to threads. Many queries: large blocks first, small ones at the end, so that all threads
/// finish at about the same time; each block is compared with the whole training set. Few queries: small
/// blocks, each in slices for several threads, which take units in turn; the results of the slices are merged afterwards.
class Work {
  public:
    /// Blocks hold a multiple of `strip` queries, at most `largest`, itself a multiple. If `max_slices` is
    /// too small to occupy all threads, blocks are smaller than optimal. spares_slices: rather smaller blocks, one for each thread,
    /// than slices.
    Work(std::int64_t n_query, std::int64_t units, int threads, std::int64_t strip, std::int64_t largest,
         std::int64_t max_slices, bool spares_slices = false);

    std::int64_t slices() const { return slices_; }    ///< at most one for each thread
    std::int64_t largest() const { return largest_; }  ///< maximum queries per task

    /// Nothing when all tasks are taken. Thread-safe.
    std::optional<Task> next();
    /// Moves the task on to units behind its own that no other slice has taken; false if none is left. Thread-safe.
    bool more(Task& task);

  private:
    std::int64_t share() const;  ///< half of a thread's share of the rest

    const std::int64_t n_query_, units_, threads_, strip_;
    std::int64_t last_;  ///< queries per block at the end
    std::int64_t largest_, slices_ = 1;
    std::mutex mutex_;
    std::int64_t query_ = 0, slice_ = 0;
    std::vector<std::atomic<std::int64_t>> taken_;  ///< units of each block, if it has slices
};

}  // namespace knn::cpu
