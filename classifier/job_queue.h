#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <mutex>

#include "data/core/progress_token.h"

namespace knn {

/// Jobs that run one after another, in order, beside the thread that adds them. After an exception the others are dropped.
class JobQueue {
  public:
    /// Waits for the job that runs, and drops the others.
    ~JobQueue();

    /// From any thread, but not from two at once. If the system provides no thread, `finish` runs the jobs.
    void add(std::function<void()> job);
    /// Waits until all are done; throws what a job threw. Nothing may be added afterwards.
    void finish();

  private:
    void run();
    void close(bool drops);

    std::mutex mutex_;  ///< of `jobs_` and `closed_`
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    bool closed_ = false;
    std::future<void> worker_;  ///< one thread for all jobs, from the first on
};

/// Runs work(0) to work(jobs - 1) at the same time, each on a thread of its own with a token of its own, and waits
/// for all. The caller's thread reports the progress of all to `token`. If one fails, the others are stopped, and
/// its exception is thrown again: the first by number. Throws Interrupted.
void run_together(std::size_t jobs, std::int64_t n_query, const ProgressToken& token,
                  const std::function<void(std::size_t job, const ProgressToken& token)>& work);

}  // namespace knn
