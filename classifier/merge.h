#pragma once
/// The merge behind a search that is shared by training images: the nearest of several lists.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "classifier/job_queue.h"
#include "data/core/device_index.h"
#include "data/core/timeline.h"

namespace knn {

/// The k nearest of each of `count` queries in several lists, in order, of different images; lists[i]: the first of their
/// rows in list i. The result takes the place of list 0. Adds the stage `merge`. Throws Interrupted.
void merge_top_k(std::span<Neighbor* const> lists, std::int64_t count, int k, int threads,
                 const std::atomic<bool>* stop, Timeline& timeline);

/// The lists of several searches of the same queries, in different images, that run at the same time: the rows that all
/// have found are merged while the others are searched. The result takes the place of list 0.
class MergeBehind {
  public:
    /// `token` and `on_batch`, which gets the merged rows, must outlive this.
    MergeBehind(std::vector<Neighbor*> lists, int k, const ProgressToken& token,
                const BatchCallback& on_batch);

    /// Rows of search `list`, in ascending order of the queries. From any thread.
    void add(std::size_t list, const ResultBatch& batch);
    /// When all have been added: waits for the merges.
    void finish(Timeline& timeline);

  private:
    void merge(std::int64_t begin, std::int64_t count);

    std::vector<Neighbor*> lists_;
    std::vector<std::int64_t> n_found_;  ///< queries of each list
    int k_;
    const ProgressToken& token_;
    const BatchCallback& on_batch_;
    std::mutex mutex_;
    std::int64_t n_given_ = 0;  ///< queries whose merge has been queued
    Timeline timeline_;
    JobQueue jobs_;
};

}  // namespace knn
