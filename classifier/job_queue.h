#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

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

}  // namespace knn
