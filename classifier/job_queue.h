#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "data/core/watch.h"

namespace knn {

/// Jobs that run one after another, in order, on a thread of their own, which the first one starts. After an exception
/// the others are dropped.
class JobQueue {
  public:
    using Job = std::function<void()>;

    JobQueue() = default;
    /// Waits for the job that runs, and drops the others.
    ~JobQueue();
    JobQueue(const JobQueue&) = delete;
    JobQueue& operator=(const JobQueue&) = delete;

    /// From any thread. If the system provides no thread, `finish` runs the jobs.
    void add(Job job);
    /// Waits until all are done; throws what a job threw. Nothing may be added afterwards.
    void finish();

  private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool closed_ = false;
    std::exception_ptr error_;
    std::thread thread_;
};

/// Runs work(0) to work(jobs - 1) at the same time, each on a thread of its own with a watch of its own, and waits
/// for all. The caller's thread reports the progress of all to `watch`. If one fails, the others are stopped, and
/// its exception is thrown again: the first by number. Throws Interrupted.
void run_together(std::size_t jobs, std::int64_t n_query, const Watch& watch,
                  const std::function<void(std::size_t job, const Watch& watch)>& work);

}  // namespace knn
