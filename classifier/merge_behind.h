#pragma once
/// Top-k merges that overlap with the search.

#include <atomic>
#include <mutex>
#include <vector>

#include "classifier/job_queue.h"
#include "data/core/searcher.h"

namespace knn {

/// The lists of several searches of the same queries, in different images, that run at the same time: the rows that all
/// have found are merged while the others are searched. The result takes the place of list 0.
class MergeBehind {
  public:
    /// `tell` is called with merged rows.
    MergeBehind(std::size_t lists, int k, int threads, const std::atomic<bool>* stop, const Tell& tell);

    /// Rows of search `list`, in ascending order, in memory that stays valid until `finish`.
    void add(std::size_t list, const FoundRows& rows);
    /// When all have been added: waits for the merges. Throws Interrupted, and what `tell` throws.
    void finish(Timeline& timeline);

  private:
    void merge(std::int64_t begin, std::int64_t count);

    int k_, threads_;
    const std::atomic<bool>* stop_;
    const Tell& tell_;
    std::mutex mutex_;
    std::vector<Neighbor*> rows_;        ///< of each list, the first of all queries
    std::vector<std::int64_t> n_found_;  ///< queries of each list
    std::int64_t n_given_ = 0;           ///< queries whose merge has been queued
    Stage stage_;
    JobQueue jobs_;
};

}  // namespace knn
